import type { RunStatus } from '../flows/run-status-rules.ts';

/** Codes of runs that ended without having found out anything. */
const NO_RESULT: ReadonlySet<unknown> = new Set(['unknown_outcome', 'lock_lost', 'outside_window']);

/** How the run of a check ended. */
export interface EndOfCheckRun {
  status: RunStatus;
  result?: Readonly<Record<string, unknown>> | undefined;
}

/**
 * Whether a run that did not succeed says nothing about what is deployed: it was cancelled, refused or lost, say. Only what
 * was found out may take a deployment back.
 * @param isPlayed it plays a recording, and names the step that failed.
 */
export const saysNothing = ({ status, result }: EndOfCheckRun, isPlayed: boolean): boolean =>
  (status !== 'failed' && status !== 'partial') ||
  NO_RESULT.has(result?.['code']) ||
  (isPlayed && typeof result?.['failedStep'] !== 'number');
