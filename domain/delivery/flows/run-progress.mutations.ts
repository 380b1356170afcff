import { isDeepStrictEqual } from 'node:util';
import { emitEvent } from '../../events/webhooks/event-catalog.ts';
import type { Tx } from '../../unit-of-work.ts';
import { eventDataOf } from './flow-runs.mutations.ts';
import type { RunContext } from './flow-runs.queries.ts';
import { progressLine, type RunProgress } from './run-progress-rules.ts';
import type { OutputSoFar } from './programs/program.port.ts';
import { addLines, addPipelineLines, keepOutputSoFar, keepProgress } from './run-progress.queries.ts';
import { displayOf } from './run-status-rules.ts';

/** Whether a run says that it is so far, and has announced it. */
export const isNoted = (
  { progress, announcedProgress }: Pick<RunContext, 'progress' | 'announcedProgress'>,
  now: RunProgress,
): boolean => isDeepStrictEqual(progress, now) && isDeepStrictEqual(announcedProgress, now);

/**
 * Notes how far a run is: on its row, as a line of its output, and in an event where a second has passed since the last. What
 * is not announced now is when the run is looked at again. Retrying is safe.
 */
export async function noteRunProgress(tx: Tx, run: RunContext, progress: RunProgress): Promise<void> {
  tx.touch('flow_run', run.id, run.repositoryIdentifier);
  tx.touch('flow_output', run.id, run.repositoryIdentifier);
  if (!(await keepProgress(tx, run.id, progress, progressLine(tx.now, progress)))) return;
  const { step, percent, counts } = progress;
  emitEvent(tx, 'flow.progress', {
    ...eventDataOf(run),
    status: displayOf('running'),
    step,
    percent: percent ?? null,
    counts: counts ?? null,
  });
}

/** What is named where the output of a run changes. */
type Printing = Pick<RunContext, 'id' | 'repositoryIdentifier'>;

/** Adds lines to the log of a run that goes on. */
export async function sayLines(tx: Tx, run: Printing, lines: readonly string[]): Promise<void> {
  if (lines.length === 0) return;
  await addLines(tx, run.id, lines);
  tx.touch('flow_output', run.id, run.repositoryIdentifier);
}

/** Tells in the output of a run what is new of its pipeline. */
export async function tellPipeline(tx: Tx, run: Printing, told: Parameters<typeof addPipelineLines>[2]): Promise<void> {
  tx.noteDone();
  if ((await addPipelineLines(tx, run.id, told)) && told.lines.length > 0)
    tx.touch('flow_output', run.id, run.repositoryIdentifier);
}

/** Keeps the last of what the program of a run has printed, for as long as it goes on. */
export async function showOutputSoFar(tx: Tx, run: Printing, output: OutputSoFar): Promise<void> {
  await keepOutputSoFar(tx, run.id, output);
  tx.touch('flow_output', run.id, run.repositoryIdentifier);
}
