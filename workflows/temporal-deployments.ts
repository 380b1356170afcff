import type { Client } from '@temporalio/client';
import { GRPC, hasGrpcStatus } from './temporal-errors.ts';

/** A build of an installation's workers. All builds are versions of one worker deployment in Temporal. */
export interface BuildState {
  buildId: string;
  /** New workflows, and those that run for long, go to it. */
  isCurrent: boolean;
  /** Workflows that end on it: when there are none left, its workers can be stopped. */
  pinned: number;
}

/** A build that no worker has, or not for every task queue of the current one. */
export class BuildUnavailableError extends Error {}

/** The name of an installation's deployment; each has its own where several share a namespace. */
export const deploymentName = (queuePrefix: string, name: string): string => queuePrefix + name;

/**
 * Makes a build current. Throws `BuildUnavailableError` when no worker of it polls a task queue that the current build
 * serves.
 */
export async function setCurrentBuild(client: Client, name: string, buildId: string): Promise<void> {
  try {
    await client.connection.workflowService.setWorkerDeploymentCurrentVersion({
      namespace: client.options.namespace,
      deploymentName: name,
      buildId,
      identity: client.options.identity,
      // Each process has a task queue of its own, which no other build can serve.
      ignoreMissingTaskQueues: true,
    });
  } catch (error) {
    if (!hasGrpcStatus(error, GRPC.NOT_FOUND, GRPC.FAILED_PRECONDITION)) throw error;
    throw new BuildUnavailableError(
      `The build ${buildId} has no workers of the deployment ${name} for all task queues: ${(error as Error).message}`,
      { cause: error },
    );
  }
}

/** The builds that workers of a deployment had, the newest first; none when no worker had a build id. */
export async function listBuilds(client: Client, name: string): Promise<BuildState[]> {
  const { workflowService } = client.connection;
  try {
    const { namespace } = client.options;
    const { workerDeploymentInfo: info } = await workflowService.describeWorkerDeployment({
      namespace,
      deploymentName: name,
    });
    const current = info?.routingConfig?.currentDeploymentVersion?.buildId;
    return await Promise.all(
      (info?.versionSummaries ?? []).map(async ({ deploymentVersion }) => {
        const buildId = deploymentVersion?.buildId ?? '';
        return { buildId, isCurrent: buildId === current, pinned: await countPinned(client, name, buildId) };
      }),
    );
  } catch (error) {
    if (hasGrpcStatus(error, GRPC.NOT_FOUND)) return [];
    throw error;
  }
}

async function countPinned(client: Client, name: string, buildId: string): Promise<number> {
  const { count } = await client.workflow.count(
    `TemporalWorkerDeploymentVersion = "${name}:${buildId}" AND TemporalWorkflowVersioningBehavior = "Pinned" AND ExecutionStatus = "Running"`,
  );
  return count;
}
