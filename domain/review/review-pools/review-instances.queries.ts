import { sql, type SqlBool } from 'kysely';
import type { Reads } from '../../kernel/data/fenced-reads.ts';
import type { ReadDatabase } from '../../kernel/data/tables.ts';
import { notFound } from '../../kernel/shared/errors.ts';
import type { Tx } from '../../unit-of-work.ts';
import { type InstanceState, isLive, PROVISIONED_WITHIN_SECONDS } from './instance-rules.ts';

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

/** The condition of the partial index on live instances. */
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

export interface AssignedOrg {
  id: string;
  username: string;
  /** Encrypted. */
  cliAuthUrl: string;
}

/** The orgs of that username that are assigned and have a credential: there is one at most. */
export const assignedOrgs = ({ db, tenantId }: Reads, username: string): Promise<AssignedOrg[]> =>
  db
    .selectFrom('review_instance')
    .where('tenantId', '=', tenantId)
    .where(sql<SqlBool>`lower(username) = lower(${username})`)
    .where(IS_LIVE)
    .where('state', '=', sql.lit<InstanceState>('assigned'))
    .where('cliAuthUrl', 'is not', null)
    .select(['id', 'username', sql<string>`cli_auth_url`.as('cliAuthUrl')])
    .execute();

/** Replaces the credential of an org, unless somebody has done so since it was read. Both are encrypted. */
export async function replaceCredential(
  { db, tenantId }: Tx,
  id: string,
  { before, after }: { before: string; after: string },
): Promise<void> {
  await db
    .updateTable('review_instance')
    .set({ cliAuthUrl: after, updatedAt: sql`now()` })
    .where('tenantId', '=', tenantId)
    .where('id', '=', id)
    .where('cliAuthUrl', '=', before)
    .execute();
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
