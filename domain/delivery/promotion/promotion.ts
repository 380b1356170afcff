import type { Reads } from '../../kernel/data/fenced-reads.ts';
import { type DeployedCandidate, deploymentFacts } from '../deployments/deployment-facts.ts';
import { soakReports } from '../deployments/deployment-facts.queries.ts';
import { inUseSince } from '../deployments/soak-rules.ts';
import { branchFinding } from '../../code/git/graph/branch-evidence.ts';
import { projectById } from '../../projects/projects/projects.queries.ts';
import { type Hold, keepsFrom, lastToEnd } from '../release-candidates/holds/hold-rules.ts';
import { type Holdable, holdsOf } from '../release-candidates/holds/holds.queries.ts';
import { findCandidate } from '../release-candidates/release-candidates.queries.ts';
import {
  type Demands,
  type Obstacle,
  promotable,
  takesEveryBranch,
  waitingFor,
  waitingForOthers,
  type Waiting,
} from './promotable-rules.ts';
import type { PromotionPolicy } from '../../projects/policies/promotion-policy-rules.ts';
import { verificationFacts } from '../verification/shown-verifications.queries.ts';
import { environmentIdsByName, promotionTargets } from './promotion.queries.ts';

/** A release that is to go to environments. */
export interface Promotion {
  projectId: string;
  domain: string;
  releaseName: string;
  environmentIds: readonly string[];
  /** Digest of the content for which the approval was given; null: there was none to give. */
  approvedDigest: string | null;
  /** A rollback: its target needs not be deployed elsewhere first. */
  isRollback?: boolean;
}

export interface PromotionState {
  /** It cannot go, however long it waits. */
  obstacle: Obstacle | undefined;
  /** What holds it back from one of the environments, whatever else would let it go; no override passes it. */
  hold: Hold | undefined;
  /** All that hold it back; `hold` is the one of them that lasts the longest. */
  holds: readonly Hold[];
  /** It may not go now, unless an owner overrides that. */
  waiting: Waiting | undefined;
  /** What the run waits for in other environments, windows and freezes aside; undefined: nothing. */
  waitingForOthers: Waiting | undefined;
  /** What its environments demand; none where it cannot go. */
  demands: readonly Demands[];
}

/** Digest of the content that a candidate has now; null: there is no such candidate. */
export async function currentDigest(
  reads: Reads,
  { projectId, domain, releaseName }: { projectId: string | null; domain: string | null; releaseName: string | null },
): Promise<string | null> {
  if (projectId === null || domain === null || releaseName === null) return null;
  const candidate = await findCandidate(reads, projectId, { domain, releaseName });
  return candidate?.contentDigest ?? null;
}

/** The environments of policies in which a candidate is deployed, and what they ask to know of its use there. */
export async function deployedBefore(
  reads: Reads,
  projectId: string,
  candidate: DeployedCandidate & { domain: string },
  policies: readonly PromotionPolicy[],
): Promise<Demands['deployed']> {
  const names = policies.flatMap(({ after = [] }) => after);
  if (names.length === 0) return new Map();
  const { id: candidateId, contentDigest, domain } = candidate;
  const ids = await environmentIdsByName(reads, projectId, names);
  const factOf = await deploymentFacts(reads, [candidate], [...ids.values()]);
  const deployed = [...ids].filter(([, id]) => factOf(candidateId, id).isDeployed);
  const isSoaked = policies.some(({ soakMinutes = 0 }) => soakMinutes > 0);
  if (deployed.length === 0 || !isSoaked) return new Map(deployed.map(([name]) => [name, 0]));
  const artifacts = candidate.value.artifacts ?? {};
  const content = { candidateId, contentDigest, domain, artifacts };
  const deployedIds = deployed.map(([, id]) => id);
  const rows = await soakReports(reads, deployedIds, { domain, contentDigest, packages: Object.keys(artifacts) });
  const reports = rows.map((row) => ({ ...row, installed: row.installed ?? artifacts }));
  const byEnvironment = Map.groupBy(reports, ({ environmentId }) => environmentId);
  return new Map(deployed.map(([name, id]) => [name, inUseSince(content, byEnvironment.get(id) ?? [])]));
}

/** Why what is no release may not change the orgs of environments now: their windows and freezes. */
export async function waitingForWindows(
  reads: Reads,
  environmentIds: readonly string[],
  now: Date,
): Promise<Waiting | undefined> {
  return waitingFor(await windowDemands(reads, environmentIds), now.getTime());
}

/** The windows and freezes of environments, which hold for whatever changes their orgs. */
export async function windowDemands(reads: Reads, environmentIds: readonly string[]): Promise<Demands[]> {
  const targets = await promotionTargets(reads, environmentIds);
  return targets.map(({ name, promotion }) => ({
    environmentName: name,
    policy: promotion && { ...promotion, after: [] },
    deployed: new Map<string, number>(),
  }));
}

/** What is not asked of what cannot go. */
const NOWHERE = { waiting: undefined, waitingForOthers: undefined, demands: [] } as const;

/** Whether a release may go to its environments, as they, the candidate and its deployments are now. */
export async function promotionState(reads: Reads, promotion: Promotion, now: Date): Promise<PromotionState> {
  const { projectId, domain, releaseName, environmentIds, approvedDigest, isRollback = false } = promotion;
  const [candidate, project, targets] = await Promise.all([
    findCandidate(reads, projectId, { domain, releaseName }),
    projectById(reads, projectId),
    promotionTargets(reads, environmentIds),
  ]);
  const defaultBranch = project?.defaultBranch ?? '';
  const environments = targets.map(({ name, branch, projectId: owner }) => ({
    name,
    // One of another project, which has the same org, is for branches of its own.
    branch: owner === projectId ? branch : '**',
  }));
  const policies = targets.map(({ name, promotion: policy, projectId: owner, orchestrationOrder }) => ({
    name,
    order: owner === projectId ? orchestrationOrder : undefined,
    // What another project deploys before says nothing about a release of this one; its windows and freezes hold.
    policy: policy && (isRollback || owner !== projectId ? { ...policy, after: [] } : policy),
  }));
  const holds = candidate ? await holdsOn(reads, candidate, { policies, isRollback }, now) : [];
  const held = { holds, hold: lastToEnd(holds) };
  const isAsked = candidate !== undefined && !isRollback && !environments.every(takesEveryBranch);
  const finding = isAsked
    ? await branchFinding(reads, projectId, {
        branch: candidate.branch ?? defaultBranch,
        commitSha: candidate.commitSha,
      })
    : undefined;
  for (const environment of environments) {
    const obstacle = promotable({
      named: { domain, releaseName },
      candidate,
      defaultBranch,
      environment,
      branchEvidence: takesEveryBranch(environment) ? undefined : finding?.evidence,
      approvedDigest,
    });
    if (obstacle) return { ...NOWHERE, ...held, obstacle };
  }
  const deployed: Demands['deployed'] = candidate
    ? await deployedBefore(
        reads,
        projectId,
        candidate,
        policies.flatMap(({ policy }) => policy ?? []),
      )
    : new Map();
  const verifications = candidate && !isRollback ? await verificationFacts(reads, candidate) : undefined;
  const demands = policies.map(
    ({ name, policy }): Demands => ({ environmentName: name, policy, deployed, verifications }),
  );
  return {
    obstacle: undefined,
    ...held,
    waiting: waitingFor(demands, now.getTime()),
    waitingForOthers: waitingForOthers(demands, now.getTime()),
    demands,
  };
}

interface HeldPlaces {
  policies: readonly { name: string; policy: PromotionPolicy | null; order: number | undefined }[];
  isRollback: boolean;
}

/** What holds a candidate back from one of its environments; what a person holds goes nowhere, whichever these are. */
async function holdsOn(
  reads: Reads,
  candidate: Holdable,
  { policies, isRollback }: HeldPlaces,
  now: Date,
): Promise<Hold[]> {
  const holds = (await holdsOf(reads, [candidate], now))(candidate);
  return holds.filter(
    (hold) =>
      hold.environment === null ||
      policies.some(({ name, policy, order }) =>
        keepsFrom(hold, { environmentName: name, after: policy?.after, order, isRollback }),
      ),
  );
}
