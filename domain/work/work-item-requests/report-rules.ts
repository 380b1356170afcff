import { displayOf, isFinal, isSuccess, type RunStatus } from '../../delivery/flows/run-status-rules.ts';
import type { ReportedState, TrackerFailure } from '../work-items/work-tracker.port.ts';
import type { RequestEvent } from './callback-rules.ts';

/** What a work item should show of a run. */
export interface WantedReport {
  runId: string;
  taskType: string;
  status: RunStatus;
  error: string | null;
  /** Page of the pipeline that executes the run. */
  url: string | null;
}

/** A work item is closed so long after its run succeeded: until then people see that it did. */
export const CLOSE_AFTER_MS = 5 * 60_000;

/** A run that succeeded in part has failed for whoever requested it: their work item stays open. */
const EVENTS: Record<RunStatus, RequestEvent> = {
  queued: 'accepted',
  scheduled: 'accepted',
  dispatched: 'accepted',
  waiting_approval: 'accepted',
  waiting_window: 'accepted',
  waiting_hold: 'accepted',
  waiting_lock: 'accepted',
  running: 'started',
  waiting_org_calls: 'started',
  succeeded: 'completed',
  partial: 'failed',
  failed: 'failed',
  timed_out: 'failed',
  rejected: 'rejected',
  cancelled: 'cancelled',
  expired: 'cancelled',
};

const HOUR_MS = 3_600_000;
/** A credential that nobody renewed for so long will not be. */
const MENDED_WITHIN_MS = 7 * 24 * HOUR_MS;

/**
 * When a work item is to be tried again that could not be written; null: never. Somebody may renew a credential or add
 * an integration, and then the work item shows what became of its request.
 * @param since when the run began or ended, in ISO 8601.
 */
export function reportRetryAt(
  { kind, retryAt }: Pick<TrackerFailure, 'kind' | 'retryAt'>,
  { now, since }: { now: Date; since: string | null },
): Date | null {
  if (kind === 'auth_failed') {
    const isLost = since !== null && now.getTime() - Date.parse(since) > MENDED_WITHIN_MS;
    return isLost ? null : new Date(now.getTime() + HOUR_MS);
  }
  const endsByItself = ['unreachable', 'timeout', 'limited', 'malformed', 'conflict'].includes(kind);
  return endsByItself ? (retryAt ?? now) : null;
}

/** What the status of a run is for the request that it executes. */
export const eventOfRun = (status: RunStatus): RequestEvent => EVENTS[status];

/** What a run waits for. Anybody may read a work item: who approves or holds the lock is not named there. */
const WAITS: Partial<Record<RunStatus, string>> = {
  waiting_approval: 'for approval',
  waiting_window: 'for the window of its environment',
  waiting_hold: 'until its release is no longer held',
  waiting_lock: 'for the lock of its environment',
  waiting_org_calls: 'for calls of its org',
};

/** Whether a work item shows that its run has this status: one that was only just accepted may begin at once. */
export const isShownOnItem = (status: RunStatus): boolean => EVENTS[status] !== 'accepted' || status in WAITS;

export function stateOnItem(status: RunStatus): ReportedState {
  if (status in WAITS) return 'waiting';
  if (!isFinal(status)) return 'running';
  return isSuccess(status) ? 'done' : 'failed';
}

/** The comment about a run, as lines of plain text. */
export function commentLines({ runId, taskType, status, error }: WantedReport): string[] {
  const waits = WAITS[status];
  const state = `${displayOf(status)}${waits === undefined ? '' : ` ${waits}`}`;
  return [`Quayside: ${taskType}`, `${state}${error === null ? '' : `: ${error}`}`, `Run ${runId}`];
}

/** Text by which the comment of a request is found again. */
export const markerOf = (requestId: string): string => `quayside-request:${requestId}`;
