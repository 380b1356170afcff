import { type RawBuilder, sql } from 'kysely';
import type { Database } from '../data/tables.ts';

/** Functions of the schema's owner that remove expired rows of all tenants, some at a time; no role sees the rows. */
export type Purge =
  | 'purge_idempotency_keys'
  | 'purge_sessions'
  | 'purge_invitations'
  | 'purge_sign_in_failures'
  | 'purge_hook_deliveries'
  | 'purge_build_previews'
  | 'purge_known_sign_ins'
  | 'purge_lock_tickets'
  | 'purge_privilege_grants'
  | 'purge_rate_limits'
  | 'purge_run_tokens'
  | 'purge_chat_actions';

/** Purges that are told how many days rows are kept. */
export type PurgeByAge = 'purge_reviews' | 'purge_pull_requests';

/** Removes all that has expired; answers how many rows. */
export const purgeAll = (system: Database, purge: Purge): Promise<number> =>
  removeAll(system, sql`${sql.raw(purge)}()`);

/** Removes all that ended more than so many days ago; answers how many rows. */
export const purgeOlderThan = (system: Database, purge: PurgeByAge, days: number): Promise<number> =>
  removeAll(system, sql`${sql.raw(purge)}(${days}::int)`);

async function removeAll(system: Database, call: RawBuilder<unknown>): Promise<number> {
  let total = 0;
  for (;;) {
    const { rows } = await sql<{ removed: number }>`select ${call} as removed`.execute(system);
    const removed = rows[0]?.removed ?? 0;
    if (removed === 0) return total;
    total += removed;
  }
}
