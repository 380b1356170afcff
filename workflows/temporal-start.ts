import {
  defineSearchAttributeKey,
  type SearchAttributePair,
  SearchAttributeType,
  TypedSearchAttributes,
} from '@temporalio/common';
import type { WorkflowContract } from './launch.ts';

/** How a workflow of a contract is started. */
export function startOptions<Input>(contract: WorkflowContract<Input>, input: Input, queuePrefix: string) {
  return {
    args: [input],
    taskQueue: queuePrefix + contract.taskQueue,
    workflowId: contract.workflowId(input),
    staticSummary: contract.summary(input),
    typedSearchAttributes: new TypedSearchAttributes(
      Object.entries(contract.searchAttributes(input)).map(
        ([name, value]): SearchAttributePair => ({
          key: defineSearchAttributeKey(name, SearchAttributeType.KEYWORD),
          value,
        }),
      ),
    ),
  };
}
