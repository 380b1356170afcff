import type { ApprovalWithVotes } from '@quayside/client';
import type { Tone } from '../../kernel/parts/tone.ts';

export const TABS = ['mine', 'open', 'decided'] as const;
export type Tab = (typeof TABS)[number];

type Status = ApprovalWithVotes['status'];
export const DECIDED = ['approved', 'rejected', 'expired', 'stale'] as const satisfies readonly Status[];

const TONES: Record<Status, Tone> = {
  requested: 'wait',
  approved: 'good',
  rejected: 'bad',
  expired: 'idle',
  stale: 'idle',
};

export const toneOfApproval = (status: Status): Tone => TONES[status];

/** What the address says, as far as it says it rightly. */
export const tabOf = (given: string | undefined): Tab => TABS.find((tab) => tab === given) ?? 'mine';

/** The outcomes that the address asks for: one, or all. */
export const decidedStatuses = (given: string | undefined): readonly (typeof DECIDED)[number][] =>
  DECIDED.filter((status) => given === undefined || status === given);

type Named = Pick<ApprovalWithVotes, 'taskType' | 'releaseName' | 'repositoryIdentifier'>;

/** What it would do, in short: the release, or the type of the run where it takes none. */
export const nameOf = ({ releaseName, taskType }: Named): string => releaseName ?? taskType;

/** How many people have approved it so far. */
export const givenOf = ({ votes }: Pick<ApprovalWithVotes, 'votes'>): number =>
  votes.filter(({ decision }) => decision === 'approve').length;

const SOON_MS = 60 * 60_000;

export type Expiry = 'later' | 'soon' | 'over';

/** How near its end an open approval is. */
export function expiryOf({ expiresAt }: Pick<ApprovalWithVotes, 'expiresAt'>, now: number): Expiry {
  const leftMs = Date.parse(expiresAt) - now;
  if (leftMs <= 0) return 'over';
  return leftMs < SOON_MS ? 'soon' : 'later';
}

/** Whether it waits for nobody any more. */
export const isOver = ({ status }: Pick<ApprovalWithVotes, 'status'>): boolean => status !== 'requested';

/** Those chosen that are still listed, and those that have gone from the list since. */
export function chosenOf<Row extends { id: string }>(
  chosen: readonly Row[],
  listed: readonly Row[],
): { here: Row[]; gone: Row[] } {
  const now = new Map(listed.map((row) => [row.id, row]));
  return {
    here: chosen.flatMap(({ id }) => now.get(id) ?? []),
    gone: chosen.filter(({ id }) => !now.has(id)),
  };
}

export type Decision = 'approve' | 'reject';

/** What came of a decision on one approval. */
export type Outcome =
  | { kind: 'done'; status: Status }
  /** Others were faster: `by` is null where nobody decided, as it expired or its run ended. */
  | { kind: 'meanwhile'; status: Status; by: string | null }
  | { kind: 'refused'; detail: string };

/** Whether a failure says nothing about the approval: it can be decided again once one is signed in, or the service answers. */
export const mayPass = (status: number): boolean => status === 0 || status === 401 || status === 429 || status >= 500;

/** A refusal, explained by how the approval stands now, where that is known. */
export function outcomeOfRefusal(
  problem: { status: number; detail: string },
  now: Pick<ApprovalWithVotes, 'status' | 'resolvedBy'> | undefined,
): Outcome {
  if (problem.status === 409 && now && now.status !== 'requested')
    return { kind: 'meanwhile', status: now.status, by: now.resolvedBy };
  return { kind: 'refused', detail: problem.detail };
}

/** The newest first; what was not decided by anybody stands where it was asked for. */
export const byDecision = (
  a: Pick<ApprovalWithVotes, 'resolvedAt' | 'requestedAt'>,
  b: Pick<ApprovalWithVotes, 'resolvedAt' | 'requestedAt'>,
): number => Date.parse(b.resolvedAt ?? b.requestedAt) - Date.parse(a.resolvedAt ?? a.requestedAt);
