import { sql } from 'kysely';
import { batch } from '../../kernel/data/batches.ts';
import type { Reads } from '../../kernel/data/fenced-reads.ts';
import type { Database } from '../../kernel/data/tables.ts';
import type { Tx } from '../../unit-of-work.ts';
import type { UsedAt } from './forecast-rules.ts';
import type { LimitState, WorstLimit } from './limit-state-rules.ts';
import type { PollFailure } from './org-limits.entities.ts';
import type { ClaimedOrg } from './poll-claims.queries.ts';

/** Exact: a timestamp has milliseconds, which a double holds. */
export const EPOCH_MS = sql<number>`(extract(epoch from sampled_at) * 1000)::float8`;

/** The samples of an org in a span, the oldest first. */
export const samplesOfOrg = ({ db, tenantId }: Reads, orgId: string, { start, end }: { start: number; end: number }) =>
  db
    .selectFrom('org_limit_sample')
    .where('tenantId', '=', tenantId)
    .where('orgId', '=', orgId)
    .where('sampledAt', '>=', new Date(start).toISOString())
    .where('sampledAt', '<', new Date(end).toISOString())
    .orderBy('sampledAt')
    .select([
      EPOCH_MS.as('at'),
      sql<(number | null)[]>`to_json(used)`.as('used'),
      sql<(number | null)[]>`to_json(max)`.as('max'),
    ])
    .execute();

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

/** Removes samples of more than 8 days and hours of more than 400, in batches; answers how many. */
export async function purgeSamples(system: Database): Promise<number> {
  const samples = await inBatches(() => PURGE_SAMPLES.execute(system));
  return samples + (await inBatches(() => PURGE_HOURS.execute(system)));
}
