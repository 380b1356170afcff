import { createLaneStore } from '../../domain/webhooks/lane-store.queries.ts';
import { expireAllExports } from '../audit/audit-exports.activities.ts';
import type { Deps } from '../deps.ts';

interface Chore {
  name: string;
  /** Answers how many rows it removed. */
  run: (deps: Deps) => Promise<number>;
}

const remove =
  (functionName: string) =>
  async ({ systemPool }: Deps): Promise<number> => {
    const { rows } = await systemPool.query<{ removed: number }>(`select ${functionName}() as removed`);
    return rows[0]?.removed ?? 0;
  };

/** Longer than any writer is at work without writing: a program may run for a day and print nothing. */
const ABANDONED_MS = 2 * 86_400_000;

/** What is removed regularly. Rows of all tenants go by functions of the schema's owner, so no role sees them all. */
export const HOUSEKEEPING: readonly Chore[] = [
  { name: 'kept replies', run: remove('purge_idempotency_keys') },
  { name: 'ended sessions', run: remove('purge_sessions') },
  { name: 'old invitations', run: remove('purge_invitations') },
  { name: 'failed sign-ins', run: remove('purge_sign_in_failures') },
  { name: 'hooks beyond the replay window', run: remove('purge_hook_deliveries') },
  { name: 'previews of builds', run: remove('purge_build_previews') },
  { name: 'ended tickets of environment locks', run: remove('purge_lock_tickets') },
  { name: 'files of exports', run: expireAllExports },
  { name: 'files of writers that died', run: ({ objects }) => objects.removeAbandoned(ABANDONED_MS) },
  {
    name: 'deliveries of webhooks',
    run: ({ system, webhooks: { logRetentionDays } }) => createLaneStore(system).purge(logRetentionDays),
  },
];
