import type { AcceptedRun } from '../../domain/flows/accept-run.ts';
import { defineContract } from '../launch.ts';
import { flowWorkflowId } from './flow-id.contract.ts';

export const FLOWS_QUEUE = 'flows-v1';
/** Programs of the operator's list run here: workers of this queue alone need them. */
export const COMMANDS_QUEUE = 'commands-v1';

export type FlowRunInput = AcceptedRun;

export const flowRun = defineContract<FlowRunInput>({
  workflow: 'flowRun',
  taskQueue: FLOWS_QUEUE,
  workflowId: ({ tenantId, runId }) => flowWorkflowId(tenantId, runId),
  summary: ({ taskType, repositoryIdentifier }) =>
    repositoryIdentifier === undefined ? taskType : `${taskType} of ${repositoryIdentifier}`,
  searchAttributes: ({ tenantId, runId, taskType, repositoryIdentifier }) => ({
    Tenant: tenantId,
    TaskType: taskType,
    EntityId: runId,
    ...(repositoryIdentifier !== undefined && { Repository: repositoryIdentifier }),
  }),
});

/** Query: the step at which a run is, for operators. */
export const CURRENT_STEP_QUERY = 'currentStep';
/** Signal to a run that waits for others: a child or a pipeline has something to tell; the row says what. */
export const REPORTED_SIGNAL = 'reported';
