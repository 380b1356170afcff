import { defineContract } from '../launch.ts';
import { FLOWS_QUEUE } from './flow-run.contract.ts';

export interface ScheduledFlowInput {
  tenantId: string;
  scheduleId: string;
  name: string;
}

/** Started by the engine each time that a tenant's schedule is due; the engine appends the time to its id. */
export const scheduledFlowContract = defineContract('scheduledFlow', {
  taskQueue: FLOWS_QUEUE,
  workflowId: ({ tenantId, scheduleId }) => `${tenantId}/flow-schedule/${scheduleId}`,
  summary: ({ name }) => `Schedule ${name}`,
  searchAttributes: ({ tenantId, scheduleId }) => ({
    Tenant: tenantId,
    TaskType: 'flow-schedule',
    EntityId: scheduleId,
  }),
});
