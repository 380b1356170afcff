import { sql } from 'kysely';
import { json } from '../data/columns.ts';
import type { Reads } from '../data/fenced-reads.ts';
import { newId } from '../shared/ids.ts';
import type { Tx } from '../unit-of-work.ts';
import { IN_QUEUE, type LockPlace, TICKET_COLUMNS, type TicketRow, ticketsOf } from './environment-locks.queries.ts';
import type { TicketState } from './lock-rules.ts';

const LIVE = [sql.lit<TicketState>('asked'), ...IN_QUEUE];

/** Whoever wants a lock: one holder has one live ticket for an environment at most. */
export interface TicketRequest {
  environmentId: string;
  holderKey: string;
  leaseMinutes: number;
  reason: string | null;
  /** What the lock is for, as the caller names it. */
  executionId: string | null;
  /** The run that wants the lock. */
  runId: string | null;
}

export const findTicketOfHolder = (
  { db, tenantId }: Reads,
  { environmentId, holderKey }: TicketRequest,
): Promise<TicketRow | undefined> =>
  ticketsOf(db, tenantId, environmentId)
    .where('holderKey', '=', holderKey)
    .where('state', 'in', LIVE)
    .select(TICKET_COLUMNS)
    .executeTakeFirst();

export const insertTicket = (
  { db, tenantId, actor }: Tx,
  { projectId }: LockPlace,
  request: TicketRequest,
): Promise<TicketRow> =>
  db
    .insertInto('environment_lock_ticket')
    .values({ ...request, id: newId(), tenantId, projectId, holder: json(actor) })
    .returning(TICKET_COLUMNS)
    .executeTakeFirstOrThrow();

/** The live tickets of a run, in the order in which they were requested. */
export const ticketsOfRun = ({ db, tenantId }: Reads, runId: string) =>
  db
    .selectFrom('environment_lock_ticket')
    .where('tenantId', '=', tenantId)
    .where('runId', '=', runId)
    .where('state', 'in', LIVE)
    .orderBy('number')
    .select(['environmentId', 'id as ticketId'])
    .execute();

/** Puts requested tickets into the queue; those withdrawn in the meantime stay out of it. */
export async function enqueueTickets(
  { db, tenantId }: Tx,
  environmentId: string,
  ticketIds: readonly string[],
): Promise<void> {
  await db
    .updateTable('environment_lock_ticket')
    .set({ state: 'queued', updatedAt: sql`now()` })
    .where('tenantId', '=', tenantId)
    .where('environmentId', '=', environmentId)
    .where('id', '=', sql<string>`any (${ticketIds}::uuid[])`)
    .where('state', '=', 'asked')
    .execute();
}

/** Gives a free lock to the first in the queue; answers its ticket. */
export const grantToFirst = ({ db, tenantId }: Tx, environmentId: string): Promise<TicketRow | undefined> =>
  db
    .updateTable('environment_lock_ticket')
    .from(
      ticketsOf(db, tenantId, environmentId)
        .where('state', '=', sql.lit<TicketState>('queued'))
        .where(({ not, exists }) =>
          not(
            exists(
              ticketsOf(db, tenantId, environmentId).where('state', '=', sql.lit<TicketState>('held')).select('id'),
            ),
          ),
        )
        .orderBy('number')
        .limit(sql.lit(1))
        .select('id as nextId')
        .as('next'),
    )
    .set({
      state: 'held',
      heldAt: sql`clock_timestamp()`,
      expiresAt: sql`clock_timestamp() + lease_minutes * interval '1 minute'`,
      updatedAt: sql`now()`,
    })
    .where('tenantId', '=', tenantId)
    .whereRef('id', '=', 'nextId')
    .returning(TICKET_COLUMNS)
    .executeTakeFirst();

/** Ends the lease of an environment's lock that has expired; answers its ticket, if there is one. */
export const endExpiredLease = ({ db, tenantId }: Tx, environmentId: string): Promise<TicketRow | undefined> =>
  db
    .updateTable('environment_lock_ticket')
    .set({ state: 'expired', endedAt: sql`clock_timestamp()`, updatedAt: sql`now()` })
    .where('tenantId', '=', tenantId)
    .where('environmentId', '=', environmentId)
    .where('state', '=', 'held')
    .where('expiresAt', '<=', sql<string>`clock_timestamp()`)
    .returning(TICKET_COLUMNS)
    .executeTakeFirst();

export async function endTicket({ db, tenantId }: Tx, ticketId: string, state: TicketState): Promise<void> {
  await db
    .updateTable('environment_lock_ticket')
    .set({ state, endedAt: sql`clock_timestamp()`, updatedAt: sql`now()` })
    .where('tenantId', '=', tenantId)
    .where('id', '=', ticketId)
    .execute();
}

/** Lets a lease run for so many minutes from now. */
export const writeLease = ({ db, tenantId }: Tx, ticketId: string, leaseMinutes: number): Promise<TicketRow> =>
  db
    .updateTable('environment_lock_ticket')
    .set({
      leaseMinutes,
      expiresAt: sql`clock_timestamp() + ${leaseMinutes} * interval '1 minute'`,
      updatedAt: sql`now()`,
    })
    .where('tenantId', '=', tenantId)
    .where('id', '=', ticketId)
    .returning(TICKET_COLUMNS)
    .executeTakeFirstOrThrow();

/** The lock of an environment and its queue. */
export interface LockQueueState {
  /** Who holds the lock; `run` when it is one of our runs. */
  holder: { ticketId: string; run: { runId: string; taskType: string } | null } | null;
  /** Waiting tickets. */
  waiting: number;
  /** Milliseconds until the lease of the holder expires; null: nobody holds the lock. */
  expiresInMs: number | null;
}

export async function queueState({ db, tenantId }: Reads, environmentId: string): Promise<LockQueueState> {
  const { ticketId, run, waiting, expiresInMs } = await ticketsOf(db, tenantId, environmentId)
    .where('state', 'in', IN_QUEUE)
    .select([
      sql<number>`(count(*) filter (where state = 'queued'))::int`.as('waiting'),
      sql<string | null>`max(id::text) filter (where state = 'held')`.as('ticketId'),
      sql<{ runId: string; taskType: string } | null>`(
        select jsonb_build_object('runId', r.id, 'taskType', r.task_type) from flow_run r
        where r.tenant_id = ${tenantId} and r.id = (max(run_id::text) filter (where state = 'held'))::uuid)`.as('run'),
      sql<number | null>`
        ceil(extract(epoch from max(expires_at) filter (where state = 'held') - clock_timestamp()) * 1000)::float8`.as(
        'expiresInMs',
      ),
    ])
    .executeTakeFirstOrThrow();
  return { holder: ticketId === null ? null : { ticketId, run }, waiting, expiresInMs };
}
