import type { TenantKey } from '../../domain/kernel/shared/actor.ts';
import { FLOWS_QUEUE } from '../queues.contract.ts';
import { defineContract } from '../launch.ts';

export interface MockDriftInput extends TenantKey {
  driftId: string;
}

export const mockDriftContract = defineContract('mockDrift', {
  taskQueue: FLOWS_QUEUE,
  workflowId: ({ tenantSlug, driftId }) => `${tenantSlug}/mock-drift/${driftId}`,
  summary: ({ driftId }) => `Comparison ${driftId} of a mock scenario with its upstream`,
  searchAttributes: ({ tenantSlug, driftId }) => ({ Tenant: tenantSlug, TaskType: 'mock-drift', EntityId: driftId }),
});
