import { sql } from 'kysely';
import type { Reads } from '../data/fenced-reads.ts';
import type { Database } from '../data/tables.ts';
import type { Tx } from '../unit-of-work.ts';
import { type AiMeasure, type AiUsageChange } from './ai-usage-rules.ts';
import type { WindowChange } from './event-rules.ts';
import type { MetricType } from './series-rules.ts';

/** Adds changes to their windows, each of which is given once. In one order for all, so that none waits in a circle. */
export async function addToWindows({ db, tenantId }: Tx, changes: readonly WindowChange[]): Promise<void> {
  await sql`
    insert into metric_window as w (tenant_id, series, ends_at, last_at, last, count, sum)
    select ${tenantId}, id, to_timestamp(ends_at / 1000), to_timestamp(last_at / 1000), last, count, sum
    from unnest(${changes.map(({ series }) => series.id)}::uuid[], ${changes.map(({ endsAt }) => endsAt)}::float8[],
      ${changes.map(({ lastAt }) => lastAt)}::float8[], ${changes.map(({ last }) => last)}::float8[],
      ${changes.map(({ count }) => count)}::float8[], ${changes.map(({ sum }) => sum)}::float8[])
      as given (id, ends_at, last_at, last, count, sum)
    order by id, ends_at
    on conflict (tenant_id, series, ends_at) do update set
      last = case when (excluded.last_at, excluded.last) > (w.last_at, w.last) then excluded.last else w.last end,
      last_at = greatest(excluded.last_at, w.last_at),
      count = w.count + excluded.count,
      sum = w.sum + excluded.sum,
      revision = w.revision + 1,
      is_sent = false`.execute(db);
}

/** How many windows there are, as the database estimates it without reading them. */
export async function estimatedWindows({ db }: Reads): Promise<number> {
  const {
    rows: [row],
  } = await sql<{ windows: number }>`
    select pg_stat_get_live_tuples('metric_window'::regclass)::float8 as windows`.execute(db);
  return row?.windows ?? 0;
}

/** Adds up the use of AI; repositories that are not registered are left out. */
export async function addAiUsage({ db, tenantId }: Tx, changes: readonly AiUsageChange[]): Promise<void> {
  await sql`
    insert into ai_usage_day as u (tenant_id, project_id, day, measure, amount)
    select ${tenantId}, p.id, given.day, given.measure, given.amount
    from unnest(${changes.map(({ repositoryIdentifier }) => repositoryIdentifier)}::text[],
      ${changes.map(({ day }) => day)}::date[], ${changes.map(({ measure }) => measure)}::text[],
      ${changes.map(({ amount }) => amount)}::float8[]) as given (repository, day, measure, amount)
    join project p on p.tenant_id = ${tenantId} and p.identifier = given.repository
    order by p.id, given.day, given.measure
    on conflict (tenant_id, project_id, day, measure) do update set amount = u.amount + excluded.amount`.execute(db);
}

/** The use of AI that was reported of a project since a day, the day included. */
export const aiUsageSince = ({ db, tenantId }: Reads, projectId: string, day: string) =>
  db
    .selectFrom('ai_usage_day')
    .where('tenantId', '=', tenantId)
    .where('projectId', '=', projectId)
    .where('day', '>=', day)
    .groupBy('measure')
    .select(['measure', sql<number>`sum(amount)`.as('amount')])
    .$narrowType<{ measure: AiMeasure }>()
    .execute();

/** A window that the store does not have as it is now. */
export interface UnsentWindow {
  tenantId: string;
  series: string;
  name: string;
  type: MetricType;
  labels: Record<string, string>;
  /** As the database writes it: names the window. */
  endsAt: string;
  /** Epoch milliseconds. */
  lastAt: number;
  last: number;
  count: number;
  sum: number;
  revision: number;
}

/** Statements of the system role, which sees the windows of all tenants. */
export const createWindowStore = (system: Database) => ({
  /** Windows that changed since they were sent, those of a tenant together. */
  async unsent(limit: number): Promise<UnsentWindow[]> {
    const { rows } = await sql<UnsentWindow>`
      with unsent as materialized (
        select * from metric_window where not is_sent order by tenant_id limit ${sql.lit(limit)})
      select w.tenant_id as "tenantId", w.series, s.name, s.type, s.labels, w.ends_at::text as "endsAt",
        (extract(epoch from w.last_at) * 1000)::float8 as "lastAt", w.last, w.count, w.sum, w.revision
      from unsent w join metric_series s on s.tenant_id = w.tenant_id and s.series = w.series
      order by w.tenant_id`.execute(system);
    return rows;
  },

  /**
   * These states are in the store; windows that have changed since stay unsent, as do those that are being changed: to
   * wait for them could be to wait in a circle.
   */
  async markSent(windows: readonly UnsentWindow[]): Promise<void> {
    await sql`
      with unchanged as materialized (
        select w.tenant_id, w.series, w.ends_at
        from unnest(${windows.map(({ tenantId }) => tenantId)}::uuid[], ${windows.map(({ series }) => series)}::uuid[],
          ${windows.map(({ endsAt }) => endsAt)}::timestamptz[], ${windows.map(({ revision }) => revision)}::int[])
          as sent (tenant_id, series, ends_at, revision)
        join metric_window w using (tenant_id, series, ends_at, revision)
        for no key update of w skip locked)
      update metric_window w set is_sent = true from unchanged
      where w.tenant_id = unchanged.tenant_id and w.series = unchanged.series
        and w.ends_at = unchanged.ends_at`.execute(system);
  },

  /** Whether there is anything to send. */
  async hasUnsent(): Promise<boolean> {
    const { rows } = await sql`select from metric_window where not is_sent limit 1`.execute(system);
    return rows.length > 0;
  },

  /** Removes sent windows to which no event can come any more, series without windows, and old sums. Answers how many. */
  async purge(keptHours: number, keptDays: number): Promise<number> {
    const windows = await sql`
      delete from metric_window
      where ends_at < now() - make_interval(hours => ${keptHours}) and is_sent`.execute(system);
    const series = await sql`
      delete from metric_series s
      where first_day < current_date - 3 and not exists (
        select from metric_window w where w.tenant_id = s.tenant_id and w.series = s.series)`.execute(system);
    await sql`delete from metric_series_day where day < current_date - 3`.execute(system);
    await sql`delete from ai_usage_day where day < current_date - ${keptDays}::int`.execute(system);
    return Number((windows.numAffectedRows ?? 0n) + (series.numAffectedRows ?? 0n));
  },
});
