import type { Client } from '@temporalio/client';
import type { WorkerDeploymentVersion } from '@temporalio/common';
import { GRPC, hasGrpcStatus } from './temporal-errors.ts';

/** A build of an installation's workers. All builds are versions of one worker deployment in Temporal. */
export interface BuildState {
  buildId: string;
  /** New workflows, and those that run for long, go to it. */
  isCurrent: boolean;
  /** Workflows that end on it: when there are none left, its workers can be stopped. */
  pinned: number;
}

/** A build of which no worker is known, or none for some task queue of the current build. */
export class BuildUnavailableError extends Error {}

/** The name of an installation's deployment; each has its own where several share a namespace. */
export const deploymentName = (queuePrefix: string, name: string): string => queuePrefix + name;

/**
 * Makes a build current. Throws `BuildUnavailableError` when Temporal knows no worker of it or, unless `mayLackQueues`,
 * when none has served a task queue that the current build serves. Whether its workers still run is not checked.
 */
export async function setCurrentBuild(
  client: Client,
  name: string,
  buildId: string,
  { mayLackQueues = false }: { mayLackQueues?: boolean } = {},
): Promise<void> {
  const { namespace, identity } = client.options;
  try {
    if (!mayLackQueues) await assertServesQueuesOfCurrent(client, name, buildId);
    await client.connection.workflowService.setWorkerDeploymentCurrentVersion({
      namespace,
      deploymentName: name,
      buildId,
      identity,
      // Temporal's own check would ask for the queues of single processes, too, which no other build can serve.
      ignoreMissingTaskQueues: true,
    });
  } catch (error) {
    if (!hasGrpcStatus(error, GRPC.NOT_FOUND, GRPC.FAILED_PRECONDITION)) throw error;
    throw new BuildUnavailableError(
      `No worker of the build ${buildId} is known in the deployment ${name}: ${(error as Error).message}`,
      { cause: error },
    );
  }
}

async function assertServesQueuesOfCurrent(client: Client, name: string, buildId: string): Promise<void> {
  const served = await sharedQueues(client, name, buildId);
  const current = (await describeDeployment(client, name)).currentBuildId;
  if (current === undefined) return;
  const needed = await sharedQueues(client, name, current);
  const missing = new Set([...needed].filter(([key]) => !served.has(key)).map(([, queue]) => queue));
  if (missing.size === 0) return;
  throw new BuildUnavailableError(
    `The build ${buildId} does not serve ${[...missing].toSorted().join(', ')} as the current build ${current} does: start its workers for that first.`,
  );
}

/** Other task queues belong to single processes, such as `commands-v1/<uuid>`. */
const SHARED_QUEUE = /-v\d+$/;

/** Names of the shared task queues that workers of a build have polled, by name and kind of task. */
async function sharedQueues(client: Client, deployment: string, buildId: string): Promise<Map<string, string>> {
  const { versionTaskQueues } = await client.connection.workflowService.describeWorkerDeploymentVersion({
    namespace: client.options.namespace,
    deploymentVersion: { deploymentName: deployment, buildId },
  });
  const queues = (versionTaskQueues ?? []).map(({ name, type }) => [`${type} ${name}`, name ?? ''] as const);
  return new Map(queues.filter(([, name]) => SHARED_QUEUE.test(name)));
}

/** Since when a build is the current one of its deployment, as an opaque text; undefined: it is not. */
export async function currentSince(
  client: Client,
  { deploymentName: name, buildId }: WorkerDeploymentVersion,
): Promise<string | undefined> {
  const { currentBuildId, changedAt } = await describeDeployment(client, name);
  return currentBuildId === buildId ? changedAt : undefined;
}

/** The builds that workers of a deployment had, the newest first; none when no worker had a build id. */
export async function listBuilds(client: Client, name: string): Promise<BuildState[]> {
  const { currentBuildId, buildIds } = await describeDeployment(client, name);
  return Promise.all(
    buildIds.map(async (buildId) => ({
      buildId,
      isCurrent: buildId === currentBuildId,
      pinned: await countPinned(client, name, buildId),
    })),
  );
}

interface DeploymentState {
  currentBuildId?: string | undefined;
  /** When another build became current, as an opaque text. */
  changedAt: string;
  buildIds: string[];
}

async function describeDeployment(client: Client, name: string): Promise<DeploymentState> {
  try {
    const { workerDeploymentInfo: info } = await client.connection.workflowService.describeWorkerDeployment({
      namespace: client.options.namespace,
      deploymentName: name,
    });
    const { currentDeploymentVersion, currentVersionChangedTime: changed } = info?.routingConfig ?? {};
    return {
      currentBuildId: currentDeploymentVersion?.buildId ?? undefined,
      changedAt: `${changed?.seconds}.${changed?.nanos}`,
      buildIds: (info?.versionSummaries ?? []).map(({ deploymentVersion }) => deploymentVersion?.buildId ?? ''),
    };
  } catch (error) {
    if (hasGrpcStatus(error, GRPC.NOT_FOUND)) return { changedAt: '', buildIds: [] };
    throw error;
  }
}

async function countPinned(client: Client, name: string, buildId: string): Promise<number> {
  const { count } = await client.workflow.count(
    `TemporalWorkerDeploymentVersion = "${name}:${buildId}" AND TemporalWorkflowVersioningBehavior = "Pinned" AND ExecutionStatus = "Running"`,
  );
  return count;
}
