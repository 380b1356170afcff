import type { Actor, TenantKey } from '../../../domain/kernel/shared/actor.ts';
import type { ReviewAssignmentKey } from '../../../domain/review/review.signals.ts';
import { ENVIRONMENT_LOCKS_QUEUE } from '../../queues.contract.ts';
import { idEnd, idPath, idSegment } from '../../../domain/kernel/text/id-segment-rules.ts';
import { defineContract, defineSignal, defineUpdate } from '../../launch.ts';

/** What somebody has, or waits for, for a review. */
export type ReviewAssignmentInput = TenantKey & ReviewAssignmentKey;

export const reviewAssignmentContract = defineContract('reviewAssignment', {
  // Its work is as brief as that of locks, and on the database alone.
  taskQueue: ENVIRONMENT_LOCKS_QUEUE,
  workflowId: ({ tenantSlug, repositoryIdentifier, subject, assignmentId }) =>
    `${tenantSlug}/review-assignment/${idPath(repositoryIdentifier)}/${idSegment(subject)}/${idEnd(assignmentId)}`,
  summary: ({ target, subject }) => `Review of ${subject} in ${target}`,
  details: ({ subject, target }) => ({ For: subject, Target: target }),
  searchAttributes: ({ tenantSlug, repositoryIdentifier, assignmentId }) => ({
    Tenant: tenantSlug,
    Repository: repositoryIdentifier,
    TaskType: 'review-assignment',
    EntityId: assignmentId,
  }),
});

/** Who asks for a change of an assignment. */
export interface LeaseChange {
  by: Actor;
  requestId: string;
  traceparent: string | undefined;
}

/** Extends the lease; refused when the assignment is not active. */
export const extendUpdate = defineUpdate<void, [LeaseChange & { hours: number }]>('extend');
/** Releases the assignment; one that has ended stays as it is. */
export const releaseUpdate = defineUpdate<void, [LeaseChange]>('release');
/** The assignment was made or changed. */
export const assignmentChangedSignal = defineSignal('changed');
