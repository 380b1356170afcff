import type { Approval, FlowRun, ReleaseCandidate, ReleaseMatrix } from '@quayside/client';
import type { Tone } from '../../kernel/parts/tone.ts';

type Row = Pick<ReleaseMatrix['rows'][number], 'cells'>;
type Columns = readonly Pick<ReleaseMatrix['columns'][number], 'name' | 'category'>[];

/** What the sentence is about. All but `finalized` and `ready` say why a candidate is not released yet. */
export type Why = { tone: Tone } & (
  | { kind: 'aborted' | 'finalized' | 'ready' | 'noEnvironments' | 'notFound' | 'unknown' | 'cut' }
  | { kind: 'superseded'; by: string }
  | { kind: 'held'; by: string; reason: string; until: string | null }
  | { kind: 'verification'; environment: string; reason: string }
  /** Without approvers: who they are is not known. */
  | { kind: 'approval'; environment: string; approvers: readonly string[] | undefined }
  | { kind: 'window'; environment: string; opensAt: string | undefined }
  | { kind: 'lock' | 'running' | 'failed' | 'rolledBack' | 'otherContent'; environment: string }
  | { kind: 'requested' | 'atWork'; environment: string | null }
  | { kind: 'waits'; environment: string | null; reason: string }
  | { kind: 'partial'; environment: string; packages: readonly string[] }
  | { kind: 'missing'; environments: readonly string[]; isRequestKnown: boolean }
  | { kind: 'nowhere'; isRequestKnown: boolean }
);

type CandidateFacts = Pick<ReleaseCandidate, 'status' | 'hold' | 'supersededBy'>;
type ApprovalFacts = Pick<Approval, 'environmentName' | 'approvers'>;
type RunFacts = Pick<FlowRun, 'category' | 'environmentName' | 'rawStatus' | 'waitsFor'>;

/** What is known of where a candidate is. */
export interface Known {
  /** Undefined: it could not be asked. */
  columns: Columns | undefined;
  /** Undefined: the candidate is not among what was answered. */
  row: Row | undefined;
  /** The project has more environments than the columns. */
  isCut: boolean;
  /** Undefined: not known. */
  approvals: readonly ApprovalFacts[] | undefined;
  openRuns: readonly RunFacts[] | undefined;
}

/**
 * Why a candidate is not released yet, by the first reason that counts: what became of it, who holds it, what the runs that
 * take it somewhere wait for, what went wrong, and where it is missing. Released means deployed to all environments of
 * category `release` that take it.
 */
export function whyOf(
  { status, hold, supersededBy }: CandidateFacts,
  { columns, row, isCut, approvals, openRuns }: Known,
): Why {
  if (status === 'aborted') return { kind: 'aborted', tone: 'bad' };
  if (supersededBy !== null) return { kind: 'superseded', tone: 'idle', by: supersededBy };
  if (status === 'finalized') return { kind: 'finalized', tone: 'good' };
  if (hold?.source === 'verification')
    return { kind: 'verification', tone: 'bad', environment: hold.environmentName ?? '', reason: hold.reason };
  if (hold) return { kind: 'held', tone: 'bad', by: hold.by, reason: hold.reason, until: hold.until };
  if (!columns) return { kind: 'unknown', tone: 'idle' };
  if (columns.length === 0) return { kind: 'noEnvironments', tone: 'idle' };
  if (!row) return { kind: 'notFound', tone: 'idle' };

  const places = columns.flatMap(({ name, category }, index) => {
    const cell = row.cells[index];
    return cell && cell.state !== 'not_taken' ? [{ name, category, ...cell }] : [];
  });
  return (
    underWay(places, approvals) ??
    requested(openRuns ?? []) ??
    wrong(places.filter(({ category }) => category === 'release')) ??
    missing(places, isCut, openRuns !== undefined)
  );
}

type Place = Columns[number] & Row['cells'][number];

/** The furthest of what is under way, whatever environment it goes to. */
function underWay(places: readonly Place[], approvals: readonly ApprovalFacts[] = []): Why | undefined {
  const inState = (state: Place['state']) => places.findLast((place) => place.state === state);
  const running = inState('running');
  if (running) return { kind: 'running', tone: 'busy', environment: running.name };
  const asked = inState('waiting_approval');
  if (asked) {
    const { approvers } = approvals.find(({ environmentName }) => environmentName === asked.name) ?? {};
    return { kind: 'approval', tone: 'wait', environment: asked.name, approvers };
  }
  const closed = inState('waiting_window');
  if (closed) return { kind: 'window', tone: 'wait', environment: closed.name, opensAt: closed.nextWindowAt };
  const locked = inState('waiting_lock');
  return locked && { kind: 'lock', tone: 'wait', environment: locked.name };
}

/** A run is about to begin. */
const BEGINS: ReadonlySet<FlowRun['rawStatus']> = new Set(['queued', 'scheduled', 'dispatched']);

/** Runs that were asked for, and that no environment shows yet. */
function requested(openRuns: readonly RunFacts[]): Why | undefined {
  const runs = openRuns.filter(({ category }) => category === 'release');
  const run = runs.find(({ environmentName }) => environmentName !== null) ?? runs[0];
  if (!run) return undefined;
  const { environmentName: environment, rawStatus, waitsFor } = run;
  if (waitsFor !== null) return { kind: 'waits', tone: 'wait', environment, reason: waitsFor };
  return { kind: BEGINS.has(rawStatus) ? 'requested' : 'atWork', tone: 'busy', environment };
}

function wrong(places: readonly Place[]): Why | undefined {
  for (const { name: environment, state, missingPackages } of places) {
    if (state === 'failed') return { kind: 'failed', tone: 'bad', environment };
    if (state === 'rolled_back') return { kind: 'rolledBack', tone: 'bad', environment };
    if (state === 'partial') return { kind: 'partial', tone: 'wait', environment, packages: missingPackages };
    if (state === 'other_content') return { kind: 'otherContent', tone: 'wait', environment };
  }
  return undefined;
}

function missing(places: readonly Place[], isCut: boolean, isRequestKnown: boolean): Why {
  const release = places.filter(({ category }) => category === 'release');
  const lacking = release.filter(({ state }) => state !== 'deployed' && state !== 'installed_before');
  // Of environments that are no columns nothing is known.
  if (isCut && lacking.length === 0) return { kind: 'cut', tone: 'idle' };
  if (release.length === 0) return { kind: 'noEnvironments', tone: 'idle' };
  if (lacking.length === 0) return { kind: 'ready', tone: 'good' };
  if (!isCut && places.every(({ state }) => state === 'never'))
    return { kind: 'nowhere', tone: 'wait', isRequestKnown };
  return { kind: 'missing', tone: 'wait', environments: lacking.map(({ name }) => name), isRequestKnown };
}

const STATUS_TONES: Readonly<Record<string, Tone>> = {
  pending: 'idle',
  in_progress: 'busy',
  finalized: 'good',
  aborted: 'bad',
};

/** Statuses of a project's own are open ones. */
export const toneOfStatus = (status: string): Tone => STATUS_TONES[status] ?? 'busy';

/** Content and status of these never change again. */
export const isFinal = (status: string): boolean => status === 'aborted' || status === 'finalized';
