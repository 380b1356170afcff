import { workflowInfo } from '@temporalio/workflow';
import { FLOWS_QUEUE } from './flow-run.contract.ts';

/** Another task queue of the same installation: under the prefix that this run's queue has. */
export const queueBeside = (taskQueue: string): string =>
  workflowInfo().taskQueue.slice(0, -FLOWS_QUEUE.length) + taskQueue;
