import { invalidField } from '../../../kernel/shared/errors.ts';
import type { Tx } from '../../../unit-of-work.ts';
import { lockDomain } from '../candidate-locks.queries.ts';
import { lockedById } from '../candidate-status.mutations.ts';
import {
  type CandidateOfProject,
  type CandidateRow,
  candidateById,
  findCandidateById,
} from '../release-candidates.queries.ts';
import { changeHolds } from './hold-changes.mutations.ts';
import {
  assertHoldMove,
  assertMayLift,
  type Hold,
  type HoldingEnvironment,
  holdsNow,
  isOfVerification,
  partedAt,
  type StoredHold,
} from './hold-rules.ts';
import { holdsOf } from './holds.queries.ts';

const current = async (tx: Tx, candidate: CandidateRow): Promise<Hold[]> =>
  (await holdsOf(tx, [candidate], tx.now))(candidate);

/**
 * Holds a candidate: no run takes it anywhere until that is lifted, or until `until`. One that somebody holds already
 * gets the new reason and time. Throws `not_found`, `invalid_request` for a time that is over, and `invalid_transition`
 * for a candidate that is final.
 */
export async function holdCandidate(
  tx: Tx,
  id: string,
  { reason, until }: { reason: string; until: Date | undefined },
): Promise<CandidateOfProject> {
  const { candidate, project } = await lockedById(tx, id);
  assertHoldMove('hold', candidate, await current(tx, candidate));
  if (until && until <= tx.now) throw invalidField('until', 'must be in the future');
  const others = candidate.holds.filter(({ verification }) => verification !== undefined);
  const before = candidate.holds.find(({ verification }) => verification === undefined);
  const wanted = { reason, until: until?.toISOString() ?? null };
  if (before?.reason === wanted.reason && before.until === wanted.until) {
    tx.noteDone();
    return { candidate, project };
  }
  const stored = { ...wanted, by: tx.actor.email, since: tx.now.toISOString() };
  const begun = [{ stored, environment: null }];
  return { project, candidate: await changeHolds(tx, project, candidate, [stored, ...others], { begun }) };
}

/**
 * Lifts the hold of a candidate that is shown; one that is not held is left alone. Throws `not_found`, `forbidden` for
 * the hold of a verification to all but owners, and `invalid_transition` for a candidate that is final and not held.
 */
export async function releaseHold(tx: Tx, id: string): Promise<CandidateOfProject> {
  const { candidate, project } = await lockedById(tx, id);
  const holds = await current(tx, candidate);
  assertHoldMove('release', candidate, holds);
  const [hold] = holds;
  if (!hold) {
    tx.noteDone();
    return { candidate, project };
  }
  assertMayLift(hold, tx.actor);
  const rest = candidate.holds.filter((each) => each !== hold.stored);
  const ended = [{ hold, end: 'lifted' as const }];
  return { project, candidate: await changeHolds(tx, project, candidate, rest, { ended }) };
}

/** Ends the holds of a candidate whose time is over; does nothing where others have. */
export async function endHolds(tx: Tx, id: string): Promise<void> {
  const found = await findCandidateById(tx, id);
  if (!found) return;
  await lockDomain(tx, found.projectId, found.domain);
  const { candidate, project } = await candidateById(tx, id);
  const { over, rest } = partedAt(candidate.holds, tx.now.getTime());
  if (over.length === 0) return;
  const ended = over.map((stored) => ({ hold: { stored, environment: null }, end: 'expired' as const }));
  await changeHolds(tx, project, candidate, rest, { ended });
}

/** A verification of what was deployed of a candidate, as it ended. */
export interface EndedVerification {
  candidateId: string;
  /** Digest of what was deployed. */
  contentDigest: string;
  environmentId: string;
  environment: HoldingEnvironment;
  repositoryIdentifier: string;
}

/**
 * Holds the content of a candidate back since its verification failed, or lets it go since one succeeded. The domain's
 * lock must be held.
 * @param failure why it failed; undefined: it succeeded.
 */
export async function holdByVerification(tx: Tx, ended: EndedVerification, failure: string | undefined): Promise<void> {
  const { candidateId, contentDigest, environmentId, environment, repositoryIdentifier: identifier } = ended;
  const candidate = await findCandidateById(tx, candidateId);
  if (!candidate) return;
  const own = candidate.holds.find((each) => isOfVerification(each, environmentId, contentDigest));
  const rest = candidate.holds.filter((each) => each !== own);
  const isCurrent = contentDigest === candidate.contentDigest;
  const announced = (stored: StoredHold): Hold[] => {
    const facts = { contentDigest, environments: new Map([[environmentId, environment]]), now: tx.now.getTime() };
    return isCurrent ? holdsNow([stored], facts) : [];
  };
  if (failure === undefined) {
    if (!own) return;
    const lifted = announced(own).map((hold) => ({ hold, end: 'verified' as const }));
    await changeHolds(tx, { identifier }, candidate, rest, { ended: lifted });
    return;
  }
  const verification = { environmentId, contentDigest };
  const stored = { reason: failure, until: null, by: tx.actor.email, since: tx.now.toISOString(), verification };
  const holds = [...rest, stored].slice(-HOLDS_MAX);
  await changeHolds(tx, { identifier }, candidate, holds, { begun: announced(stored) });
}

/** More environments, and contents that were posted back, than a candidate has. */
const HOLDS_MAX = 100;
