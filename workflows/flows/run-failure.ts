import { ActivityFailure, ApplicationFailure, TimeoutFailure } from '@temporalio/workflow';
import type { RunOutcome } from '../../domain/flows/run-moves.ts';
import { REFUSED } from './flow-run.contract.ts';

/** How a run ends when a step threw: nothing internal gets into its row; the failure itself is in the history. */
export function outcomeOfError(error: unknown, step: string): RunOutcome {
  const cause = error instanceof ActivityFailure ? error.cause : error;
  if (cause instanceof ApplicationFailure && cause.type === REFUSED) return { status: 'failed', error: cause.message };
  if (cause instanceof TimeoutFailure)
    return { status: 'timed_out', error: `The worker was lost, or took too long, in the step ${step}` };
  return { status: 'failed', error: `The step ${step} could not be carried out` };
}
