import type { RunContext } from '../../../domain/delivery/flows/flow-runs.queries.ts';
import type { RunKey } from '../../../domain/delivery/flows/new-runs.mutations.ts';
import {
  isWholeOf,
  logsToRead,
  noteLook,
  NOTHING_TOLD,
  tellLog,
  tellStates,
  toldAs,
  type ToldPipeline,
} from '../../../domain/delivery/flows/programs/pipeline-output-rules.ts';
import { tellPipeline } from '../../../domain/delivery/flows/run-progress.mutations.ts';
import type { GitHost, HostFailure, PipelineJob, PipelineRun } from '../../../domain/code/git-hosts/git-host.port.ts';
import type { Deps } from '../../deps.ts';
import { unitOfRun } from './run-steps.activities.ts';

export interface ShownPipeline {
  run: RunContext;
  host: GitHost;
  pipeline: PipelineRun;
  told: ToldPipeline | null;
}

/** Rounds in which logs are read once all has ended; each reads three. */
const LAST_ROUNDS = 5;
/** No log is asked for later than this. */
const READING_MS = 60_000;

/** What was read. */
interface Reading {
  lines: string[];
  told: ToldPipeline;
  failure: HostFailure | undefined;
}

/**
 * Adds what is new of a pipeline to the output of its run: the states of its jobs, and their logs as far as the host gives
 * them. Answers why the host did not answer, if so.
 * @param isLast nothing is asked later: it reads on until all is told, within bounds.
 */
export async function showOutput(
  deps: Pick<Deps, 'actingAs' | 'now'>,
  key: RunKey,
  { run, host, pipeline, told: before }: ShownPipeline,
  { isLast = false }: { isLast?: boolean } = {},
): Promise<HostFailure | undefined> {
  const now = deps.now().getTime();
  const listed = await host.pipelineJobs(pipeline);
  const jobs = listed.isOk ? listed.value.map(toldAs) : [];
  const states = tellStates(before ?? NOTHING_TOLD, jobs);
  const read = await readLogs({ host, pipeline, jobs, now, rounds: isLast ? LAST_ROUNDS : 1 }, states.told);
  const { told, failure = listed.isOk ? undefined : listed } = read;
  const lines = [...states.lines, ...read.lines];
  const after = { ...told, askedAt: deps.now().getTime(), isWhole: isWholeOf(told, jobs) };
  await unitOfRun(deps, key)((tx) => tellPipeline(tx, run, { before, after, lines }));
  return failure;
}

interface Logs extends Pick<ShownPipeline, 'host' | 'pipeline'> {
  jobs: readonly PipelineJob[];
  now: number;
  rounds: number;
}

/** Reads logs until their host wants to be left alone; one that fails keeps no other from being read. */
async function readLogs({ host, pipeline, jobs, now, rounds }: Logs, before: ToldPipeline): Promise<Reading> {
  const until = performance.now() + READING_MS;
  const lines: string[] = [];
  let told = before;
  let failure: HostFailure | undefined;
  for (let round = 0; round < rounds; round++) {
    const wanted = logsToRead(told, jobs);
    for (const job of wanted) {
      if (performance.now() >= until) return { lines, told, failure };
      const from = told.jobs[job.id]?.read ?? 0;
      told = noteLook(told, job, now + round);
      const part = await host.pipelineLog(pipeline, { logId: job.logId ?? '', from, hasEnded: job.hasEnded });
      if (part.isOk) {
        const more = tellLog(told, job, part.value);
        lines.push(...more.lines);
        ({ told } = more);
        continue;
      }
      failure = part;
      if (part.retryAfterMs !== undefined) return { lines, told, failure };
    }
    if (wanted.every(({ hasEnded }) => !hasEnded)) break;
  }
  return { lines, told, failure };
}
