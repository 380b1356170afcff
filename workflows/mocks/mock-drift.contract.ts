import type { TenantKey } from '../../domain/kernel/shared/actor.ts';
import { FLOWS_QUEUE } from '../queues.contract.ts';
import { idDate, idEnd } from '../../domain/kernel/text/id-segment-rules.ts';
import { defineContract } from '../launch.ts';

export interface MockDriftInput extends TenantKey {
  driftId: string;
}

export const mockDriftContract = defineContract('mockDrift', {
  taskQueue: FLOWS_QUEUE,
  workflowId: ({ tenantSlug, driftId }) => `${tenantSlug}/mock-drift/${idDate(driftId)}/${idEnd(driftId)}`,
  summary: ({ driftId }) => `Comparison of a mock scenario with its upstream, asked for on ${idDate(driftId)}`,
  searchAttributes: ({ tenantSlug, driftId }) => ({ Tenant: tenantSlug, TaskType: 'mock-drift', EntityId: driftId }),
});
