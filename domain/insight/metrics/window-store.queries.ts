import { type RawBuilder, sql } from 'kysely';
import type { Database } from '../../kernel/data/tables.ts';
import type { MetricType } from './series-rules.ts';

/** A window that the store does not have as it is now. */
export interface UnsentWindow {
  tenantId: string;
  series: string;
  name: string;
  type: MetricType;
  labels: Record<string, string>;
  /** End of the window as the database writes it, which names the window. */
  endsAt: string;
  /** Epoch milliseconds. */
  lastAt: number;
  last: number;
  count: number;
  sum: number;
  revision: number;
}

/** Expired rows are removed in pieces, so that none of the statements takes long. */
const PIECE_MAX_ROWS = 50_000;
/** Clocks of the store and the database may differ by as much. */
const SKEW_SECONDS = 5;

/** Statements of the system role, which sees the windows of all tenants. */
export const createWindowStore = (system: Database, pieceRows = PIECE_MAX_ROWS) => ({
  /** Tenants of whom windows wait: one look at the index each, however many windows there are. */
  async waitingTenants(): Promise<string[]> {
    const { rows } = await sql<{ tenantId: string }>`
      with recursive waiting as (
        (select tenant_id from metric_window where not is_sent order by tenant_id limit 1)
        union all
        select (select w.tenant_id from metric_window w
          where not w.is_sent and w.tenant_id > waiting.tenant_id order by w.tenant_id limit 1)
        from waiting where waiting.tenant_id is not null)
      select tenant_id as "tenantId" from waiting where tenant_id is not null`.execute(system);
    return rows.map(({ tenantId }) => tenantId);
  },

  /** Windows of each tenant that changed since they were sent, the oldest first, at most `share` of each. */
  async unsent(tenants: readonly string[], share: number): Promise<UnsentWindow[]> {
    const { rows } = await sql<UnsentWindow>`
      with unsent as materialized (
        select w.* from unnest(${tenants}::uuid[]) t (id) cross join lateral (
          select * from metric_window where tenant_id = t.id and not is_sent
          order by ends_at limit ${sql.lit(share)}) w)
      select w.tenant_id as "tenantId", w.series, s.name, s.type, s.labels, w.ends_at::text as "endsAt",
        (extract(epoch from w.last_at) * 1000)::float8 as "lastAt", w.last, w.count, w.sum, w.revision
      from unsent w join metric_series s on s.tenant_id = w.tenant_id and s.series = w.series`.execute(system);
    return rows;
  },

  /**
   * Notes that these states are in the store; windows that have changed since stay unsent, as do the ones that are being
   * changed: to wait for them could be to wait in a circle.
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
      update metric_window w set is_sent = true, sent_at = now() from unchanged
      where w.tenant_id = unchanged.tenant_id and w.series = unchanged.series
        and w.ends_at = unchanged.ends_at`.execute(system);
  },

  /**
   * Windows that a store may have lost when it died are unsent again: those of the last `seconds` in which it took any
   * before it started at `startedAt` (epoch seconds). Those that are being changed become unsent by that. Answers how many.
   */
  async unsendBefore(startedAt: number, seconds: number): Promise<number> {
    const before = sql`to_timestamp(${startedAt - SKEW_SECONDS}::float8)`;
    const { numAffectedRows } = await sql`
      with lost as materialized (
        select tenant_id, series, ends_at from metric_window
        where is_sent and sent_at < to_timestamp(${startedAt + SKEW_SECONDS}::float8) and sent_at >= coalesce(
          (select max(sent_at) from metric_window where is_sent and sent_at < ${before}), ${before})
          - make_interval(secs => ${seconds})
        for no key update skip locked)
      update metric_window w set is_sent = false from lost
      where w.tenant_id = lost.tenant_id and w.series = lost.series and w.ends_at = lost.ends_at`.execute(system);
    return Number(numAffectedRows ?? 0n);
  },

  /** Whether there is anything to send. */
  async hasUnsent(): Promise<boolean> {
    const { rows } = await sql`select from metric_window where not is_sent limit 1`.execute(system);
    return rows.length > 0;
  },

  /**
   * Removes sent windows to which no event can come any more, series without windows, and old sums, until the time is
   * up; the rest is for the next time. Answers how many.
   */
  async purge(keptHours: number, keptDays: number, timeMs: number): Promise<number> {
    const endAt = performance.now() + timeMs;
    const inPieces = async (statement: RawBuilder<unknown>): Promise<number> => {
      let removed = 0;
      while (performance.now() < endAt) {
        const piece = Number((await statement.execute(system)).numAffectedRows ?? 0n);
        removed += piece;
        if (piece < pieceRows) break;
      }
      return removed;
    };
    const windows = await inPieces(sql`
      delete from metric_window where is_sent and ctid = any (array(
        select ctid from metric_window
        where ends_at < now() - make_interval(hours => ${keptHours}) and is_sent limit ${sql.lit(pieceRows)}))`);
    const series = await inPieces(sql`
      delete from metric_series where ctid = any (array(
        select s.ctid from metric_series s
        where first_day < current_date - 3 and not exists (
          select from metric_window w where w.tenant_id = s.tenant_id and w.series = s.series)
        limit ${sql.lit(pieceRows)}))`);
    await sql`delete from metric_series_day where day < current_date - 3`.execute(system);
    await sql`delete from ai_usage_day where day < current_date - ${keptDays}::int`.execute(system);
    return windows + series;
  },
});
