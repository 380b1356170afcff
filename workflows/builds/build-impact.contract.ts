import { GIT_QUEUE } from '../git/git-mirror.contract.ts';
import { defineContract } from '../launch.ts';

/** What a build of a commit would concern, to be computed. */
export interface BuildImpactInput {
  tenantId: string;
  projectId: string;
  repositoryIdentifier: string;
  previewKey: string;
  /** Counts the computations of one key. */
  generation: number;
}

export const buildImpactContract = defineContract('buildImpact', {
  taskQueue: GIT_QUEUE,
  workflowId: ({ tenantId, projectId, previewKey, generation }) =>
    `${tenantId}/build-impact/${projectId}/${previewKey}/${generation}`,
  summary: ({ repositoryIdentifier }) => `Impact of a build of ${repositoryIdentifier}`,
  searchAttributes: ({ tenantId, projectId, repositoryIdentifier }) => ({
    Tenant: tenantId,
    Repository: repositoryIdentifier,
    TaskType: 'build-impact',
    EntityId: projectId,
  }),
});
