import type { TenantKey } from '../../../domain/kernel/shared/actor.ts';
import { defineContract, defineSignal } from '../../launch.ts';
import { FLOWS_QUEUE } from '../../queues.contract.ts';

export interface FlowChecksInput extends TenantKey {
  runId: string;
  /** Readable part of the id of the run's workflow, as `RunWorkflowKey` has it. */
  workflowPath: string | null;
}

/** Writes the checks of a run to its git host. */
export const flowChecksContract = defineContract('flowChecks', {
  taskQueue: FLOWS_QUEUE,
  workflowId: ({ tenantSlug, runId, workflowPath }) => `${tenantSlug}/flow-checks/${workflowPath ?? runId}`,
  summary: ({ runId, workflowPath }) => `Checks of run ${workflowPath ?? runId}`,
  searchAttributes: ({ tenantSlug, runId }) => ({ Tenant: tenantSlug, TaskType: 'flow-checks', EntityId: runId }),
});

/** There is something new to write. */
export const checksChangedSignal = defineSignal('checksChanged');
