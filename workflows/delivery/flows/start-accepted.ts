import { ChildWorkflowCancellationType, ParentClosePolicy, startChild } from '@temporalio/workflow';
import { WorkflowExecutionAlreadyStartedError } from '@temporalio/common';
import type { AcceptedRun } from '../../../domain/delivery/flows/new-runs.mutations.ts';
import { startOptions } from '../../temporal-start.ts';
import { flowRunContract } from './flow-run.contract.ts';
import { queuePrefix } from './queues.ts';

/**
 * Starts a child, which outlives its parent: its row decides. One that was not started, since this workflow was ended
 * meanwhile, is found by the sweeper, and one that the sweeper has started stays as it is.
 */
export async function startAccepted(child: AcceptedRun): Promise<void> {
  try {
    await startChild(flowRunContract.workflow, {
      ...startOptions(flowRunContract, child, queuePrefix()),
      workflowIdReusePolicy: 'REJECT_DUPLICATE',
      parentClosePolicy: ParentClosePolicy.ABANDON,
      cancellationType: ChildWorkflowCancellationType.ABANDON,
    });
  } catch (error) {
    if (!(error instanceof WorkflowExecutionAlreadyStartedError)) throw error;
  }
}
