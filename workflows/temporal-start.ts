import {
  defineSearchAttributeKey,
  type SearchAttributePair,
  SearchAttributeType,
  TypedSearchAttributes,
} from '@temporalio/common';
import type { WorkflowContract } from './launch.ts';
import { boundedId, boundedSummary } from './workflow-id.ts';

/** The memo of a workflow that ends on the build of the workers on which it began. */
export const PINNED = 'isPinned';

/** How a workflow of a contract is started. */
export function startOptions<Input>(contract: WorkflowContract<Input>, input: Input, queuePrefix: string) {
  return {
    args: [input],
    taskQueue: queuePrefix + contract.taskQueue,
    workflowId: boundedId(queuePrefix, contract.workflowId(input)),
    staticSummary: boundedSummary(contract.summary(input)),
    staticDetails: detailsOf(contract, input),
    ...(contract.isPinned?.(input) && { memo: { [PINNED]: true } }),
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

/** Markdown, one line an item. */
function detailsOf<Input>(contract: WorkflowContract<Input>, input: Input): string {
  const { Tenant, Repository } = contract.searchAttributes(input);
  return Object.entries({ Tenant, Repository, ...contract.details?.(input) })
    .filter(([, value]) => value !== undefined && value !== null)
    .map(([label, value]) => `- ${label}: ${value}`)
    .join('\n');
}
