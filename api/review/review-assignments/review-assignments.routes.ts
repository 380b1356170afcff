import { isActive } from '../../../domain/review/review-assignments/assignment-rules.ts';
import { assign } from '../../../domain/review/review-assignments/review-assignments.mutations.ts';
import {
  assignmentById,
  type AssignmentRow,
  listAssignments,
} from '../../../domain/review/review-assignments/review-assignments.queries.ts';
import { projectInRequest } from '../../../domain/projects/projects/projects.queries.ts';
import { ANY_ROLE, defineRoute } from '../../http/define-route.ts';
import { byId } from '../../http/parameters.ts';
import { pageReply, reply } from '../../http/replies.ts';
import { shortenedLease } from '../../../domain/review/review-assignments/assignment-rules.ts';
import { leaseOf } from '../../../domain/review/review-assignments/review-leases.mutations.ts';
import { extendLease, releaseLease } from './lease-changes.ts';
import { orgAddress } from '../../../domain/orgs/crm-orgs/org-rules.ts';
import {
  AssignmentIn,
  AssignmentsQuery,
  ExtendIn,
  ExtendOut,
  ReviewAssignment,
  ReviewAssignments,
} from './review-assignments.schemas.ts';

const GROUP = 'Review assignments';
const ENDS = [
  'review_assignment.released',
  'review_assignment.expired',
  'review_assignment.assigned',
  'browser_session.ended',
];

/** An assignment as returned to clients. */
const view = (
  publicUrl: string,
  { assignmentKey, targetType, targetName, orgUsername, ...assignment }: AssignmentRow,
) => ({
  ...assignment,
  assignmentId: assignmentKey,
  poolTag: targetType === 'pool' ? targetName : null,
  environmentName: targetType === 'environment' ? targetName : null,
  instance: orgUsername === null ? null : { username: orgUsername, orgUrl: `${publicUrl}${orgAddress(orgUsername)}` },
  requestedBy: assignment.requestedBy.email,
});

export const reviewAssignmentsRoutes = [
  defineRoute({
    operationId: 'assignReviewEnvironment',
    method: 'post',
    path: '/api/review/assignments',
    group: GROUP,
    summary: 'Get an org of a pool, or a dedicated environment, for a review',
    description: [
      '201: it is active. 200: the key (type and id) has an active assignment already. 202: no org is free, and the request waits behind `position` - 1 others; repeat the request, poll it, or wait for `review_environment.assigned`. `wait: false` and nothing free: 409 `pool_exhausted`.',
      'Without `poolTag` and `environmentName` the best review assignment rule decides; when none matches: 400. Dedicated environments are not exclusive: use environment locks for that. Members request an org of type `user` for themselves alone.',
    ].join('\n\n'),
    roles: ANY_ROLE,
    projectScope: 'row',
    body: AssignmentIn,
    status: 201,
    otherStatuses: [200, 202],
    response: ReviewAssignment,
    errors: ['pool_exhausted'],
    audit: ['review_assignment.requested', ...ENDS],
    async handle({ body }, { tx, adapters, publicUrl }) {
      const { assignment, isNew } = await tx((work) => assign(work, adapters.reviewRules, body));
      const ready = isNew ? 201 : 200;
      return reply(view(publicUrl, assignment), { status: isActive(assignment.state) ? ready : 202 });
    },
  }),
  defineRoute({
    operationId: 'listReviewAssignments',
    method: 'get',
    path: '/api/review/assignments',
    group: GROUP,
    summary: 'List review assignments, the newest first',
    roles: ANY_ROLE,
    projectScope: 'row',
    query: AssignmentsQuery,
    status: 200,
    response: ReviewAssignments,
    async handle(
      { query: { repositoryIdentifier, assignmentId: assignmentKey, limit, offset, ...filter } },
      { reads, publicUrl, requestUrl },
    ) {
      const projectId =
        repositoryIdentifier === undefined ? undefined : (await projectInRequest(reads, repositoryIdentifier)).id;
      const planned = reads.with({ isPlannedAnew: true });
      const page = { limit, offset };
      const { items, total } = await listAssignments(planned, { projectId, assignmentKey, ...filter }, page);
      const shown = items.map((assignment) => view(publicUrl, assignment));
      return pageReply(requestUrl, { ...page, total }, { items: shown, ...page, total });
    },
  }),
  defineRoute({
    operationId: 'getReviewAssignment',
    method: 'get',
    path: '/api/review/assignments/{id}',
    group: GROUP,
    summary: 'Get a review assignment',
    roles: ANY_ROLE,
    projectScope: 'row',
    params: byId,
    status: 200,
    response: ReviewAssignment,
    handle: async ({ params: { id } }, { reads, publicUrl }) => view(publicUrl, await assignmentById(reads, id)),
  }),
  defineRoute({
    operationId: 'extendReviewAssignment',
    method: 'post',
    path: '/api/review/assignments/{id}/extend',
    group: GROUP,
    summary: 'Extend the lease of a review assignment',
    description:
      'The hours count from now, until at most `maxLeaseHours` of the pool after `assignedAt`: 409 beyond, and for an assignment that is not active. An org that ends before shortens it: `warnings` says what was given. Members extend what they requested themselves, and what is assigned to them as `user`; what an application requested, such as the org of a pull request, is changed by owners and applications.',
    roles: ANY_ROLE,
    projectScope: 'row',
    params: byId,
    body: ExtendIn,
    status: 200,
    response: ExtendOut,
    errors: ['invalid_transition'],
    audit: 'review_assignment.extended',
    async handle({ params: { id }, body: { hours } }, scope) {
      const extended = await extendLease({ actor: scope.actor, tx: scope.tx, scope }, id, hours);
      const shortened = shortenedLease(leaseOf(extended), scope.now(), hours);
      return { ...view(scope.publicUrl, extended), warnings: shortened === undefined ? [] : [shortened] };
    },
  }),
  defineRoute({
    operationId: 'releaseReviewAssignment',
    method: 'post',
    path: '/api/review/assignments/{id}/release',
    group: GROUP,
    summary: 'Release a review assignment, or withdraw the request for one',
    description:
      'One that has ended is not changed. A browser session at the org ends. The org becomes what `onRelease` of its pool says. Members release what they requested themselves, and what is assigned to them as `user`; owners and applications release any.',
    roles: ANY_ROLE,
    projectScope: 'row',
    params: byId,
    status: 200,
    response: ReviewAssignment,
    isRepeatable: true,
    audit: ENDS,
    handle: async ({ params: { id } }, scope) =>
      view(scope.publicUrl, await releaseLease({ actor: scope.actor, tx: scope.tx, scope }, id)),
  }),
];
