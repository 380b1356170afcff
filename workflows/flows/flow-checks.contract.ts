import { defineContract, defineSignal } from '../launch.ts';
import { FLOWS_QUEUE } from './flow-run.contract.ts';

export interface FlowChecksInput {
  tenantId: string;
  runId: string;
}

/** Writes the checks of a run to its git host. */
export const flowChecksContract = defineContract('flowChecks', {
  taskQueue: FLOWS_QUEUE,
  workflowId: ({ tenantId, runId }) => `${tenantId}/flow-checks/${runId}`,
  summary: ({ runId }) => `Checks of run ${runId}`,
  searchAttributes: ({ tenantId, runId }) => ({ Tenant: tenantId, TaskType: 'flow-checks', EntityId: runId }),
});

/** There is something new to write. */
export const checksChangedSignal = defineSignal('checksChanged');
