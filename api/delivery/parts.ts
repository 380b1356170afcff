import { lockedEnvironments } from '../../domain/delivery/environment-locks/environment-locks.queries.ts';
import {
  createDeploymentLogCache,
  type DeploymentLogCache,
} from '../../domain/delivery/deployments/deployment-log-cache.ts';
import type { LockQueue } from '../../domain/delivery/environment-locks/lock-queue.port.ts';
import type { Commands } from '../../domain/delivery/flows/programs/commands-file.ts';
import type { ReleaseEventQueue } from '../../domain/delivery/release-candidates/release-event-queue.port.ts';
import {
  findEnvironmentStates,
  type FindEnvironmentStates,
} from '../../domain/delivery/releases/environment-states.ts';
import { bytesOfText, type TextCache } from '../../domain/kernel/caches/cache-memory.ts';
import type { ApiBase } from '../base.ts';
import type { ApiConfig } from '../config.ts';
import { createReleaseEventQueue } from './release-candidates/release-event-queue.ts';

export interface DeliveryAdapters {
  environmentLocks: LockQueue;
  environments: { stateOf: FindEnvironmentStates; locked: typeof lockedEnvironments };
  flows: {
    /** Commands that the operator has configured, by flow type. */
    commands: Commands;
    /** Address of a workflow in the Temporal UI; undefined if none is configured. */
    workflowUrl: (workflowId: string) => string | undefined;
  };
  releases: { eventQueue: ReleaseEventQueue; analyses: TextCache; deploymentLogs: DeploymentLogCache };
}

declare module '../http/scope.ts' {
  interface Adapters extends DeliveryAdapters {}
}

export function createDeliveryAdapters({
  backend: { commands, environmentLocks, launch },
  config,
  memory,
}: ApiBase): DeliveryAdapters {
  const deploymentLogs = createDeploymentLogCache();
  return {
    environmentLocks,
    environments: { stateOf: findEnvironmentStates(deploymentLogs), locked: lockedEnvironments },
    flows: { commands, workflowUrl: workflowUrls(config) },
    releases: {
      eventQueue: createReleaseEventQueue(launch),
      analyses: memory.cache({ ttlSeconds: config.ROLLING_ANALYSIS_CACHE_TTL_SECONDS, bytesOf: bytesOfText }),
      deploymentLogs,
    },
  };
}

const workflowUrls =
  ({ TEMPORAL_UI_URL: root, TEMPORAL_NAMESPACE: namespace }: ApiConfig) =>
  (workflowId: string): string | undefined =>
    root === undefined
      ? undefined
      : `${root.replace(/\/$/, '')}/namespaces/${namespace}/workflows/${encodeURIComponent(workflowId)}`;
