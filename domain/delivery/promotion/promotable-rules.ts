import { ABORTED } from '../release-candidates/candidate-status-rules.ts';
import type { ErrorCode } from '../../kernel/shared/errors.ts';
import type { BranchEvidence } from '../../code/git/graph/commit-graph-rules.ts';
import { matchesPattern } from '../../kernel/text/pattern-rules.ts';
import type { PromotionPolicy } from '../../projects/policies/promotion-policy-rules.ts';
import { isVerifying, type VerificationFact, whyUnverified } from '../verification/verification-rules.ts';
import { freezeAt, nextCommonOpening, nextOpening } from './window-rules.ts';

/** A release candidate that is to go to an environment: by a release of its own, or by a rollback to it. */
export interface PromotedCandidate {
  domain: string;
  releaseName: string;
  status: string;
  /** Null: the default branch of its project. */
  branch: string | null;
  commitSha: string;
  contentDigest: string;
}

export interface PromotionTarget {
  name: string;
  /** Pattern of the branches that are deployed there. */
  branch: string;
}

export interface PromotableFacts {
  /** What the run names. */
  named: { domain: string; releaseName: string };
  /** Undefined: there is none of that name in the domain. */
  candidate: PromotedCandidate | undefined;
  defaultBranch: string;
  environment: PromotionTarget;
  /** What git says of the candidate's branch; undefined: it is not asked, as the branch does not matter. */
  branchEvidence: BranchEvidence | undefined;
  /** Digest of the content for which the approval was given; null: there was none to give. */
  approvedDigest: string | null;
}

/** Why a candidate cannot go to an environment, however long it waits. */
export interface Obstacle {
  code: Extract<ErrorCode, 'not_found' | 'invalid_transition'>;
  /** The member of the payload that names what is wrong. */
  member: 'releaseName' | 'environmentName' | 'environmentNames';
  detail: string;
}

/** How a sentence about a release candidate begins; what is said of one has both its names. */
export const nameOf = ({ domain, releaseName }: Record<'domain' | 'releaseName', string | null>): string =>
  `The release candidate ${releaseName ?? ''} of domain ${domain ?? ''}`;

export const missingCandidate = (named: PromotableFacts['named']): Obstacle => ({
  code: 'not_found',
  member: 'releaseName',
  detail: `${nameOf(named)} was not found`,
});

/** Whether an environment takes releases of every branch. */
export const takesEveryBranch = ({ branch }: Pick<PromotionTarget, 'branch'>): boolean => branch.trim() === '**';

/** Whether the branch of a candidate is one of those that are deployed to an environment. */
export const fitsBranch = (
  environment: Pick<PromotionTarget, 'branch'>,
  candidate: Pick<PromotedCandidate, 'branch'>,
  defaultBranch: string,
): boolean => matchesPattern(environment.branch, candidate.branch ?? defaultBranch);

/**
 * Whether a candidate may go to an environment: it exists in its domain, was not aborted, its branch is one of the
 * environment's, as far as git can tell, and its content is the one that was approved. No override passes these.
 * Undefined: it may.
 */
export function promotable(facts: PromotableFacts): Obstacle | undefined {
  const { named, candidate, defaultBranch, environment, approvedDigest, branchEvidence } = facts;
  if (!candidate) return missingCandidate(named);
  const refused = (member: Obstacle['member'], why: string): Obstacle => ({
    code: 'invalid_transition',
    member,
    detail: `${nameOf(named)} ${why}`,
  });
  if (candidate.status === ABORTED) return refused('releaseName', 'was aborted');
  const branch = candidate.branch ?? defaultBranch;
  const takes = `${environment.name} takes releases of ${environment.branch} only`;
  if (!fitsBranch(environment, candidate, defaultBranch))
    return refused('environmentName', `is on the branch ${branch}; ${takes}`);
  if (branchEvidence === 'not_on_branch')
    return refused('environmentName', `is of the commit ${candidate.commitSha}, which is not on ${branch}; ${takes}`);
  if (branchEvidence === 'unverified')
    return refused(
      'environmentName',
      `is said to be on the branch ${branch}, which is unverified until its commit ${candidate.commitSha} has been fetched; ${takes}`,
    );
  if (approvedDigest !== null && approvedDigest !== candidate.contentDigest)
    return refused('releaseName', 'has other content than was approved; start the run again');
  return undefined;
}

/** An environment, what it demands, and where the candidate is deployed of what must come before. */
export interface Demands {
  environmentName: string;
  policy: PromotionPolicy | null;
  /**
   * By name; absent: it is not deployed there. Where a soak is asked for: since when it is in use there without
   * interruption, in milliseconds since the epoch; null: it was replaced.
   */
  deployed: ReadonlyMap<string, number | null>;
  /** What verifications of its last deployments say, by environment; absent: nothing is asked of them. */
  verifications?: ReadonlyMap<string, VerificationFact> | undefined;
}

/** Why a run waits, and until when as far as that is known (milliseconds since the epoch). */
export interface Waiting {
  nextAt: number | null;
  reason: string;
  /** It waits for other environments: windows and freezes alone would let it go. */
  isForOthers: boolean;
  /** Environments to which the release must still be deployed, or again. */
  missing: readonly string[];
}

const MINUTE_MS = 60_000;
const iso = (moment: number): string => new Date(moment).toISOString().replace('.000Z', 'Z');

/** Environments of those that must come first in which the last deployment is not verified, where that is asked for. */
function unverifiedBefore({ policy, verifications }: Demands): string[] {
  const { after = [], requireVerified = false } = policy ?? {};
  return requireVerified ? after.filter((name) => verifications?.get(name)?.state !== 'verified') : [];
}

/** What verifications of a release keep it from going to an environment. */
export function unmetVerification(demands: Demands): Waiting | undefined {
  const { environmentName, verifications } = demands;
  const names = unverifiedBefore(demands);
  if (names.length === 0) return undefined;
  const why = names.map((name) => whyUnverified(name, verifications?.get(name))).join(', ');
  return {
    nextAt: null,
    reason: `${environmentName} takes a release once it is verified: ${why}`,
    isForOthers: true,
    missing: names.filter((name) => !isVerifying(verifications?.get(name))),
  };
}

/** Since when a release counts as being in use in an environment, in milliseconds since the epoch. */
const soakedSince = ({ policy, deployed, verifications }: Demands, name: string): number =>
  Math.max(deployed.get(name) ?? 0, policy?.soakFrom === 'verified' ? (verifications?.get(name)?.endedAt ?? 0) : 0);

/** What an environment still lacks in others: until when, or why. */
export function unmetBefore(demands: Demands, now: number): Waiting | undefined {
  const { environmentName, policy, deployed } = demands;
  const { after = [], soakMinutes = 0 } = policy ?? {};
  const missing = after.filter((name) => !deployed.has(name));
  if (missing.length > 0) {
    const forSoLong = soakMinutes > 0 ? ` for ${soakMinutes} min` : '';
    const reason = `${environmentName} takes a release once it has been deployed to ${after.join(', ')}${forSoLong}; it is not deployed to ${missing.join(', ')}`;
    return { nextAt: null, reason, isForOthers: true, missing };
  }
  const unverified = unmetVerification(demands);
  if (unverified) return unverified;
  // The clock of the host that reported a deployment may be ahead.
  if (soakMinutes === 0) return undefined;
  const replaced = after.filter((name) => deployed.get(name) === null);
  if (replaced.length > 0) {
    const reason = `${environmentName} takes a release once it has been in use in ${after.join(', ')} for ${soakMinutes} min without interruption; it was replaced in ${replaced.join(', ')}`;
    return { nextAt: null, reason, isForOthers: true, missing: replaced };
  }
  const met = Math.max(0, ...after.map((name) => soakedSince(demands, name) + soakMinutes * MINUTE_MS));
  if (met <= now) return undefined;
  const reason = `${environmentName} takes a release once it has been deployed to ${after.join(', ')} for ${soakMinutes} min, which is at ${iso(met)}`;
  return { nextAt: met, reason, isForOthers: true, missing: [] };
}

/** Whether a release must still be deployed elsewhere, or for longer, before it goes to some environments. */
export function waitingForOthers(demands: readonly Demands[], now: number): Waiting | undefined {
  const unmet = demands.flatMap((each) => unmetBefore(each, now) ?? []);
  const first =
    unmet.find(({ nextAt }) => nextAt === null) ?? unmet.toSorted((a, b) => Number(b.nextAt) - Number(a.nextAt))[0];
  return first && { ...first, missing: [...new Set(unmet.flatMap(({ missing }) => missing))] };
}

/** Why the work may not begin now: what must come before, freezes and windows of all its environments. Undefined: it may. */
export function waitingFor(demands: readonly Demands[], now: number): Waiting | undefined {
  const others = waitingForOthers(demands, now);
  if (others?.nextAt === null) return others;
  const policies = demands.flatMap(({ policy }) => policy ?? []);
  const nextAt = nextCommonOpening(policies, others?.nextAt ?? now);
  if (others) return { ...others, nextAt };
  if (nextAt === now) return undefined;
  return { nextAt, reason: whyClosed(demands, now), isForOthers: false, missing: [] };
}

/** What stands before a release, gate by gate. */
export interface PromotionGates {
  /** Null: it must be deployed nowhere before. `reason`: null once it is everywhere there, and verified where that is asked for. */
  after: { missing: string[]; reason: string | null } | null;
  /** Null: it needs no time elsewhere. `endsAt`: null while `after` is not met, or once it is over; in milliseconds since the epoch. */
  soak: { endsAt: number | null } | null;
  /** Windows and freezes alone. */
  window: { isOpen: boolean; nextWindowAt: number | null; reason: string | null };
}

/** The gates of a release one by one, where `waitingFor` says what it waits for in all. */
export function promotionGates(demands: readonly Demands[], now: number): PromotionGates {
  const policies = demands.flatMap(({ policy }) => policy ?? []);
  const unmet = demands.flatMap((each) => unmetBefore(each, now) ?? []);
  const lacking = unmet.filter(({ nextAt }) => nextAt === null);
  const ends = unmet.flatMap(({ nextAt }) => nextAt ?? []);
  const isAsked = policies.some(({ after = [] }) => after.length > 0);
  const isSoaked = policies.some(({ after = [], soakMinutes = 0 }) => after.length > 0 && soakMinutes > 0);
  const opensAt = nextCommonOpening(policies, now);
  const isOpen = opensAt === now;
  return {
    after: isAsked
      ? { missing: [...new Set(lacking.flatMap(({ missing }) => missing))], reason: lacking[0]?.reason ?? null }
      : null,
    soak: isSoaked ? { endsAt: lacking.length > 0 || ends.length === 0 ? null : Math.max(...ends) } : null,
    window: { isOpen, nextWindowAt: isOpen ? null : opensAt, reason: isOpen ? null : whyClosed(demands, now) },
  };
}

function whyClosed(demands: readonly Demands[], now: number): string {
  for (const { environmentName, policy } of demands) {
    const freeze = policy && freezeAt(policy, now);
    if (freeze) return `${environmentName} is frozen until ${iso(Date.parse(freeze.to))}: ${freeze.reason}`;
  }
  const closed = demands.filter(({ policy }) => policy && nextOpening(policy, now) !== now);
  return `Outside the windows of ${closed.map(({ environmentName }) => environmentName).join(', ')}`;
}
