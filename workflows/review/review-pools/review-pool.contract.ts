import type { TenantKey } from '../../../domain/kernel/shared/actor.ts';
import type { ReviewPoolKey } from '../../../domain/review/review.signals.ts';
import { ENVIRONMENT_LOCKS_QUEUE } from '../../queues.contract.ts';
import { idEnd, idPath, idSegment } from '../../../domain/kernel/text/id-segment-rules.ts';
import { defineContract, defineSignal } from '../../launch.ts';

/** A pool of review orgs. */
export type ReviewPoolInput = TenantKey & ReviewPoolKey;

export const reviewPoolContract = defineContract('reviewPool', {
  // Its work is as brief as that of locks, and on the database alone.
  taskQueue: ENVIRONMENT_LOCKS_QUEUE,
  workflowId: ({ tenantSlug, repositoryIdentifier, poolTag, poolId }) =>
    `${tenantSlug}/review-pool/${idPath(repositoryIdentifier)}/${idSegment(poolTag)}/${idEnd(poolId)}`,
  summary: ({ poolTag, repositoryIdentifier }) => `Review pool ${poolTag} of ${repositoryIdentifier}`,
  details: ({ poolTag }) => ({ Pool: poolTag }),
  searchAttributes: ({ tenantSlug, repositoryIdentifier, poolId }) => ({
    Tenant: tenantSlug,
    Repository: repositoryIdentifier,
    TaskType: 'review-pool',
    EntityId: poolId,
  }),
});

/** The pool, its orgs or who waits for them changed. */
export const poolChangedSignal = defineSignal('changed');
