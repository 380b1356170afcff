import { canonicalJson } from '../audit/audit-rules.ts';
import type { Reads } from '../data/fenced-reads.ts';
import { projectById } from '../projects/projects.queries.ts';
import { type CandidateRow, findCandidate } from '../release-candidates/release-candidates.queries.ts';
import {
  type Demands,
  type Obstacle,
  promotable,
  type PromotedCandidate,
  waitingFor,
  waitingForOthers,
  type Waiting,
} from './promotable-rules.ts';
import { deployedSince, promotionTargets } from './promotion.queries.ts';

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

/** Digest of what is deployed of a candidate: its commit and its packages. */
export const contentDigestOf = ({ commitSha, value }: CandidateRow): string =>
  canonicalJson({ commitSha, artifacts: value.artifacts ?? {} });

/** Of the content that a candidate has now; null: there is no such candidate. */
export async function currentDigest(
  reads: Reads,
  { projectId, domain, releaseName }: { projectId: string | null; domain: string | null; releaseName: string | null },
): Promise<string | null> {
  if (projectId === null || domain === null || releaseName === null) return null;
  const candidate = await findCandidate(reads, projectId, { domain, releaseName });
  return candidate ? contentDigestOf(candidate) : null;
}

/** Whether a release may go to its environments, as they, the candidate and its deployments are now. */
export async function promotionState(reads: Reads, promotion: Promotion, now: Date): Promise<PromotionState> {
  const { projectId, domain, releaseName, environmentIds, approvedDigest, isRollback = false } = promotion;
  const [candidate, project, targets] = await Promise.all([
    findCandidate(reads, projectId, { domain, releaseName }),
    projectById(reads, projectId),
    promotionTargets(reads, environmentIds),
  ]);
  const promoted: PromotedCandidate | undefined = candidate && {
    ...candidate,
    contentDigest: contentDigestOf(candidate),
  };
  for (const environment of targets) {
    // An environment of another project, which has the same org, has branches of its own.
    if (environment.projectId !== projectId) continue;
    const obstacle = promotable({
      named: { domain, releaseName },
      candidate: promoted,
      defaultBranch: project?.defaultBranch ?? '',
      environment,
      approvedDigest,
    });
    if (obstacle) return { obstacle, waiting: undefined, waitingForOthers: undefined };
  }
  const needsOthers = !isRollback && targets.some(({ promotion: policy }) => policy?.after?.length);
  const since = candidate && needsOthers ? await deployedSince(reads, candidate.id) : new Map<string, number | null>();
  const demands = targets.map(
    ({ name, promotion: policy }): Demands => ({
      environmentName: name,
      policy: policy && (isRollback ? { ...policy, after: [] } : policy),
      deployedSince: since,
    }),
  );
  return {
    obstacle: undefined,
    waiting: waitingFor(demands, now.getTime()),
    waitingForOthers: waitingForOthers(demands, now.getTime()),
  };
}
