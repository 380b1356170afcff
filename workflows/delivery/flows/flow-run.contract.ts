import { FLOWS_QUEUE } from '../../queues.contract.ts';
import type { AcceptedRun } from '../../../domain/delivery/flows/new-runs.mutations.ts';
import { defineContract, defineQuery, defineSignal } from '../../launch.ts';

export type FlowRunInput = AcceptedRun;

/** What the id of a run's workflow is made of. */
export type FlowRunKey = Pick<FlowRunInput, 'tenantSlug' | 'taskType' | 'runId' | 'workflowPath'>;

export const flowWorkflowId = ({ tenantSlug, taskType, runId, workflowPath }: FlowRunKey): string =>
  `${tenantSlug}/flow/${workflowPath ?? `${taskType}/${runId}`}`;

export const flowRunContract = defineContract('flowRun', {
  taskQueue: FLOWS_QUEUE,
  workflowId: flowWorkflowId,
  summary: ({ taskType, repositoryIdentifier, about }) =>
    [
      taskType,
      repositoryIdentifier && `of ${repositoryIdentifier}`,
      about?.releaseName,
      about?.environmentName && `to ${about.environmentName}`,
    ]
      .filter(Boolean)
      .join(' '),
  details: ({ about = {} }) => ({
    Domain: about.domain,
    Release: about.releaseName,
    Environment: about.environmentName,
    Branch: about.branch,
  }),
  isPinned: ({ isBrief = false }) => isBrief,
  searchAttributes: ({ tenantSlug, runId, taskType, repositoryIdentifier }) => ({
    Tenant: tenantSlug,
    TaskType: taskType,
    EntityId: runId,
    ...(repositoryIdentifier !== undefined && { Repository: repositoryIdentifier }),
  }),
});

/** The step that a run has reached, for operators. */
export const currentStepQuery = defineQuery<string>('currentStep');
/** To a run that waits for its pipeline: the row has a new report of it. */
export const pipelineReportedSignal = defineSignal('pipelineReported');
/** To a run that waits for a window: that of its environment was moved, its release is held or let go, or what must be deployed before may be. */
export const windowChangedSignal = defineSignal('windowChanged');
/** To a run that waits for its children: one of them has ended. */
export const childSettledSignal = defineSignal('childSettled');

/** The failure type of activities that were refused for good; its message may be shown to people on the run. */
export const REFUSED = 'refused';
