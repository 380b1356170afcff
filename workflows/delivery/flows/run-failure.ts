import { ActivityFailure, ApplicationFailure, CancelledFailure, TimeoutFailure } from '@temporalio/workflow';
import type { RunOutcome } from '../../../domain/delivery/flows/flow-runs.mutations.ts';
import { REFUSED } from './flow-run.contract.ts';

/**
 * How a run ends when an activity failed: nothing internal gets into its row; the failure itself is in the history.
 * Undefined for every other error: that is a bug, and fails the workflow task, where operators see it.
 */
export function outcomeOfFailure(error: unknown, step: string): RunOutcome | undefined {
  // The failure of a local activity comes bare.
  const cause = error instanceof ActivityFailure ? error.cause : error;
  if (cause instanceof ApplicationFailure && cause.type === REFUSED) return { status: 'failed', error: cause.message };
  if (!(error instanceof ActivityFailure)) return undefined;
  if (cause instanceof TimeoutFailure)
    return { status: 'timed_out', error: `The worker was lost, or took too long, in the step ${step}` };
  return { status: 'failed', code: 'unknown_outcome', error: `The step ${step} could not be executed` };
}

/**
 * Ends the workflow as its run ended: a failed run is a failed workflow, whose failure has the run's code, else its status, as
 * type; a run that was cancelled through its workflow is a cancelled workflow. Returns when the run succeeded, in part
 * at least.
 */
export function endAsRun(
  { status, error, code }: RunOutcome,
  { isCancelRequested }: { isCancelRequested: boolean },
): void {
  if (status === 'succeeded' || status === 'partial') return;
  if (status === 'cancelled' && isCancelRequested) throw new CancelledFailure(error ?? 'The run was cancelled');
  throw ApplicationFailure.nonRetryable(error ?? `The run ended: ${status}`, code ?? status);
}
