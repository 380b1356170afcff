import { sql, type SqlBool } from 'kysely';
import type { Reads } from '../data/fenced-reads.ts';
import { statement } from '../data/statement.ts';
import type { ReadDatabase } from '../data/tables.ts';
import { notFound } from '../shared/errors.ts';
import type { ReviewPoolKey, Tx } from '../unit-of-work.ts';
import {
  INSTANCE_STATES,
  type InstanceCounts,
  type InstanceState,
  isLive,
  PROVISIONED_WITHIN_SECONDS,
} from './instance-rules.ts';

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

const INSTANCE_COLUMNS = [
  'id',
  'poolId',
  'username',
  'instanceUrl',
  'expiresAt',
  'metadata',
  'state',
  'reason',
  'stateChangedAt',
  'createdAt',
  'updatedAt',
] as const;

const instancesOf = (db: ReadDatabase, tenantId: string, poolId: string) =>
  db.selectFrom('review_instance').where('tenantId', '=', tenantId).where('poolId', '=', poolId);

/** An org of the pool, without its credential. Throws `not_found`. */
export async function instanceById({ db, tenantId }: Reads, poolId: string, id: string) {
  const instance = await instancesOf(db, tenantId, poolId)
    .where('id', '=', id)
    .select(INSTANCE_COLUMNS)
    .executeTakeFirst();
  if (!instance) throw notFound('The org');
  return instance;
}
export type InstanceRow = Awaited<ReturnType<typeof instanceById>>;

/** A page of a pool's orgs, the newest first. */
export async function listInstances(
  { db, tenantId }: Reads,
  poolId: string,
  state: InstanceState | undefined,
  { limit, offset }: { limit: number; offset: number },
): Promise<{ items: InstanceRow[]; total: number }> {
  const all = instancesOf(db, tenantId, poolId);
  const matching = state === undefined ? all : all.where('state', '=', state);
  const [items, { total }] = await Promise.all([
    matching
      .orderBy('createdAt', 'desc')
      .orderBy('id', 'desc')
      .limit(sql.lit(limit))
      .offset(sql.lit(offset))
      .select(INSTANCE_COLUMNS)
      .execute(),
    matching.select(sql<number>`count(*)::int`.as('total')).executeTakeFirstOrThrow(),
  ]);
  return { items, total };
}

/** As the partial index has it. */
const IS_LIVE = sql<SqlBool>`state in ('provisioning', 'available', 'assigned', 'refreshing')`;

/** The live instance of that username, in whatever pool that the caller sees. */
export const liveInstance = ({ db, tenantId }: Reads, username: string) =>
  db
    .selectFrom('review_instance')
    .where('tenantId', '=', tenantId)
    .where(sql<SqlBool>`lower(username) = lower(${username})`)
    .where(IS_LIVE)
    .select(INSTANCE_COLUMNS)
    .executeTakeFirst();

export async function countLive({ db, tenantId }: Reads, poolId: string): Promise<number> {
  const { count } = await instancesOf(db, tenantId, poolId)
    .where(IS_LIVE)
    .select(sql<number>`count(*)::int`.as('count'))
    .executeTakeFirstOrThrow();
  return count;
}

/**
 * Moves an org into a state; one that ends loses its credential.
 * @param move.preparedBy the run that does so; without it the org keeps the one it has.
 */
export async function moveInstance(
  { db, tenantId }: Tx,
  id: string,
  move: { state: InstanceState; reason: string | null; preparedBy?: string | null },
): Promise<void> {
  await db
    .updateTable('review_instance')
    .set({
      ...move,
      ...(!isLive(move.state) && { cliAuthUrl: null }),
      stateChangedAt: sql`clock_timestamp()`,
      updatedAt: sql`now()`,
    })
    .where('tenantId', '=', tenantId)
    .where('id', '=', id)
    .execute();
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

/** Orgs of a pool that have ended, and are still in it. */
export const endedInstances = ({ db, tenantId }: Reads, poolId: string, now: Date) =>
  instancesOf(db, tenantId, poolId)
    .where(IS_LIVE)
    .where('expiresAt', '<=', now.toISOString())
    .select(['id', 'state'])
    .execute();

const PROVISIONED_UNTIL = sql<Date>`state_changed_at + make_interval(secs => ${sql.lit(PROVISIONED_WITHIN_SECONDS)})`;

/** Orgs of a pool that should have become available by now. */
export const overdueInstances = ({ db, tenantId }: Reads, poolId: string, now: Date) =>
  instancesOf(db, tenantId, poolId)
    .where('state', '=', sql.lit<InstanceState>('provisioning'))
    .where(PROVISIONED_UNTIL, '<=', now)
    .select('id')
    .execute();

/** Orgs that a run registered, and did not make available. */
export const unfinishedInstances = ({ db, tenantId }: Reads, poolId: string, runId: string) =>
  instancesOf(db, tenantId, poolId)
    .where('state', '=', sql.lit<InstanceState>('provisioning'))
    .where('preparedBy', '=', runId)
    .select('id')
    .execute();

/** When the next org of a pool ends, or should have become available. */
export async function nextInstanceEnd({ db, tenantId }: Reads, poolId: string): Promise<Date | null> {
  const { next } = await instancesOf(db, tenantId, poolId)
    .where(IS_LIVE)
    .select(
      sql<string | null>`min(least(expires_at, case when state = 'provisioning' then ${PROVISIONED_UNTIL} end))`.as(
        'next',
      ),
    )
    .executeTakeFirstOrThrow();
  return next === null ? null : new Date(next);
}

/** Usernames of the orgs of a pool that builders are to refresh. */
export const refreshingInstances = ({ db, tenantId }: Reads, poolId: string) =>
  instancesOf(db, tenantId, poolId)
    .where('state', '=', sql.lit<InstanceState>('refreshing'))
    .orderBy('stateChangedAt')
    .select('username')
    .execute();

/** Whether a run registered an org of the pool, or made one available. */
export async function hasPrepared({ db, tenantId }: Reads, poolId: string, runId: string): Promise<boolean> {
  const made = await instancesOf(db, tenantId, poolId)
    .where('preparedBy', '=', runId)
    .limit(sql.lit(1))
    .select('id')
    .executeTakeFirst();
  return made !== undefined;
}

/** What the workflow of a pool notes of it; no change of its settings, so that its version stays. */
export async function notePool(
  { db, tenantId }: Tx,
  id: string,
  notes: Partial<{
    prepareRunId: string | null;
    prepareStartedAt: Date;
    prepareFailures: number;
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
