import { sql } from 'kysely';
import { DomainError } from '../../kernel/shared/errors.ts';
import type { Tx } from '../../unit-of-work.ts';

/** Counting reads an index of all windows that wait: it may take a twentieth of the time. */
const [COUNTED_EVERY_MS, REST_PER_MS_OF_COUNTING] = [1_000, 20];
/**
 * A tenant may have so many times what is free: alone it fills four fifths, and whatever some do there is room for others
 * (as in "Dynamic queue length thresholds for shared-memory packet switches", Choudhury and Hahne, 1998).
 */
const TIMES_FREE = 4;
const RETRY_AFTER_SECONDS = '30';

/** Throws `unavailable` when a tenant has no room for more windows that wait for the store. */
export type AssertRoom = (tx: Tx) => Promise<void>;

/** @param bufferRows how many windows of all tenants may wait; some more do, as they are counted from time to time. */
export function createBufferRoom(bufferRows: number): AssertRoom {
  let counted: { byTenant: ReadonlyMap<string, number>; total: number } = { byTenant: new Map(), total: 0 };
  let staleAt = -Infinity;
  return async (tx) => {
    const began = performance.now();
    if (began > staleAt) {
      // Requests that come meanwhile go by the last count.
      staleAt = Infinity;
      try {
        counted = await waitingWindows(tx);
      } finally {
        const now = performance.now();
        staleAt = now + Math.max(COUNTED_EVERY_MS, (now - began) * REST_PER_MS_OF_COUNTING);
      }
    }
    const own = counted.byTenant.get(tx.tenantId) ?? 0;
    const free = Math.max(0, bufferRows - counted.total);
    if (own < TIMES_FREE * free) return;
    throw new DomainError(
      'unavailable',
      free > 0
        ? 'Too many metrics of the tenant wait for the store; send these again later'
        : 'Too many metrics wait for the store; send these again later',
      { headers: { 'Retry-After': RETRY_AFTER_SECONDS } },
    );
  };
}

/** How many windows of each tenant wait for the store. */
async function waitingWindows({ db }: Tx) {
  const { rows } = await sql<{ tenantId: string; windows: number }>`
    select tenant_id as "tenantId", windows from waiting_metric_windows()`.execute(db);
  return {
    byTenant: new Map(rows.map(({ tenantId, windows }) => [tenantId, windows])),
    total: rows.reduce((sum, { windows }) => sum + windows, 0),
  };
}
