import type { Reads } from '../data/fenced-reads.ts';
import { type DeployedCandidate, deploymentFacts } from '../deployments/deployment-facts.ts';
import { projectById } from '../projects/projects.queries.ts';
import { findCandidate } from '../release-candidates/release-candidates.queries.ts';
import {
  type Demands,
  type Obstacle,
  promotable,
  waitingFor,
  waitingForOthers,
  type Waiting,
} from './promotable-rules.ts';
import { environmentIdsByName, promotionTargets } from './promotion.queries.ts';

/** A release that is to go to environments. */
export interface Promotion {
  projectId: string;
  domain: string;
  releaseName: string;
  environmentIds: readonly string[];
  /** Of the content for which the approval was given; null: there was none to give. */
  approvedDigest: string | null;
  /** A rollback: its target needs not be deployed elsewhere first. */
  isRollback?: boolean;
}

export interface PromotionState {
  /** It cannot go, however long it waits. */
  obstacle: Obstacle | undefined;
  /** It may not go now, unless an owner overrides that. */
  waiting: Waiting | undefined;
  /** Likewise, for other environments alone: windows and freezes aside. */
  waitingForOthers: Waiting | undefined;
}

/** Of the content that a candidate has now; null: there is no such candidate. */
export async function currentDigest(
  reads: Reads,
  { projectId, domain, releaseName }: { projectId: string | null; domain: string | null; releaseName: string | null },
): Promise<string | null> {
  if (projectId === null || domain === null || releaseName === null) return null;
  const candidate = await findCandidate(reads, projectId, { domain, releaseName });
  return candidate?.contentDigest ?? null;
}

/** Since when a candidate is deployed to environments of its project, in milliseconds since the epoch, by name. */
export async function deployedSince(
  reads: Reads,
  projectId: string,
  candidate: DeployedCandidate,
  names: readonly string[],
): Promise<Map<string, number>> {
  if (names.length === 0) return new Map();
  const ids = await environmentIdsByName(reads, projectId, names);
  const factOf = await deploymentFacts(reads, [candidate], [...ids.values()]);
  return new Map(
    [...ids].flatMap(([name, id]): [string, number][] => {
      const { deployedAt } = factOf(candidate.id, id);
      return deployedAt === null ? [] : [[name, Date.parse(deployedAt)]];
    }),
  );
}

/** Why what is no release may not change the orgs of environments now: their windows and freezes. */
export async function waitingForWindows(
  reads: Reads,
  environmentIds: readonly string[],
  now: Date,
): Promise<Waiting | undefined> {
  const targets = await promotionTargets(reads, environmentIds);
  const demands = targets.map(({ name, promotion }) => ({
    environmentName: name,
    policy: promotion && { ...promotion, after: [] },
    deployedSince: new Map<string, number>(),
  }));
  return waitingFor(demands, now.getTime());
}

/** Whether a release may go to its environments, as they, the candidate and its deployments are now. */
export async function promotionState(reads: Reads, promotion: Promotion, now: Date): Promise<PromotionState> {
  const { projectId, domain, releaseName, environmentIds, approvedDigest, isRollback = false } = promotion;
  const [candidate, project, targets] = await Promise.all([
    findCandidate(reads, projectId, { domain, releaseName }),
    projectById(reads, projectId),
    promotionTargets(reads, environmentIds),
  ]);
  for (const { name, branch, projectId: owner } of targets) {
    const obstacle = promotable({
      named: { domain, releaseName },
      candidate,
      defaultBranch: project?.defaultBranch ?? '',
      // One of another project, which has the same org, is for branches of its own.
      environment: { name, branch: owner === projectId ? branch : '**' },
      approvedDigest,
    });
    if (obstacle) return { obstacle, waiting: undefined, waitingForOthers: undefined };
  }
  const policies = targets.map(({ name, promotion: policy, projectId: owner }) => ({
    name,
    // What another project deploys before says nothing about a release of this one; its windows and freezes hold.
    policy: policy && (isRollback || owner !== projectId ? { ...policy, after: [] } : policy),
  }));
  const before = policies.flatMap(({ policy }) => policy?.after ?? []);
  const since = candidate ? await deployedSince(reads, projectId, candidate, before) : new Map<string, number>();
  const demands = policies.map(
    ({ name, policy }): Demands => ({ environmentName: name, policy, deployedSince: since }),
  );
  return {
    obstacle: undefined,
    waiting: waitingFor(demands, now.getTime()),
    waitingForOthers: waitingForOthers(demands, now.getTime()),
  };
}
