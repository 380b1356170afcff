import { emitEvent } from '../../../events/webhooks/event-catalog.ts';
import type { Tx } from '../../../unit-of-work.ts';
import { runsWaitingWith } from '../../promotion/promotion.queries.ts';
import type { CandidateRow } from '../release-candidates.queries.ts';
import { type Hold, type HoldEnd, type ShownHold, shownHold, type StoredHold } from './hold-rules.ts';
import { insertHoldEvents, updateHolds } from './holds.queries.ts';

/** What is announced of a change: holds that begin or are others now, and those that ended. */
export interface HoldChange {
  begun?: readonly Hold[];
  ended?: readonly { hold: Hold; end: HoldEnd }[];
}

/**
 * Gives a candidate other holds, with what follows: what its timeline tells, audit entries and events, and a look of the
 * runs that wait with it. The domain's lock must be held.
 */
export async function changeHolds(
  tx: Tx,
  { identifier }: { identifier: string },
  candidate: CandidateRow,
  holds: readonly StoredHold[],
  { begun = [], ended = [] }: HoldChange,
): Promise<CandidateRow> {
  await updateHolds(tx, candidate.id, holds);
  await insertHoldEvents(tx, candidate, [...ended, ...begun.map((hold) => ({ hold, end: undefined }))]);
  for (const hold of begun) announce(tx, identifier, candidate, hold);
  for (const { hold, end } of ended) announce(tx, identifier, candidate, hold, end);
  for (const run of await runsWaitingWith(tx, candidate.projectId, candidate)) tx.after('run', run);
  const row = { ...candidate, updatedBy: tx.actor.email, updatedAt: tx.now.toISOString() };
  return { ...row, holds: [...holds] };
}

/** @param end absent: the hold began. */
function announce(tx: Tx, identifier: string, candidate: CandidateRow, hold: Hold, end?: HoldEnd): void {
  const { id, domain, releaseName, branch, commitSha } = candidate;
  const shown = shownHold([hold]) as ShownHold;
  const said = end === undefined ? `held: ${shown.reason}` : `let go: the hold ${WORDS[end]} (${shown.reason})`;
  tx.audit({
    source: 'release',
    action: `release_candidate.${end === undefined ? 'held' : 'hold_lifted'}`,
    entityType: 'release_candidate',
    entityId: id,
    repositoryIdentifier: identifier,
    summary: `Release candidate ${releaseName} of ${domain} is ${said}`,
    ...(end === undefined ? { after: shown } : { before: shown, after: { end } }),
  });
  const { reason, until, source, environmentName } = shown;
  const about = { repositoryIdentifier: identifier, domain, releaseName, candidateId: id, branch, commitSha };
  const event = { ...about, environmentName, reason, until, source, by: tx.actor.email };
  if (end === undefined) emitEvent(tx, 'release.held', event);
  else emitEvent(tx, 'release.hold_lifted', { ...event, end });
}

const WORDS: Record<HoldEnd, string> = {
  lifted: 'was lifted',
  expired: 'is over',
  verified: 'ended with a verification that succeeded',
  final: 'ended with the candidate',
};
