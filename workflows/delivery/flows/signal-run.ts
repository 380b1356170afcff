import { getExternalWorkflowHandle, type SignalDefinition, TemporalFailure } from '@temporalio/workflow';
import { boundedId } from '../../workflow-id.ts';
import { type FlowRunKey, flowWorkflowId } from './flow-run.contract.ts';
import { queuePrefix } from './queues.ts';

/** Signals the workflow of a run; one that has ended, or is executed elsewhere, needs no signal. */
export async function signalRun<Args extends unknown[]>(
  run: FlowRunKey,
  signal: SignalDefinition<Args>,
  ...args: Args
): Promise<void> {
  try {
    await getExternalWorkflowHandle(boundedId(queuePrefix(), flowWorkflowId(run))).signal(signal, ...args);
  } catch (error) {
    if (!(error instanceof TemporalFailure)) throw error;
  }
}
