import { workflowInfo } from '@temporalio/workflow';
import { prefixOf } from '../../workflow-id.ts';

/** What the installation puts before the names of its task queues. */
export const queuePrefix = (): string => prefixOf(workflowInfo().workflowId);

/** Another task queue of the same installation. */
export const queueBeside = (taskQueue: string): string => queuePrefix() + taskQueue;
