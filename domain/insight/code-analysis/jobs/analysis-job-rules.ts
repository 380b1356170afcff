import { displayOf, isFinal, type RunStatus } from '../../../delivery/flows/run-status-rules.ts';

/** After a job that brought no results, another one starts only when somebody asks for it. */
const RETRY_AFTER_MS = 15 * 60_000;

/** The newest run that analyses a commit. */
export interface AnalysisJob {
  jobId: string;
  status: RunStatus;
  error: string | null;
  /** ISO 8601; null while it is open. */
  endedAt: string | null;
}

export type JobDecision =
  | { kind: 'running'; jobId: string }
  | { kind: 'failed'; jobId: string; message: string }
  | { kind: 'start' };

/** What a request for an analysis comes to when the commit has no results, or new ones are wanted (`isForced`). */
export function decideJob(
  job: AnalysisJob | undefined,
  { isForced, now }: { isForced: boolean; now: Date },
): JobDecision {
  if (!job) return { kind: 'start' };
  const { jobId, endedAt } = job;
  if (endedAt === null || !isFinal(job.status)) return { kind: 'running', jobId };
  if (isForced || now.getTime() - Date.parse(endedAt) >= RETRY_AFTER_MS) return { kind: 'start' };
  return { kind: 'failed', jobId, message: whyNothing(job) };
}

/** Why a job that has ended brought nothing, for people. */
function whyNothing({ status, error }: AnalysisJob): string {
  if (error !== null) return error;
  if (displayOf(status) === 'Cancelled') return 'The analysis was cancelled';
  if (displayOf(status) === 'Failed') return 'The analysis failed';
  return 'The pipeline or command that was to analyse the commit has ended, but published no results';
}
