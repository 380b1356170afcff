import { DomainError, invalidField } from '../../kernel/shared/errors.ts';
import { didYouMean } from '../../kernel/text/suggestion-rules.ts';

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
  waiting_window: { display: 'Waiting', isFinal: false },
  waiting_hold: { display: 'Waiting', isFinal: false },
  waiting_lock: { display: 'Waiting', isFinal: false },
  running: { display: 'Running', isFinal: false },
  waiting_org_calls: { display: 'Waiting', isFinal: false },
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

/** All statuses of runs. */
export const RUN_STATUSES = Object.keys(TRAITS) as RunStatus[];
/** Statuses that no other follows. */
export const FINAL_STATUSES = RUN_STATUSES.filter((status): status is FinalStatus => TRAITS[status].isFinal);

/** The status of a run that was accepted and has not begun. */
export const NEW_RUN: RunStatus = 'dispatched';

/** A status as people see it. */
export const displayOf = (status: RunStatus): DisplayStatus => TRAITS[status].display;
/** Whether a run has ended. */
export const isFinal = (status: RunStatus): status is FinalStatus => TRAITS[status].isFinal;
/** Whether the work of an open run has begun: it goes on, or waits until its org takes calls of runs again. */
export const isAtWork = (status: RunStatus): boolean => status === 'running' || status === 'waiting_org_calls';
/** Whether a run ended well. */
export const isSuccess = (status: RunStatus): boolean => TRAITS[status].display === 'Completed';

const isRaw = (name: string): name is RunStatus => Object.hasOwn(TRAITS, name);

/** The raw statuses that a filter names, raw or as displayed. Throws `invalid_request` for another name. */
export function statusesOf(names: readonly string[]): RunStatus[] {
  const found = names.flatMap((name) => {
    const matching = RUN_STATUSES.filter((status) => (isRaw(name) ? status === name : displayOf(status) === name));
    if (matching.length === 0) {
      const known = [...DISPLAY_STATUSES, ...RUN_STATUSES];
      throw invalidField('status', `${name} is not a status: ${known.join(', ')}${didYouMean(name, known)}`);
    }
    return matching;
  });
  return [...new Set(found)];
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

/** The event that announces how a run ended. */
export function eventOfEnd(status: FinalStatus): 'flow.completed' | 'flow.failed' | 'flow.cancelled' {
  const display = displayOf(status);
  if (display === 'Failed') return 'flow.failed';
  return display === 'Cancelled' ? 'flow.cancelled' : 'flow.completed';
}
