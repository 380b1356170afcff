import { displayOf, isFinal, isSuccess, type RunStatus } from '../flows/run-status-rules.ts';
import type { ReportedState } from '../work-items/work-tracker.port.ts';
import type { CallbackEvent } from './callback-rules.ts';

/** What a work item should show of a run. */
export interface WantedReport {
  runId: string;
  taskType: string;
  status: RunStatus;
  error: string | null;
  /** Page of the pipeline that carries the run out. */
  url: string | null;
}

/** A work item is closed so long after its run succeeded: until then people see that it did. */
export const CLOSE_AFTER_MS = 5 * 60_000;

/** A run that succeeded in part has failed for whoever requested it: their work item stays open. */
const EVENTS: Partial<Record<RunStatus, CallbackEvent>> = {
  running: 'started',
  succeeded: 'completed',
  partial: 'failed',
  failed: 'failed',
  timed_out: 'failed',
  rejected: 'rejected',
  cancelled: 'cancelled',
  expired: 'cancelled',
};

/** What the status of a run is for the request that it carries out; undefined while it waits. */
export const eventOfRun = (status: RunStatus): CallbackEvent | undefined => EVENTS[status];

export function stateOnItem(status: RunStatus): ReportedState {
  if (!isFinal(status)) return 'running';
  return isSuccess(status) ? 'done' : 'failed';
}

/** The comment about a run, as lines of plain text. */
export function commentLines({ runId, taskType, status, error }: WantedReport): string[] {
  return [`Quayside: ${taskType}`, `${displayOf(status)}${error === null ? '' : `: ${error}`}`, `Run ${runId}`];
}

/** By which the comment of a request is found again. */
export const markerOf = (requestId: string): string => `quayside-request:${requestId}`;
