import { addInstance, changeInstance } from '../../../domain/review/review-assignments/assigned-instances.mutations.ts';
import { removeInstance } from '../../../domain/review/review-pools/review-instances.mutations.ts';
import { poolById } from '../../../domain/review/review-pools/review-pools.queries.ts';
import { listInstances } from '../../../domain/review/review-pools/review-instances.queries.ts';
import { ANY_ROLE, defineRoute } from '../../http/define-route.ts';
import { byId, NoContent } from '../../http/parameters.ts';
import { pageReply, reply } from '../../http/replies.ts';
import {
  ofInstance,
  ReviewInstance,
  ReviewInstanceIn,
  ReviewInstancePatch,
  ReviewInstances,
  ReviewInstancesQuery,
} from './review-pools.schemas.ts';

const GROUP = 'Review pools';

export const reviewInstancesRoutes = [
  defineRoute({
    operationId: 'registerReviewInstance',
    method: 'post',
    path: '/api/review/pools/{id}/instances',
    group: GROUP,
    summary: 'Register an org of a pool, for builders',
    description:
      'An org of the pool with this username is brought up to date: 200; `state` counts unless it is assigned; then its lease follows a new `expiresAt`. One that has ended is registered anew. An org of another pool, and a pool that is full: 409.',
    roles: ['owner', 'application'],
    projectScope: 'row',
    admitsRun: ({ poolId }, { params: { id } }) => id === poolId,
    params: byId,
    body: ReviewInstanceIn,
    status: 201,
    otherStatuses: [200],
    response: ReviewInstance,
    errors: ['already_exists', 'invalid_transition'],
    audit: [
      'review_instance.registered',
      'review_instance.updated',
      'review_assignment.assigned',
      'review_assignment.adjusted',
    ],
    async handle({ params: { id }, body }, { tx, adapters: { encryption } }) {
      const { instance, isNew } = await tx((work) => addInstance(work, encryption, id, body));
      return reply(instance, { status: isNew ? 201 : 200 });
    },
  }),
  defineRoute({
    operationId: 'listReviewInstances',
    method: 'get',
    path: '/api/review/pools/{id}/instances',
    group: GROUP,
    summary: 'List the orgs of a pool, the newest first',
    roles: ANY_ROLE,
    projectScope: 'row',
    params: byId,
    query: ReviewInstancesQuery,
    status: 200,
    response: ReviewInstances,
    async handle({ params: { id }, query: { state, limit, offset } }, { reads, requestUrl }) {
      await poolById(reads, id);
      const { items, total } = await listInstances(reads, id, state, { limit, offset });
      const page = { limit, offset, total };
      return pageReply(requestUrl, page, { items, ...page });
    },
  }),
  defineRoute({
    operationId: 'updateReviewInstance',
    method: 'patch',
    path: '/api/review/pools/{id}/instances/{instanceId}',
    group: GROUP,
    summary: 'Set the state of an org of a pool',
    description:
      'From provisioning: available, expired, failed; from available: refreshing, expired, failed; from refreshing: available, expired, failed. `expired` and `failed` are final, and end the assignment of an org that is assigned.',
    roles: ['owner', 'application'],
    projectScope: 'row',
    admitsRun: ({ poolId }, { params: { id } }) => id === poolId,
    params: ofInstance,
    body: ReviewInstancePatch,
    status: 200,
    response: ReviewInstance,
    errors: ['invalid_transition'],
    audit: [
      'review_instance.updated',
      'review_assignment.failed',
      'review_assignment.expired',
      'review_assignment.assigned',
      'browser_session.ended',
    ],
    handle: ({ params: { id, instanceId }, body: { state, reason = null } }, { tx }) =>
      tx((work) => changeInstance(work, id, instanceId, { state, reason })),
  }),
  defineRoute({
    operationId: 'removeReviewInstance',
    method: 'delete',
    path: '/api/review/pools/{id}/instances/{instanceId}',
    group: GROUP,
    summary: 'Take an org out of a pool',
    description: 'The org itself is left alone. One that is assigned gets 409.',
    roles: ['owner', 'application'],
    projectScope: 'row',
    params: ofInstance,
    status: 204,
    response: NoContent,
    errors: ['invalid_transition'],
    audit: 'review_instance.removed',
    handle: ({ params: { id, instanceId } }, { tx }) => tx((work) => removeInstance(work, id, instanceId)),
  }),
];
