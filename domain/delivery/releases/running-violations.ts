import type { Reads } from '../../kernel/data/fenced-reads.ts';
import type { DeploymentLog } from '../deployments/deployment-log-cache.ts';
import { violationsOfDeployments } from '../deployments/deployments.queries.ts';
import type { PolicyViolation } from '../../projects/policies/policy-violation-rules.ts';
import { runningDeployments } from './versions/installed-states.ts';

/** What a deployment broke of the policies of its environment, and the release that it brought. */
export interface RunningViolation extends PolicyViolation {
  domain: string;
  releaseName: string;
}

/** What the deployments that brought what environments run broke of their policies, oldest first, by environment. */
export async function runningViolations(
  reads: Reads,
  log: DeploymentLog,
  environmentIds: readonly string[],
): Promise<(environmentId: string) => RunningViolation[]> {
  const running = new Map(environmentIds.map((id) => [id, runningDeployments(log, id)]));
  const ids = [...running.values()].flatMap((deployments) => deployments.map(({ id }) => id));
  const violations = await violationsOfDeployments(reads, ids);
  return (environmentId) =>
    (running.get(environmentId) ?? []).flatMap(({ id, domain, releaseName }) =>
      (violations.get(id) ?? []).map((violation) => ({ ...violation, domain, releaseName })),
    );
}
