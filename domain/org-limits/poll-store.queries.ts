import { sql } from 'kysely';
import { batch } from '../data/batches.ts';
import type { Reads } from '../data/fenced-reads.ts';
import { statement } from '../data/statement.ts';
import type { Database, ReadDatabase } from '../data/tables.ts';
import type { TenantKey } from '../shared/actor.ts';
import { tenantSlugOf } from '../tenants/tenants.queries.ts';
import type { Tx } from '../unit-of-work.ts';
import type { UsedAt } from './forecast-rules.ts';
import type { LimitState, WorstLimit } from './limit-state-rules.ts';
import type { PollFailure } from './org-limits.entities.ts';

/** Longer than a poll takes: a poll in a process that died is repeated after this at the latest. */
const LEASE_SECONDS = 180;
const FORCED_EVERY_SECONDS = 60;

/** An org that one process polls; another claim makes this one void. */
export interface ClaimedOrg {
  orgId: string;
  claim: number;
}

const LEASED_UNTIL = sql<string>`now() + make_interval(secs => ${sql.lit(LEASE_SECONDS)})`;

// An org that was found to work again since its last poll failed need not wait.
const IS_DUE = sql<boolean>`
  (s.due_at <= now() or (s.failures > 0 and o.health_status = 'ok' and o.health_checked_at > s.attempted_at))
  and o.health_status <> 'auth_failed' and (s.lease_until is null or s.lease_until <= now())`;

const statesWithOrgs = (db: ReadDatabase) =>
  db
    .selectFrom('org_limit_state as s')
    .innerJoin('crm_org as o', (join) => join.onRef('o.tenantId', '=', 's.tenantId').onRef('o.id', '=', 's.orgId'));

const CLAIM = statement<{ tenantId: string; limit: number }>()((db, { tenantId, limit }) =>
  db
    .updateTable('org_limit_state as claimed')
    .from(
      statesWithOrgs(db)
        .where('s.tenantId', '=', tenantId)
        .where(IS_DUE)
        // Orgs that answer do not wait for those that may hang.
        .orderBy(sql`s.failures > 0`)
        .orderBy('s.dueAt')
        .limit(limit)
        .forUpdate('s')
        .skipLocked()
        .select('s.orgId')
        .as('due'),
    )
    .set((eb) => ({ claims: eb('claimed.claims', '+', 1), leaseUntil: LEASED_UNTIL }))
    .where('claimed.tenantId', '=', tenantId)
    .whereRef('claimed.orgId', '=', 'due.orgId')
    .returning(['claimed.orgId', 'claimed.claims as claim']),
);

/** Statements of the role of the system, which claims for all tenants. */
export type PollStore = ReturnType<typeof createPollStore>;

export const createPollStore = (system: Database) => ({
  claim: ({ tenantId }: TenantKey, limit: number): Promise<ClaimedOrg[]> => CLAIM(system, { tenantId, limit }),

  /** Gives claims back whose poll came to nothing. */
  async release({ tenantId }: TenantKey, orgs: readonly ClaimedOrg[]): Promise<void> {
    await system
      .updateTable('org_limit_state as s')
      .from(batch('mine', orgs, { orgId: 'uuid', claim: 'int' }))
      .set({ leaseUntil: null })
      .where('s.tenantId', '=', tenantId)
      .whereRef('s.orgId', '=', 'mine.orgId')
      .whereRef('s.claims', '=', 'mine.claim')
      .execute();
  },

  /** Gives back all that a lost pump of the tenant held; what it may still learn is void. */
  async releaseAll({ tenantId }: TenantKey): Promise<void> {
    await system
      .updateTable('org_limit_state')
      .set((eb) => ({ leaseUntil: null, claims: eb('claims', '+', 1) }))
      .where('tenantId', '=', tenantId)
      .where('leaseUntil', 'is not', null)
      .execute();
  },

  /** Registered orgs have a state from now on, and are due at once. */
  async addMissing(): Promise<void> {
    await system
      .insertInto('org_limit_state')
      .columns(['tenantId', 'orgId'])
      .expression((eb) =>
        eb
          .selectFrom('crm_org as o')
          .leftJoin('org_limit_state as s', (join) =>
            join.onRef('s.tenantId', '=', 'o.tenantId').onRef('s.orgId', '=', 'o.id'),
          )
          .where('s.orgId', 'is', null)
          .select(['o.tenantId', 'o.id']),
      )
      .onConflict((conflict) => conflict.doNothing())
      .execute();
  },

  /** Tenants with orgs to poll. */
  dueTenants: (limit: number): Promise<TenantKey[]> =>
    system
      .selectFrom(statesWithOrgs(system).where(IS_DUE).select('s.tenantId').distinct().limit(limit).as('due'))
      .select(['due.tenantId', tenantSlugOf('due.tenantId')])
      .execute(),

  /** Removes samples of more than 8 days and hours of more than 400, in batches; answers how many. */
  async purge(): Promise<number> {
    const samples = await inBatches(() => PURGE_SAMPLES.execute(system));
    return samples + (await inBatches(() => PURGE_HOURS.execute(system)));
  },
});

const PURGE_BATCH = 5_000;
const PURGE_SAMPLES = sql`
  delete from org_limit_sample where ctid = any (array(
    select ctid from org_limit_sample where sampled_at < now() - interval '8 days' limit ${sql.lit(PURGE_BATCH)}))`;
const PURGE_HOURS = sql`
  delete from org_limit_hour where ctid = any (array(
    select ctid from org_limit_hour where hour < now() - interval '400 days' limit ${sql.lit(PURGE_BATCH)}))`;

async function inBatches(remove: () => Promise<{ numAffectedRows?: bigint }>): Promise<number> {
  for (let total = 0; ; ) {
    const removed = Number((await remove()).numAffectedRows ?? 0);
    total += removed;
    if (removed < PURGE_BATCH) return total;
  }
}

/** Claims one org for somebody who waits; undefined while another process polls it, and within a minute of such a claim. */
export async function claimNow({ db, tenantId }: Tx, orgId: string): Promise<ClaimedOrg | undefined> {
  const now = sql<string>`now()`;
  const row = await db
    .insertInto('org_limit_state')
    .values({ tenantId, orgId, claims: 1, leaseUntil: LEASED_UNTIL, forcedAt: now })
    .onConflict((conflict) =>
      conflict
        .columns(['tenantId', 'orgId'])
        .doUpdateSet((eb) => ({
          claims: eb('org_limit_state.claims', '+', 1),
          leaseUntil: LEASED_UNTIL,
          forcedAt: now,
        }))
        .where(
          sql<boolean>`coalesce(org_limit_state.lease_until <= now(), true)
            and coalesce(org_limit_state.forced_at <= now() - make_interval(secs => ${sql.lit(FORCED_EVERY_SECONDS)}), true)`,
        ),
    )
    .returning(['orgId', 'claims as claim'])
    .executeTakeFirst();
  return row;
}

/** Whether somebody polls an org now, and why its last poll failed. */
export const pollUnderWay = ({ db, tenantId }: Reads, orgId: string) =>
  db
    .selectFrom('org_limit_state')
    .where('tenantId', '=', tenantId)
    .where('orgId', '=', orgId)
    .select([sql<boolean>`coalesce(lease_until > now(), false)`.as('isLeased'), 'failure'])
    .executeTakeFirst();

/**
 * The states of those orgs whose claim still holds, locked until the transaction ends. The orgs are locked first, in the
 * order in which a deletion locks them.
 */
export async function claimedStates({ db, tenantId }: Tx, claimed: readonly ClaimedOrg[]) {
  const ids = claimed.map(({ orgId }) => orgId);
  const orgs = await db
    .selectFrom('crm_org as o')
    .where('o.tenantId', '=', tenantId)
    .where('o.id', '=', sql<string>`any (${ids}::uuid[])`)
    .orderBy('o.id')
    .forNoKeyUpdate()
    .select(['o.id', 'o.username'])
    .execute();
  const states = await db
    .selectFrom('org_limit_state as s')
    .innerJoin(batch('mine', claimed, { orgId: 'uuid', claim: 'int' }), (join) =>
      join.onRef('mine.orgId', '=', 's.orgId').onRef('mine.claim', '=', 's.claims'),
    )
    .where('s.tenantId', '=', tenantId)
    .orderBy('s.orgId')
    .forUpdate('s')
    .select(['s.orgId', 's.failures', 's.limits'])
    .execute();
  const usernames = new Map(orgs.map(({ id, username }) => [id, username]));
  return states.flatMap((state) => {
    const username = usernames.get(state.orgId);
    return username === undefined ? [] : [{ ...state, username }];
  });
}

/** What projects that name these orgs say of limits, by username in lower case: `metricsAlertConfig.orgLimits`. */
export async function limitSettingsByOrg({ db, tenantId }: Reads, usernames: readonly string[]) {
  const names = usernames.map((username) => username.toLowerCase());
  const { rows } = await sql<{ username: string; orgLimits: unknown }>`
    with named as (
      select lower(org.username) as username, e.project_id
      from environment e, unnest(array[e.org_username, e.dev_hub_username]) org (username)
      where e.tenant_id = ${tenantId} and lower(org.username) = any (${names}::text[])
      union
      select lower(hub), p.id
      from project p, jsonb_array_elements_text(case jsonb_typeof(p.configuration->'devHubs') when 'array'
        then p.configuration->'devHubs' else '[]' end) hub
      where p.tenant_id = ${tenantId} and lower(hub) = any (${names}::text[]))
    select n.username, p.configuration->'metricsAlertConfig'->'orgLimits' as "orgLimits"
    from named n join project p on p.tenant_id = ${tenantId} and p.id = n.project_id`.execute(db);
  return Map.groupBy(rows, ({ username }) => username);
}

/** What was used of each limit of these orgs since a time, the oldest first. */
export async function usedSince({ db, tenantId }: Reads, orgIds: readonly string[], since: Date) {
  const rows = await db
    .selectFrom('org_limit_sample')
    .where('tenantId', '=', tenantId)
    .where('orgId', '=', sql<string>`any (${orgIds}::uuid[])`)
    .where('sampledAt', '>', since.toISOString())
    .orderBy('sampledAt')
    .select(['orgId', EPOCH_MS.as('at'), sql<(number | null)[]>`to_json(used)`.as('used')])
    .execute();
  const byOrg = Map.groupBy(rows, ({ orgId }) => orgId);
  return (orgId: string) => {
    const samples = byOrg.get(orgId) ?? [];
    return (place: number): UsedAt[] =>
      samples.flatMap(({ at, used }) => {
        const value = used[place] ?? null;
        return value === null ? [] : [{ at, used: value }];
      });
  };
}

/** Exact: a timestamp has milliseconds, which a double holds. */
export const EPOCH_MS = sql<number>`(extract(epoch from sampled_at) * 1000)::float8`;

/** What one poll of an org came to. */
export interface StoredPoll extends ClaimedOrg {
  at: Date;
  dueAt: Date;
  failure: PollFailure | null;
  failures: number;
  /** Absent when the poll failed: as before. */
  found?: { limits: LimitState[]; worst: WorstLimit | null; peaks: (number | null)[] };
}

const COLUMNS = {
  orgId: 'uuid',
  at: 'timestamptz',
  dueAt: 'timestamptz',
  failure: 'jsonb',
  failures: 'int',
  limits: 'jsonb',
  worst: 'jsonb',
  used: 'bigint[]',
  max: 'bigint[]',
  peaks: 'int[]',
} as const;

/** Writes samples, states, hours and the health of the orgs, in one statement. Their claims end; they are locked. */
export async function storePolls({ db, tenantId }: Tx, polls: readonly StoredPoll[]): Promise<void> {
  const rows = polls.map(({ orgId, at, dueAt, failure, failures, found }) => ({
    orgId,
    at: at.toISOString(),
    dueAt: dueAt.toISOString(),
    failure,
    failures,
    limits: found?.limits ?? null,
    worst: found?.worst ?? null,
    used: found?.limits.map(({ used, max }) => (max === null ? null : used)) ?? null,
    max: found?.limits.map(({ max }) => max) ?? null,
    peaks: found?.peaks ?? null,
  }));
  await sql`
    with outcome as materialized (select * from ${batch('outcome', rows, COLUMNS)}),
    sampled as (
      insert into org_limit_sample (tenant_id, org_id, sampled_at, used, max)
      select ${tenantId}, org_id, at, used, max from outcome where used is not null on conflict do nothing),
    hourly as (
      insert into org_limit_hour as h (tenant_id, org_id, hour, peaks)
      select ${tenantId}, org_id, date_trunc('hour', at, 'UTC'), peaks from outcome where used is not null
      on conflict (tenant_id, org_id, hour) do update set peaks = (
        select array_agg(greatest(a.peak, b.peak) order by place)
        from unnest(h.peaks) with ordinality a (peak, place)
        full join unnest(excluded.peaks) with ordinality b (peak, place) using (place))),
    healthy as (
      update crm_org o
      set health_status = case when f.kind is null then 'ok' when f.kind = 'limited' then 'limited' else 'unreachable' end,
        health_checked_at = outcome.at, health_error = outcome.failure->>'message', health_hint = outcome.failure->>'hint'
      from outcome, lateral (select outcome.failure->>'kind' as kind) f
      where o.tenant_id = ${tenantId} and o.id = outcome.org_id and o.health_status <> 'auth_failed'
        and coalesce(o.health_checked_at < outcome.at, true)
        and (f.kind is null or f.kind in ('limited', 'unreachable', 'timeout', 'malformed')))
    update org_limit_state s
    set due_at = o.due_at, lease_until = null, attempted_at = o.at, failures = o.failures, failure = o.failure,
      polled_at = case when o.used is null then s.polled_at else o.at end,
      limits = case when o.used is null then s.limits else o.limits end,
      worst = case when o.used is null then s.worst else o.worst end
    from outcome o where s.tenant_id = ${tenantId} and s.org_id = o.org_id`.execute(db);
}
