import { CRM_QUEUE } from '../../queues.contract.ts';
import type { TenantKey } from '../../../domain/kernel/shared/actor.ts';
import { defineContract, defineSignal } from '../../launch.ts';

/** Orgs of the tenant are due. */
export const orgsDueSignal = defineSignal('orgs-due');

/** What a pump came to. */
export interface PumpReport {
  polled: number;
  failed: number;
  /** It ended before all was polled that was due. */
  isMoreDue: boolean;
}

export const orgLimitsContract = defineContract('orgLimits', {
  taskQueue: CRM_QUEUE,
  workflowId: ({ tenantSlug }: TenantKey) => `${tenantSlug}/org-limits`,
  summary: () => 'Polls of the limits of CRM orgs',
  searchAttributes: ({ tenantSlug }) => ({ Tenant: tenantSlug, TaskType: 'org-limits' }),
});
