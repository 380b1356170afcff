import type { TenantKey } from '../../../domain/kernel/shared/actor.ts';
import { defineContract } from '../../launch.ts';
import { idSegment } from '../../../domain/kernel/text/id-segment-rules.ts';
import { FLOWS_QUEUE } from '../../queues.contract.ts';

export interface ScheduledFlowInput extends TenantKey {
  scheduleId: string;
  name: string;
}

/** Started by the engine each time that a tenant's schedule is due; the engine appends the time to its id. */
export const scheduledFlowContract = defineContract('scheduledFlow', {
  taskQueue: FLOWS_QUEUE,
  workflowId: ({ tenantSlug, name, scheduleId }) => `${tenantSlug}/flow-schedule/${idSegment(name)}/${scheduleId}`,
  summary: ({ name }) => `Schedule ${name}`,
  searchAttributes: ({ tenantSlug, scheduleId }) => ({
    Tenant: tenantSlug,
    TaskType: 'flow-schedule',
    EntityId: scheduleId,
  }),
});
