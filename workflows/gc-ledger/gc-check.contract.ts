import type { TenantKey } from '../../domain/shared/actor.ts';
import { CRM_QUEUE } from '../org-limits/org-limits.contract.ts';
import { defineContract } from '../launch.ts';

export interface GcCheckInput extends TenantKey {
  checkId: string;
}

export const gcCheckContract = defineContract('gcCheck', {
  taskQueue: CRM_QUEUE,
  workflowId: ({ tenantSlug, checkId }) => `${tenantSlug}/gc-check/${checkId}`,
  summary: ({ checkId }) => `Check ${checkId} of dropped components in orgs`,
  searchAttributes: ({ tenantSlug, checkId }) => ({ Tenant: tenantSlug, TaskType: 'gc-check', EntityId: checkId }),
});
