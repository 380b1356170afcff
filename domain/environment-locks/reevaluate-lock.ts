import type { Tx } from '../unit-of-work.ts';
import {
  findLockPlace,
  lockLine,
  type LockPlace,
  TICKET_COLUMNS,
  type TicketRow,
} from './environment-locks.queries.ts';
import { noteTicket } from './lock-notes.ts';

/** The lock of an environment and its queue, after an evaluation. */
export interface LockQueueState {
  /** Who holds the lock; `runId` when it is one of our runs. */
  holder: { ticketId: string; runId: string | null } | null;
  /** Waiting tickets. */
  waiting: number;
  /** Milliseconds until the lease of the holder expires; null: nobody holds the lock. */
  expiresInMs: number | null;
}

const NOBODY: LockQueueState = { holder: null, waiting: 0, expiresInMs: null };

/**
 * Puts requested tickets into the queue, ends an expired lease, and grants a free lock to the first in the queue.
 * Retrying is safe. The lock of a removed environment is held by nobody.
 */
export async function reevaluateLock(
  tx: Tx,
  { environmentId, ticketIds }: { environmentId: string; ticketIds: readonly string[] },
): Promise<LockQueueState> {
  await lockLine(tx, environmentId);
  const place = await findLockPlace(tx, environmentId);
  if (!place) return NOBODY;
  if (ticketIds.length > 0) await enqueue(tx, environmentId, ticketIds);
  await endOverdue(tx, place);
  await giveToFirst(tx, place);
  const [state] = await tx.sql<{
    ticketId: string | null;
    runId: string | null;
    waiting: number;
    expiresInMs: number | null;
  }>(
    `select (count(*) filter (where state = 'queued'))::int as waiting,
       (max(id::text) filter (where state = 'held')) as "ticketId", (max(run_id::text) filter (where state = 'held')) as "runId",
       ceil(extract(epoch from max(expires_at) filter (where state = 'held') - clock_timestamp()) * 1000)::float8 as "expiresInMs"
     from environment_lock_ticket where tenant_id = ? and environment_id = ? and state in ('queued', 'held')`,
    [tx.tenantId, environmentId],
  );
  if (!state) return NOBODY;
  const { ticketId, runId, waiting, expiresInMs } = state;
  return { holder: ticketId === null ? null : { ticketId, runId }, waiting, expiresInMs };
}

/** Tickets withdrawn in the meantime stay out of the queue. */
async function enqueue(tx: Tx, environmentId: string, ticketIds: readonly string[]): Promise<void> {
  await tx.sql(
    `update environment_lock_ticket set state = 'queued', updated_at = now()
     where tenant_id = ? and environment_id = ? and id = any (?::uuid[]) and state = 'asked'`,
    [tx.tenantId, environmentId, `{${ticketIds.join(',')}}`],
  );
}

/** Ends the lease that has expired, if one has. The queue must be locked by `lockLine`. */
export async function endOverdue(tx: Tx, place: LockPlace): Promise<void> {
  const [ended] = await tx.sql<TicketRow>(
    `update environment_lock_ticket set state = 'expired', ended_at = clock_timestamp(), updated_at = now()
     where tenant_id = ? and environment_id = ? and state = 'held' and expires_at <= clock_timestamp()
     returning ${TICKET_COLUMNS}`,
    [tx.tenantId, place.environmentId],
  );
  if (ended) noteTicket(tx, place, ended, 'lock_expired');
}

async function giveToFirst(tx: Tx, place: LockPlace): Promise<void> {
  const [given] = await tx.sql<TicketRow>(
    `update environment_lock_ticket t
     set state = 'held', held_at = clock_timestamp(), expires_at = clock_timestamp() + t.lease_minutes * interval '1 minute', updated_at = now()
     from (select id from environment_lock_ticket
       where tenant_id = ? and environment_id = ? and state = 'queued'
         and not exists (select from environment_lock_ticket where tenant_id = ? and environment_id = ? and state = 'held')
       order by number limit 1) next
     where t.tenant_id = ? and t.id = next.id
     returning ${TICKET_COLUMNS.replace('id as', 't.id as')}`,
    [tx.tenantId, place.environmentId, tx.tenantId, place.environmentId, tx.tenantId],
  );
  if (given) noteTicket(tx, place, given, 'locked');
}
