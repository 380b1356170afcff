import { workflowInfo } from '@temporalio/workflow';
import { FLOWS_QUEUE } from './flow-run.contract.ts';

/** Another task queue of the same installation: with the prefix of this run's queue. */
export const queueBeside = (taskQueue: string): string =>
  workflowInfo().taskQueue.slice(0, -FLOWS_QUEUE.length) + taskQueue;
