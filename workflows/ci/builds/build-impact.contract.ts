import type { TenantKey } from '../../../domain/kernel/shared/actor.ts';
import { GIT_QUEUE } from '../../queues.contract.ts';
import { defineContract } from '../../launch.ts';
import { idEnd, idPath } from '../../../domain/kernel/text/id-segment-rules.ts';

/** What a build of a commit would concern, to be computed. */
export interface BuildImpactInput extends TenantKey {
  projectId: string;
  repositoryIdentifier: string;
  previewKey: string;
  /** Counts the computations of one key. */
  generation: number;
}

export const buildImpactContract = defineContract('buildImpact', {
  taskQueue: GIT_QUEUE,
  workflowId: ({ tenantSlug, repositoryIdentifier, projectId, previewKey, generation }) =>
    `${tenantSlug}/build-impact/${idPath(repositoryIdentifier)}/${idEnd(projectId)}/${previewKey}/${generation}`,
  summary: ({ repositoryIdentifier }) => `Impact of a build of ${repositoryIdentifier}`,
  searchAttributes: ({ tenantSlug, projectId, repositoryIdentifier }) => ({
    Tenant: tenantSlug,
    Repository: repositoryIdentifier,
    TaskType: 'build-impact',
    EntityId: projectId,
  }),
});
