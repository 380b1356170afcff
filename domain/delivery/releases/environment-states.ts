import type { Reads } from '../../kernel/data/fenced-reads.ts';
import type { DeploymentLogCache } from '../deployments/deployment-log-cache.ts';
import { type LockStatus, lockStatuses } from '../environment-locks/environment-locks.queries.ts';
import { type RunningViolation, runningViolations } from './running-violations.ts';

/** What an environment is shown with. */
export interface EnvironmentState {
  lockStatus: LockStatus;
  /** What the deployments that brought what it runs broke of its policies. */
  policyViolations: RunningViolation[];
}

/** Finds the states of some environments of a project. */
export type FindEnvironmentStates = (
  reads: Reads,
  projectId: string,
  environmentIds: readonly string[],
) => Promise<(environmentId: string) => EnvironmentState>;

export const findEnvironmentStates =
  (deploymentLogs: DeploymentLogCache): FindEnvironmentStates =>
  async (reads, projectId, environmentIds) => {
    const lockStatusOf = await lockStatuses(reads, environmentIds);
    const violationsOf = await runningViolations(reads, await deploymentLogs(reads, projectId), environmentIds);
    return (id) => ({ lockStatus: lockStatusOf(id), policyViolations: violationsOf(id) });
  };
