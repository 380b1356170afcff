import { sql } from 'kysely';
import type { Reads } from '../../kernel/data/fenced-reads.ts';
import { statement } from '../../kernel/data/statement.ts';
import type { ReadDatabase } from '../../kernel/data/tables.ts';
import { notFound } from '../../kernel/shared/errors.ts';
import type { ReviewPoolKey } from '../review.signals.ts';
import type { Tx } from '../../unit-of-work.ts';
import { INSTANCE_STATES, type InstanceCounts, type InstanceState } from './instance-rules.ts';

const POOL_COLUMNS = [
  'o.id',
  'o.projectId',
  'p.identifier as repositoryIdentifier',
  'o.tag',
  'o.type',
  'o.minAvailable',
  'o.maxInstances',
  'o.leaseHours',
  'o.maxLeaseHours',
  'o.onRelease',
  'o.definition',
  'o.isActive',
  'o.version',
  'o.createdAt',
  'o.updatedAt',
  'o.createdBy',
  'o.updatedBy',
  'o.prepareRunId',
  'o.prepareStartedAt',
  'o.prepareFailures',
  'o.prepareError',
  'o.prepareDueAt',
  'o.lowAnnouncedAt',
] as const;

const pools = (db: ReadDatabase) =>
  db
    .selectFrom('review_pool as o')
    .innerJoin('project as p', (join) => join.onRef('p.tenantId', '=', 'o.tenantId').onRef('p.id', '=', 'o.projectId'));

const BY_ID = statement<{ tenantId: string; id: string }>()((db, { tenantId, id }) =>
  pools(db).where('o.tenantId', '=', tenantId).where('o.id', '=', id).select(POOL_COLUMNS),
);
export type PoolRow = Awaited<ReturnType<typeof BY_ID>>[number];

export async function findPool({ db, tenantId }: Reads, id: string): Promise<PoolRow | undefined> {
  const [pool] = await BY_ID(db, { tenantId, id });
  return pool;
}

/** Throws `not_found`. */
export async function poolById(reads: Reads, id: string): Promise<PoolRow> {
  const pool = await findPool(reads, id);
  if (!pool) throw notFound('The pool');
  return pool;
}

const BY_TAG = statement<{ tenantId: string; projectId: string; tag: string }>()((db, { tenantId, projectId, tag }) =>
  pools(db)
    .where('o.tenantId', '=', tenantId)
    .where('o.projectId', '=', projectId)
    .where('o.tag', '=', tag)
    .select(POOL_COLUMNS),
);

export async function poolByTag({ db, tenantId }: Reads, projectId: string, tag: string): Promise<PoolRow | undefined> {
  const [pool] = await BY_TAG(db, { tenantId, projectId, tag });
  return pool;
}

/** A page of pools by repository and tag. */
export async function listPools(
  { db, tenantId }: Reads,
  filter: { projectId?: string | undefined; tag?: string | undefined; isActive?: boolean | undefined },
  { limit, offset }: { limit: number; offset: number },
): Promise<{ items: PoolRow[]; total: number }> {
  let matching = pools(db).where('o.tenantId', '=', tenantId);
  if (filter.projectId !== undefined) matching = matching.where('o.projectId', '=', filter.projectId);
  if (filter.tag !== undefined) matching = matching.where('o.tag', '=', filter.tag);
  if (filter.isActive !== undefined) matching = matching.where('o.isActive', '=', filter.isActive);
  const [items, { total }] = await Promise.all([
    matching
      .orderBy('p.identifier')
      .orderBy('o.tag')
      .limit(sql.lit(limit))
      .offset(sql.lit(offset))
      .select(POOL_COLUMNS)
      .execute(),
    matching.select(sql<number>`count(*)::int`.as('total')).executeTakeFirstOrThrow(),
  ]);
  return { items, total };
}

/** The counts of each of these pools. */
export async function instanceCounts(
  { db, tenantId }: Reads,
  poolIds: readonly string[],
): Promise<(poolId: string) => InstanceCounts> {
  const rows = await db
    .selectFrom('review_instance')
    .where('tenantId', '=', tenantId)
    .where('poolId', '=', sql<string>`any (${poolIds}::uuid[])`)
    .groupBy(['poolId', 'state'])
    .select(['poolId', 'state', sql<number>`count(*)::int`.as('count')])
    .execute();
  return (poolId) => {
    const countOf = (state: InstanceState) =>
      rows.find((row) => row.poolId === poolId && row.state === state)?.count ?? 0;
    return Object.fromEntries(INSTANCE_STATES.map((state) => [state, countOf(state)])) as InstanceCounts;
  };
}

/** Serialises changes of a pool's orgs and of the line for them until this transaction ends. */
export async function lockPool({ db, tenantId }: Tx, poolId: string): Promise<void> {
  await sql`select pg_advisory_xact_lock(hashtextextended(${`${tenantId}/review-pool/${poolId}`}, 2))`.execute(db);
}

/** Locks several pools, in one order everywhere, so that nobody waits for one who waits. */
export async function lockPools(tx: Tx, poolIds: readonly (string | null | undefined)[]): Promise<void> {
  const ids = poolIds.filter((id) => id !== null && id !== undefined);
  for (const id of [...new Set(ids)].toSorted()) await lockPool(tx, id);
}

/** What a pool's workflow is named by. */
export const poolKeyOf = ({ id, tag, repositoryIdentifier }: PoolRow): ReviewPoolKey => ({
  poolId: id,
  poolTag: tag,
  repositoryIdentifier,
});

/** How many rules lead to a pool, and how many assignments have an org of it or wait for one. */
export const countUsers = ({ db, tenantId }: Reads, poolId: string): Promise<{ rules: number; assigned: number }> =>
  db
    .selectNoFrom([
      sql<number>`(select count(*)::int from review_rule where tenant_id = ${tenantId} and pool_id = ${poolId})`.as(
        'rules',
      ),
      sql<number>`(select count(*)::int from review_assignment
        where tenant_id = ${tenantId} and pool_id = ${poolId} and state in ('pending', 'active'))`.as('assigned'),
    ])
    .executeTakeFirstOrThrow();

/** What the workflow of a pool notes of it; no change of its settings, so that its version stays. */
export async function notePool(
  { db, tenantId }: Tx,
  id: string,
  notes: Partial<{
    prepareRunId: string | null;
    prepareStartedAt: Date;
    prepareFailures: number;
    prepareError: string | null;
    prepareDueAt: Date | null;
    lowAnnouncedAt: Date | null;
    checkedAt: Date;
  }>,
): Promise<void> {
  await db.updateTable('review_pool').set(notes).where('tenantId', '=', tenantId).where('id', '=', id).execute();
}

/** The pool for which a run prepares orgs. */
export async function poolOfRun({ db, tenantId }: Reads, runId: string): Promise<PoolRow | undefined> {
  const [pool] = await pools(db)
    .where('o.tenantId', '=', tenantId)
    .where('o.prepareRunId', '=', runId)
    .select(POOL_COLUMNS)
    .execute();
  return pool;
}
