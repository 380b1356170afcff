import { withoutCodes } from '../../../kernel/text/terminal-text-rules.ts';
import type { LogPart, PipelineJob } from '../../../code/git-hosts/git-host.port.ts';

/** What the output of a run has told of its pipeline. */
export interface ToldPipeline {
  /** When its host was asked last, in milliseconds since the epoch. */
  askedAt: number;
  /** By the id of the job. */
  jobs: Record<string, ToldJob>;
  /** All jobs have ended, and all that they have printed is told. */
  isWhole: boolean;
}

interface ToldJob {
  state: string;
  /** Bytes of its log. */
  read: number;
  /** It has ended, and nothing of its log is left to tell. */
  isDone: boolean;
  /** A part of its log was left out, or there was none. */
  isCut?: boolean;
  /** How often its log was asked for and was not there. */
  misses?: number;
  /** When its log was asked for last, in milliseconds since the epoch. */
  lookedAt?: number;
}

export const NOTHING_TOLD: ToldPipeline = { askedAt: 0, jobs: {}, isWhole: false };

/** Logs that are read at once. */
export const LOGS_AT_ONCE = 3;
/** Jobs that hosts list at once; where there are more, the output has not all of them. */
export const JOBS_MAX = 100;
/** A log that was not there so often does not come. */
const MISSES_MAX = 5;
const NAME_MAX = 100;
const LINE_MAX = 2_000;
/** Lines of a part of a log. */
const PART_LINES_MAX = 2_000;

const storable = (text: string): string => withoutCodes(text).slice(0, NAME_MAX).toWellFormed();

/** A job as it can be told of: what its host calls it is cut, and can be stored. */
export const toldAs = ({ id, name, state, ...job }: PipelineJob): PipelineJob => ({
  ...job,
  id: storable(id),
  name: storable(name.replaceAll(/\s+/g, ' ')),
  state: storable(state),
});

/** What is new of the states of jobs, as lines of the output. */
export function tellStates(told: ToldPipeline, jobs: readonly PipelineJob[]): { lines: string[]; told: ToldPipeline } {
  const lines: string[] = [];
  const known: Record<string, ToldJob> = {};
  for (const job of jobs) {
    const before = told.jobs[job.id];
    if (before?.state !== job.state) lines.push(`${job.name}: ${job.state}`);
    known[job.id] = { read: 0, isDone: false, ...before, state: job.state };
  }
  return { lines, told: { ...told, jobs: { ...told.jobs, ...known } } };
}

/** Jobs of which there may be more to read now, those first whose logs were asked for longest ago. */
export const logsToRead = (told: ToldPipeline, jobs: readonly PipelineJob[]): PipelineJob[] =>
  jobs
    .filter((job) => job.logId !== null && told.jobs[job.id]?.isDone !== true)
    .toSorted((one, other) => (told.jobs[one.id]?.lookedAt ?? 0) - (told.jobs[other.id]?.lookedAt ?? 0))
    .slice(0, LOGS_AT_ONCE);

/** Notes that the log of a job is asked for: others are before it the next time. */
export const noteLook = (told: ToldPipeline, { id, state }: PipelineJob, now: number): ToldPipeline => ({
  ...told,
  jobs: { ...told.jobs, [id]: { read: 0, isDone: false, state, ...told.jobs[id], lookedAt: now } },
});

/** A part of the log of a job as lines of the output, each with the name of the job. */
export function tellLog(
  told: ToldPipeline,
  job: PipelineJob,
  { isThere, text, next, isCut, isTooLarge = false }: LogPart,
): { lines: string[]; told: ToldPipeline } {
  const { name } = job;
  const all = text === '' ? [] : text.replace(/\r?\n$/, '').split(/\r?\n/);
  const lines = all.slice(-PART_LINES_MAX);
  const leftOut = all.length - lines.length;
  const before = told.jobs[job.id];
  const misses = (before?.misses ?? 0) + (isThere ? 0 : 1);
  const isMissing = misses >= MISSES_MAX;
  const after = {
    state: job.state,
    read: next,
    isDone: isTooLarge || (job.hasEnded && (isThere || isMissing)),
    ...((isCut || isMissing || leftOut > 0 || before?.isCut) && { isCut: true }),
    ...(misses > 0 && { misses }),
    ...(before?.lookedAt !== undefined && { lookedAt: before.lookedAt }),
  };
  return {
    lines: [
      ...(isCut ? [`[${name}] (a part of the log is left out)`] : []),
      ...(leftOut > 0 ? [`[${name}] (${leftOut} lines are left out)`] : []),
      ...lines.map((line) => `[${name}] ${line.slice(0, LINE_MAX).toWellFormed()}`),
    ],
    told: { ...told, jobs: { ...told.jobs, [job.id]: after } },
  };
}

/** Whether all was told that there will ever be. */
export const isWholeOf = (told: ToldPipeline, jobs: readonly PipelineJob[]): boolean =>
  jobs.length > 0 &&
  jobs.length < JOBS_MAX &&
  jobs.every(({ id, hasEnded, logId }) => {
    const { isDone = false, isCut = false } = told.jobs[id] ?? {};
    return hasEnded && !isCut && (logId === null || isDone);
  });

const SECOND_MS = 1_000;

/**
 * Whether a host is asked now in any case: as seldom as where nobody watches. In between, it is asked as far as its calls
 * allow.
 * @param sinceMs how long the run has gone on.
 */
export function mustAsk({ askedAt }: ToldPipeline, now: number, sinceMs: number): boolean {
  const pauseMs = Math.min(600 * SECOND_MS, Math.max(30 * SECOND_MS, sinceMs / 4));
  return now - askedAt >= pauseMs;
}
