import type { TenantKey } from '../../../domain/kernel/shared/actor.ts';
import { GIT_QUEUE } from '../../queues.contract.ts';
import { defineContract, defineSignal } from '../../launch.ts';
import { idEnd, idPath, idSegment } from '../../../domain/kernel/text/id-segment-rules.ts';

/** The results of one branch, which are compared one after another. */
export interface AnalysisResultsInput extends TenantKey {
  projectId: string;
  repositoryIdentifier: string;
  branch: string;
}

/** New results are stored. */
export const resultsStoredSignal = defineSignal('results-stored');

/** What there was to do. */
export interface ComparisonReport {
  /** Analyses that were compared. */
  compared: number;
  /** Commit statuses that are to be written. */
  statuses: number;
}

export const analysisResultsContract = defineContract('analysisResults', {
  taskQueue: GIT_QUEUE,
  workflowId: ({ tenantSlug, repositoryIdentifier, branch, projectId }) =>
    `${tenantSlug}/analysis-results/${idPath(repositoryIdentifier)}/${idSegment(branch)}/${idEnd(projectId)}`,
  summary: ({ repositoryIdentifier, branch }) => `Results of code analyses of ${repositoryIdentifier}, ${branch}`,
  details: ({ branch }) => ({ Branch: branch }),
  searchAttributes: ({ tenantSlug, projectId, repositoryIdentifier }) => ({
    Tenant: tenantSlug,
    Repository: repositoryIdentifier,
    TaskType: 'analysis-results',
    EntityId: projectId,
  }),
});
