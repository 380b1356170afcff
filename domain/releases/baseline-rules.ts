import { type DeploymentStatus, isSuccess, requiredEnvironments } from '../release-candidates/finalization-rules.ts';

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

interface DeploymentFacts {
  candidateId: string;
  environmentId: string;
  status: DeploymentStatus;
  isRolledBack: boolean;
}

/** Ids of the environments to which a candidate is deployed: its last deployment succeeded and was not taken back. */
export const deployedTo = (candidateId: string, deployments: readonly DeploymentFacts[]): Set<string> =>
  new Set(
    deployments
      .filter((each) => each.candidateId === candidateId && isSuccess(each.status) && !each.isRolledBack)
      .map(({ environmentId }) => environmentId),
  );

/**
 * What candidates are held against: the newest that is deployed to all release environments of its branch, else the
 * oldest.
 * @param candidates oldest first.
 */
export function chooseBaseline<Candidate extends CandidateFacts>(
  candidates: readonly Candidate[],
  environments: readonly EnvironmentFacts[],
  deployments: readonly DeploymentFacts[],
  defaultBranch: string,
): { baseline: Candidate | undefined; isDefaultBaseline: boolean } {
  const complete = candidates.findLast(({ id, branch }) => {
    const required = requiredEnvironments(environments, branch ?? defaultBranch);
    const reached = deployedTo(id, deployments);
    return required.length > 0 && required.every((environment) => reached.has(environment.id));
  });
  return { baseline: complete ?? candidates[0], isDefaultBaseline: complete === undefined };
}
