import { defineContract } from '../launch.ts';
import { FLOWS_QUEUE } from './flow-run.contract.ts';

export interface ScheduledFlowInput {
  tenantId: string;
  scheduleId: string;
  name: string;
}

/** Started by the engine each time that a schedule of a tenant is due; the engine puts the time behind its id. */
export const scheduledFlow = defineContract<ScheduledFlowInput>({
  workflow: 'scheduledFlow',
  taskQueue: FLOWS_QUEUE,
  workflowId: ({ tenantId, scheduleId }) => `${tenantId}/flow-schedule/${scheduleId}`,
  summary: ({ name }) => `Schedule ${name}`,
  searchAttributes: ({ tenantId, scheduleId }) => ({
    Tenant: tenantId,
    TaskType: 'flow-schedule',
    EntityId: scheduleId,
  }),
});
