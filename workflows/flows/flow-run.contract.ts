import type { AcceptedRun } from '../../domain/flows/accept-run.ts';
import { defineContract, defineQuery, defineSignal } from '../launch.ts';

export const FLOWS_QUEUE = 'flows-v1';
/** Programs of the operator's list run here: only workers of this queue need them. */
export const COMMANDS_QUEUE = 'commands-v1';

export type FlowRunInput = AcceptedRun;

export const flowWorkflowId = (tenantId: string, runId: string): string => `${tenantId}/flow/${runId}`;

export const flowRunContract = defineContract('flowRun', {
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

/** The step that a run has reached, for operators. */
export const currentStepQuery = defineQuery<string>('currentStep');
/** To a run that waits for its pipeline: the row has a new report of it. */
export const pipelineReportedSignal = defineSignal('pipelineReported');
/** To a run that waits for its children: one of them has ended. */
export const childSettledSignal = defineSignal('childSettled');

/** The failure type of activities that were refused for good; its message may be shown to people on the run. */
export const REFUSED = 'refused';
