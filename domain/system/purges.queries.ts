import { sql } from 'kysely';
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
  | 'purge_rate_limits'
  | 'purge_run_tokens'
  | 'purge_chat_actions';

/** Removes all that has expired; answers how many rows. */
export async function purgeAll(system: Database, purge: Purge): Promise<number> {
  let total = 0;
  for (;;) {
    const { rows } = await sql<{ removed: number }>`select ${sql.raw(purge)}() as removed`.execute(system);
    const removed = rows[0]?.removed ?? 0;
    if (removed === 0) return total;
    total += removed;
  }
}
