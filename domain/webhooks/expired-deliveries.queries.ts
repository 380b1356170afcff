import type { Pool } from 'pg';

// Pending deliveries of a webhook that is off wait for it, but not longer than the log is kept.
const PURGE = `
  with outlived as (
    select old.tenant_id, old.id from webhook w cross join lateral (
      select d.tenant_id, d.id from webhook_delivery d
      where d.webhook_id = w.id and d.created_at < now() - make_interval(days => $1)
        and (d.status <> 'pending' or w.status <> 'active')
      order by d.created_at limit $2) old
    limit $2),
  attempts as (
    delete from webhook_attempt a using outlived o where a.tenant_id = o.tenant_id and a.delivery_id = o.id)
  delete from webhook_delivery d using outlived o where d.tenant_id = o.tenant_id and d.id = o.id`;
const PURGE_BATCH = 2_000;

/**
 * Removes deliveries, with their tries, that are older than `days`, in batches; answers how many.
 * @param pool connections of the lanes' role.
 */
export async function purgeDeliveries(pool: Pool, days: number): Promise<number> {
  let total = 0;
  for (;;) {
    const { rowCount } = await pool.query(PURGE, [days, PURGE_BATCH]);
    total += rowCount ?? 0;
    if ((rowCount ?? 0) < PURGE_BATCH) return total;
  }
}
