import { defineContract } from '../launch.ts';
import { FLOWS_QUEUE } from './flow-run.contract.ts';

export interface FlowChecksInput {
  tenantId: string;
  runId: string;
}

/** Writes to the git host what is to be seen there of a run. */
export const flowChecks = defineContract<FlowChecksInput>({
  workflow: 'flowChecks',
  taskQueue: FLOWS_QUEUE,
  workflowId: ({ tenantId, runId }) => `${tenantId}/flow-checks/${runId}`,
  summary: ({ runId }) => `Checks of run ${runId}`,
  searchAttributes: ({ tenantId, runId }) => ({ Tenant: tenantId, TaskType: 'flow-checks', EntityId: runId }),
});

/** Signal: there is something new to write. */
export const CHECKS_CHANGED_SIGNAL = 'changed';
