import { projectInRequest } from '../../../domain/projects/projects/projects.queries.ts';
import { createPool, removePool, updatePool } from '../../../domain/review/review-pools/review-pools.mutations.ts';
import {
  instanceCounts,
  listPools,
  poolById,
  type PoolRow,
} from '../../../domain/review/review-pools/review-pools.queries.ts';
import { builderOf, poolWarnings } from '../../../domain/review/review-pools/pool-builder.ts';
import type { Commands } from '../../../domain/delivery/flows/programs/commands-file.ts';
import type { Reads } from '../../../domain/kernel/data/fenced-reads.ts';
import { ANY_ROLE, defineRoute } from '../../http/define-route.ts';
import { byId, NoContent } from '../../http/parameters.ts';
import { pageReply } from '../../http/replies.ts';
import type { Scope } from '../../http/scope.ts';
import {
  ReviewPoolIn,
  ReviewPoolPatch,
  ReviewPools,
  ReviewPoolsQuery,
  ReviewPoolWithWarnings,
} from './review-pools.schemas.ts';

const GROUP = 'Review pools';

/** Pools as returned to clients. */
async function views(reads: Reads, commands: Commands, pools: readonly PoolRow[]) {
  const countsOf = await instanceCounts(
    reads,
    pools.map(({ id }) => id),
  );
  return pools.map(({ projectId: _p, prepareRunId: _r, prepareStartedAt: _s, lowAnnouncedAt: _l, ...pool }) => ({
    ...pool,
    builder: builderOf(pool, commands),
    instances: countsOf(pool.id),
  }));
}

const view = async (reads: Reads, { flows: { commands } }: Scope['adapters'], pool: PoolRow) => {
  const [shown] = await views(reads, commands, [pool]);
  if (!shown) throw new Error('a pool has no view');
  return { ...shown, warnings: poolWarnings(pool, commands) };
};

export const reviewPoolsRoutes = [
  defineRoute({
    operationId: 'createReviewPool',
    method: 'post',
    path: '/api/review/pools',
    group: GROUP,
    summary: 'Create a pool of review orgs',
    roles: ['owner'],
    projectScope: 'row',
    body: ReviewPoolIn,
    status: 201,
    response: ReviewPoolWithWarnings,
    errors: ['already_exists'],
    audit: 'review_pool.created',
    handle: ({ body: { repositoryIdentifier, ...input } }, { tx, adapters }) =>
      tx(async (work) => {
        const project = await projectInRequest(work, repositoryIdentifier);
        return view(work, adapters, await createPool(work, project, input));
      }),
  }),
  defineRoute({
    operationId: 'listReviewPools',
    method: 'get',
    path: '/api/review/pools',
    group: GROUP,
    summary: 'List pools of review orgs, by repository and tag',
    roles: ANY_ROLE,
    projectScope: 'row',
    query: ReviewPoolsQuery,
    status: 200,
    response: ReviewPools,
    async handle({ query: { repositoryIdentifier, limit, offset, ...filter } }, { reads, adapters, requestUrl }) {
      const projectId =
        repositoryIdentifier === undefined ? undefined : (await projectInRequest(reads, repositoryIdentifier)).id;
      const { items, total } = await listPools(reads, { projectId, ...filter }, { limit, offset });
      const page = { limit, offset, total };
      return pageReply(requestUrl, page, { items: await views(reads, adapters.flows.commands, items), ...page });
    },
  }),
  defineRoute({
    operationId: 'getReviewPool',
    method: 'get',
    path: '/api/review/pools/{id}',
    group: GROUP,
    summary: 'Get a pool of review orgs',
    roles: ANY_ROLE,
    projectScope: 'row',
    params: byId,
    status: 200,
    response: ReviewPoolWithWarnings,
    handle: async ({ params: { id } }, { reads, adapters }) => view(reads, adapters, await poolById(reads, id)),
  }),
  defineRoute({
    operationId: 'updateReviewPool',
    method: 'patch',
    path: '/api/review/pools/{id}',
    group: GROUP,
    summary: 'Update a pool of review orgs',
    description:
      'Absent fields are not changed; `definition` is replaced as a whole. Leases that were given stay as they are.',
    roles: ['owner'],
    projectScope: 'row',
    params: byId,
    body: ReviewPoolPatch,
    status: 200,
    response: ReviewPoolWithWarnings,
    errors: ['version_conflict'],
    audit: 'review_pool.updated',
    handle: ({ params: { id }, body }, { tx, adapters }) =>
      tx(async (work) => view(work, adapters, await updatePool(work, id, body))),
  }),
  defineRoute({
    operationId: 'deleteReviewPool',
    method: 'delete',
    path: '/api/review/pools/{id}',
    group: GROUP,
    summary: 'Delete a pool of review orgs',
    description: 'The orgs themselves are left alone. While rules lead to it, or its orgs are assigned: 409.',
    roles: ['owner'],
    projectScope: 'row',
    params: byId,
    status: 204,
    response: NoContent,
    errors: ['invalid_transition'],
    audit: 'review_pool.deleted',
    handle: ({ params: { id } }, { tx }) => tx((work) => removePool(work, id)),
  }),
];
