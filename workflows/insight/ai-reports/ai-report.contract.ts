import { AI_QUEUE } from '../../queues.contract.ts';
import type { TenantKey } from '../../../domain/kernel/shared/actor.ts';
import { defineContract } from '../../launch.ts';

export interface AiReportInput extends TenantKey {
  reportId: string;
}

export const aiReportContract = defineContract('aiReport', {
  taskQueue: AI_QUEUE,
  workflowId: ({ tenantSlug, reportId }) => `${tenantSlug}/ai-report/${reportId}`,
  summary: ({ reportId }) => `AI report ${reportId}`,
  searchAttributes: ({ tenantSlug, reportId }) => ({ Tenant: tenantSlug, TaskType: 'ai-report', EntityId: reportId }),
});
