import type { Approval, FlowRun, ReleaseCandidate, ReleaseMatrix } from '@quayside/client';
import type { Tone } from '../../kernel/parts/tone.ts';

type Row = Pick<ReleaseMatrix['rows'][number], 'cells'>;
type Columns = readonly Pick<ReleaseMatrix['columns'][number], 'name' | 'category'>[];

/** What the sentence is about. All but `finalized` and `ready` say why a candidate is not released yet. */
export type Why = { tone: Tone } & (
  | { kind: 'aborted' | 'finalized' | 'nowhere' | 'ready' | 'noEnvironments' | 'unknown' }
  | { kind: 'superseded'; by: string }
  | { kind: 'held'; by: string; reason: string; until: string | null }
  | { kind: 'verification'; environment: string; reason: string }
  | { kind: 'approval'; environment: string; approvers: readonly string[] }
  | { kind: 'window'; environment: string; opensAt: string | undefined }
  | { kind: 'lock' | 'running' | 'failed' | 'rolledBack' | 'otherContent'; environment: string }
  | { kind: 'requested'; environment: string | null }
  | { kind: 'partial'; environment: string; packages: readonly string[] }
  | { kind: 'missing'; environments: readonly string[] }
);

type CandidateFacts = Pick<ReleaseCandidate, 'status' | 'hold' | 'supersededBy'>;
type ApprovalFacts = Pick<Approval, 'environmentName' | 'approvers'>;
type RunFacts = Pick<FlowRun, 'category' | 'environmentName'>;

/**
 * Why a candidate is not released yet, by the first reason that counts: what became of it, who holds it, what the runs that
 * take it somewhere wait for, what went wrong, and where it is missing. Released means deployed to all environments of
 * category `release` that take it. Without a `row` nobody knows where it is.
 */
export function whyOf(
  { status, hold, supersededBy }: CandidateFacts,
  row: Row | undefined,
  columns: Columns,
  approvals: readonly ApprovalFacts[],
  openRuns: readonly RunFacts[] = [],
): Why {
  if (status === 'aborted') return { kind: 'aborted', tone: 'bad' };
  if (supersededBy !== null) return { kind: 'superseded', tone: 'idle', by: supersededBy };
  if (status === 'finalized') return { kind: 'finalized', tone: 'good' };
  if (hold?.source === 'verification')
    return { kind: 'verification', tone: 'bad', environment: hold.environmentName ?? '', reason: hold.reason };
  if (hold) return { kind: 'held', tone: 'bad', by: hold.by, reason: hold.reason, until: hold.until };
  if (!row) return { kind: 'unknown', tone: 'idle' };

  const places = columns.flatMap(({ name, category }, index) => {
    const cell = row.cells[index];
    return cell && cell.state !== 'not_taken' ? [{ name, category, ...cell }] : [];
  });
  return (
    underWay(places, approvals) ??
    requested(openRuns) ??
    wrong(places.filter(({ category }) => category === 'release')) ??
    missing(places)
  );
}

type Place = Columns[number] & Row['cells'][number];

/** The furthest of what is under way, whatever environment it goes to. */
function underWay(places: readonly Place[], approvals: readonly ApprovalFacts[]): Why | undefined {
  const inState = (state: Place['state']) => places.findLast((place) => place.state === state);
  const running = inState('running');
  if (running) return { kind: 'running', tone: 'busy', environment: running.name };
  const asked = inState('waiting_approval');
  if (asked) {
    const { approvers = [] } = approvals.find(({ environmentName }) => environmentName === asked.name) ?? {};
    return { kind: 'approval', tone: 'wait', environment: asked.name, approvers };
  }
  const closed = inState('waiting_window');
  if (closed) return { kind: 'window', tone: 'wait', environment: closed.name, opensAt: closed.nextWindowAt };
  const locked = inState('waiting_lock');
  return locked && { kind: 'lock', tone: 'wait', environment: locked.name };
}

/** Runs that were asked for and have not come to a gate. */
function requested(openRuns: readonly RunFacts[]): Why | undefined {
  const runs = openRuns.filter(({ category }) => category === 'release');
  const named = runs.find(({ environmentName }) => environmentName !== null) ?? runs[0];
  return named && { kind: 'requested', tone: 'busy', environment: named.environmentName };
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

function missing(places: readonly Place[]): Why {
  const release = places.filter(({ category }) => category === 'release');
  if (release.length === 0) return { kind: 'noEnvironments', tone: 'idle' };
  const lacking = release.filter(({ state }) => state !== 'deployed' && state !== 'installed_before');
  if (lacking.length === 0) return { kind: 'ready', tone: 'good' };
  if (places.every(({ state }) => state === 'never')) return { kind: 'nowhere', tone: 'wait' };
  return { kind: 'missing', tone: 'wait', environments: lacking.map(({ name }) => name) };
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
