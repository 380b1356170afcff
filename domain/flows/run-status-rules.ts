import { DomainError } from '../shared/errors.ts';

export const DISPLAY_STATUSES = ['Waiting', 'Running', 'Completed', 'Partial', 'Failed', 'Cancelled'] as const;
/** What readers are shown. */
export type DisplayStatus = (typeof DISPLAY_STATUSES)[number];

interface StatusTraits {
  display: DisplayStatus;
  /** Nothing moves it any more. */
  isFinal: boolean;
}

/** The whole state machine: open statuses reach each other and the final ones; final ones reach nothing. */
const TRAITS = {
  queued: { display: 'Waiting', isFinal: false },
  scheduled: { display: 'Waiting', isFinal: false },
  dispatched: { display: 'Waiting', isFinal: false },
  waiting_approval: { display: 'Waiting', isFinal: false },
  waiting_lock: { display: 'Waiting', isFinal: false },
  running: { display: 'Running', isFinal: false },
  succeeded: { display: 'Completed', isFinal: true },
  partial: { display: 'Partial', isFinal: true },
  failed: { display: 'Failed', isFinal: true },
  timed_out: { display: 'Failed', isFinal: true },
  rejected: { display: 'Failed', isFinal: true },
  cancelled: { display: 'Cancelled', isFinal: true },
  expired: { display: 'Cancelled', isFinal: true },
} as const satisfies Record<string, StatusTraits>;

export type RunStatus = keyof typeof TRAITS;
export type FinalStatus = {
  [Status in RunStatus]: (typeof TRAITS)[Status]['isFinal'] extends true ? Status : never;
}[RunStatus];
export type OpenStatus = Exclude<RunStatus, FinalStatus>;

export const RUN_STATUSES = Object.keys(TRAITS) as RunStatus[];
export const FINAL_STATUSES = RUN_STATUSES.filter((status): status is FinalStatus => TRAITS[status].isFinal);

/** What a run is when it is accepted, and has no engine at work yet. */
export const NEW_RUN: RunStatus = 'dispatched';

export const displayOf = (status: RunStatus): DisplayStatus => TRAITS[status].display;
export const isFinal = (status: RunStatus): status is FinalStatus => TRAITS[status].isFinal;
export const isSuccess = (status: RunStatus): boolean => TRAITS[status].display === 'Completed';

const isRaw = (word: string): word is RunStatus => Object.hasOwn(TRAITS, word);

/** The raw statuses that words of a filter, raw or displayed, stand for. Throws `invalid_request` for another word. */
export function statusesOf(words: readonly string[]): RunStatus[] {
  const found = words.flatMap((word) => {
    const shown = RUN_STATUSES.filter((status) => (isRaw(word) ? status === word : displayOf(status) === word));
    if (shown.length === 0) {
      const detail = `${word} is not a status: ${[...DISPLAY_STATUSES, ...RUN_STATUSES].join(', ')}`;
      throw new DomainError('invalid_request', detail, { fields: [{ pointer: '#/query/status', detail }] });
    }
    return shown;
  });
  return [...new Set(found)];
}

/** Outcome of a run from the latest attempt of each of its children; undefined while one of them is open. */
export function outcomeOf(children: readonly RunStatus[]): FinalStatus | undefined {
  if (children.length === 0 || !children.every(isFinal)) return undefined;
  const [display, ...others] = new Set(children.map(displayOf));
  if (others.length > 0) return 'partial';
  if (display === 'Completed') return 'succeeded';
  if (display === 'Failed') return 'failed';
  return display === 'Cancelled' ? 'cancelled' : 'partial';
}

/**
 * Whether a cancellation has something to do: false when the run is cancelled already. Throws `invalid_transition`
 * for a run that ended otherwise.
 */
export function decideCancel(status: RunStatus): boolean {
  if (!isFinal(status)) return true;
  if (displayOf(status) === 'Cancelled') return false;
  throw new DomainError('invalid_transition', `The run cannot be cancelled: it is ${status}`);
}

/** Throws `invalid_transition` while the run is open: two attempts of the same work would meet. */
export function assertRerunnable(status: RunStatus): void {
  if (isFinal(status)) return;
  throw new DomainError('invalid_transition', `The run cannot be repeated yet: it is ${status}`);
}

/** The event by which subscribers learn how a run ended. */
export function eventOfEnd(status: FinalStatus): 'flow.completed' | 'flow.failed' | 'flow.cancelled' {
  const display = displayOf(status);
  if (display === 'Failed') return 'flow.failed';
  return display === 'Cancelled' ? 'flow.cancelled' : 'flow.completed';
}
