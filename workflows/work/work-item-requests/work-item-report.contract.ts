import type { TenantKey } from '../../../domain/kernel/shared/actor.ts';
import type { ReportedRequestKey } from '../../../domain/work/work.signals.ts';
import { FLOWS_QUEUE } from '../../queues.contract.ts';
import { idDate, idEnd, idPath } from '../../../domain/kernel/text/id-segment-rules.ts';
import { defineContract, defineSignal } from '../../launch.ts';

export type WorkItemReportInput = TenantKey & ReportedRequestKey;

/** Shows in a work item what became of the request that was made in it, and closes it. */
export const workItemReportContract = defineContract('workItemReport', {
  taskQueue: FLOWS_QUEUE,
  workflowId: ({ tenantSlug, repositoryIdentifier, requestId }) =>
    `${tenantSlug}/work-item-report/${idPath(repositoryIdentifier)}/${idEnd(requestId)}`,
  summary: ({ repositoryIdentifier, requestId }) =>
    `Work item of a request of ${repositoryIdentifier}, made on ${idDate(requestId)}`,
  searchAttributes: ({ tenantSlug, repositoryIdentifier, requestId }) => ({
    Tenant: tenantSlug,
    Repository: repositoryIdentifier,
    TaskType: 'work-item-report',
    EntityId: requestId,
  }),
});

/** There is something new to show. */
export const reportChangedSignal = defineSignal('reportChanged');
