import type { DeploymentFact } from '../../deployments/deployed-rules.ts';
import { requiredEnvironments } from '../../release-candidates/finalization-rules.ts';

type FactOf = (candidateId: string, environmentId: string) => DeploymentFact;

interface CandidateFacts {
  id: string;
  branch: string | null;
}

interface EnvironmentFacts {
  id: string;
  name: string;
  category: string;
  isActive: boolean;
  branch: string;
}

/** Ids of the environments to which a candidate is deployed. */
export const deployedTo = (candidateId: string, environments: readonly { id: string }[], factOf: FactOf): Set<string> =>
  new Set(environments.map(({ id }) => id).filter((environmentId) => factOf(candidateId, environmentId).isDeployed));

/**
 * What candidates are held against: the newest that is deployed to all release environments of its branch, else the
 * oldest.
 * @param candidates oldest first.
 */
export function chooseBaseline<Candidate extends CandidateFacts>(
  candidates: readonly Candidate[],
  environments: readonly EnvironmentFacts[],
  factOf: FactOf,
  defaultBranch: string,
): { baseline: Candidate | undefined; isDefaultBaseline: boolean } {
  const complete = candidates.findLast(({ id, branch }) => {
    const required = requiredEnvironments(environments, branch ?? defaultBranch);
    return required.length > 0 && deployedTo(id, required, factOf).size === required.length;
  });
  return { baseline: complete ?? candidates[0], isDefaultBaseline: complete === undefined };
}
