import type { TenantKey } from '../../../domain/kernel/shared/actor.ts';
import { FLOWS_QUEUE } from '../../queues.contract.ts';
import { defineContract, defineSignal } from '../../launch.ts';

export interface WorkItemReportInput extends TenantKey {
  requestId: string;
}

/** Shows in a work item what became of the request that was made in it, and closes it. */
export const workItemReportContract = defineContract('workItemReport', {
  taskQueue: FLOWS_QUEUE,
  workflowId: ({ tenantSlug, requestId }) => `${tenantSlug}/work-item-report/${requestId}`,
  summary: ({ requestId }) => `Work item of request ${requestId}`,
  searchAttributes: ({ tenantSlug, requestId }) => ({
    Tenant: tenantSlug,
    TaskType: 'work-item-report',
    EntityId: requestId,
  }),
});

/** There is something new to show. */
export const reportChangedSignal = defineSignal('reportChanged');
