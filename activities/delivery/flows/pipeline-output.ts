import type { RunContext } from '../../../domain/delivery/flows/flow-runs.queries.ts';
import type { RunKey } from '../../../domain/delivery/flows/new-runs.mutations.ts';
import {
  isWholeOf,
  logsToRead,
  NOTHING_TOLD,
  tellLog,
  tellStates,
  type ToldPipeline,
} from '../../../domain/delivery/flows/programs/pipeline-output-rules.ts';
import { tellPipeline } from '../../../domain/delivery/flows/run-progress.mutations.ts';
import type { GitHost, HostFailure, PipelineRun } from '../../../domain/code/git-hosts/git-host.port.ts';
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
  const listed = await host.pipelineJobs(pipeline);
  const jobs = listed.isOk ? listed.value : [];
  const states = tellStates(before ?? NOTHING_TOLD, jobs);
  const lines = [...states.lines];
  let { told } = states;
  let failure: HostFailure | undefined = listed.isOk ? undefined : listed;
  for (let round = 0; round < (isLast ? LAST_ROUNDS : 1) && !failure; round++) {
    const wanted = logsToRead(told, jobs);
    if (wanted.length === 0) break;
    for (const job of wanted) {
      const from = told.jobs[job.id]?.read ?? 0;
      const part = await host.pipelineLog(pipeline, { logId: job.logId ?? '', from, hasEnded: job.hasEnded });
      if (!part.isOk) {
        failure = part;
        break;
      }
      const more = tellLog(told, job, part.value);
      lines.push(...more.lines);
      told = more.told;
    }
    if (wanted.every(({ hasEnded }) => !hasEnded)) break;
  }
  const after = { ...told, askedAt: deps.now().getTime(), isWhole: isWholeOf(told, jobs) };
  await unitOfRun(deps, key)((tx) => tellPipeline(tx, run, { before, after, lines }));
  return failure;
}
