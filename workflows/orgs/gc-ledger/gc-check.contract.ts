import type { TenantKey } from '../../../domain/kernel/shared/actor.ts';
import { CRM_QUEUE } from '../../queues.contract.ts';
import { idEnd, idPath, idSegment } from '../../../domain/kernel/text/id-segment-rules.ts';
import { defineContract } from '../../launch.ts';

export interface GcCheckInput extends TenantKey {
  checkId: string;
  repositoryIdentifier: string;
  branch: string;
}

export const gcCheckContract = defineContract('gcCheck', {
  taskQueue: CRM_QUEUE,
  workflowId: ({ tenantSlug, repositoryIdentifier, branch, checkId }) =>
    `${tenantSlug}/gc-check/${idPath(repositoryIdentifier)}/${idSegment(branch)}/${idEnd(checkId)}`,
  summary: ({ repositoryIdentifier, branch }) =>
    `Orgs of ${repositoryIdentifier}, ${branch}, asked for dropped components`,
  details: ({ branch }) => ({ Branch: branch }),
  searchAttributes: ({ tenantSlug, repositoryIdentifier, checkId }) => ({
    Tenant: tenantSlug,
    Repository: repositoryIdentifier,
    TaskType: 'gc-check',
    EntityId: checkId,
  }),
});

/** What the workflow of a check is started with. */
export const gcCheckInput = (
  { tenantId, tenantSlug }: TenantKey,
  { id, repositoryIdentifier, branch }: { id: string; repositoryIdentifier: string; branch: string },
): GcCheckInput => ({ tenantId, tenantSlug, checkId: id, repositoryIdentifier, branch });
