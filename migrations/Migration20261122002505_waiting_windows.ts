import { Migration } from '@mikro-orm/migrations';
import { privileged } from './fences.ts';

/**
 * Windows that wait for the store are found by tenant, the oldest first, and counted to bound them; those that were sent
 * are found by when, so that what a store lost when it died is sent again.
 */
export class WaitingWindows extends Migration {
  override up(): void {
    this.addSql(`
      drop index metric_window_tenant_id_idx;
      create index metric_window_unsent on metric_window (tenant_id, ends_at) where not is_sent;
      alter table metric_window add sent_at timestamptz(3);
      create index metric_window_sent on metric_window (sent_at) where is_sent`);
    // A plan that was made while the table was empty would read all rows.
    this.addSql(`
      create function waiting_metric_windows() returns table (tenant_id uuid, windows int)
        language sql stable security definer set search_path = public, pg_temp set enable_seqscan = off as $$
        select w.tenant_id, count(*)::int from metric_window w where not w.is_sent group by w.tenant_id $$;
      ${privileged('waiting_metric_windows()')}`);
  }
}
