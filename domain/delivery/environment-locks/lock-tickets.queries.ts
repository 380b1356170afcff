import { sql, type SqlBool } from 'kysely';
import { json } from '../../kernel/data/columns.ts';
import type { Reads } from '../../kernel/data/fenced-reads.ts';
import { newId } from '../../kernel/shared/ids.ts';
import type { RunWorkflowKey } from '../../kernel/shared/workflow-path-rules.ts';
import type { Tx } from '../../unit-of-work.ts';
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

/** Whether a ticket's lease expired while its run goes on: nobody else gets the lock before that has ended. */
const LAPSED = sql<SqlBool>`(environment_lock_ticket.state = 'expired' and environment_lock_ticket.ended_at is null)`;

/** The live and lapsed tickets of a run, in the order in which they were requested. */
export const ticketsOfRun = ({ db, tenantId }: Reads, runId: string) =>
  db
    .selectFrom('environment_lock_ticket')
    .where('tenantId', '=', tenantId)
    .where('runId', '=', runId)
    .where((eb) => eb.or([eb('state', 'in', LIVE), LAPSED]))
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
        .where(({ and, not, exists }) =>
          // Apart from each other, so that each has an index.
          and([
            not(
              exists(
                ticketsOf(db, tenantId, environmentId).where('state', '=', sql.lit<TicketState>('held')).select('id'),
              ),
            ),
            not(exists(ticketsOf(db, tenantId, environmentId).where(LAPSED).select('id'))),
          ]),
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

/** Whether the run of a ticket goes on, by a workflow that will end. */
const IS_RUN_OPEN = sql<SqlBool>`exists (select from flow_run r where r.tenant_id = environment_lock_ticket.tenant_id
  and r.id = environment_lock_ticket.run_id and r.has_workflow and r.ended_at is null)`;

/** Whether a workflow of ours executes a run that has not ended. */
export async function isRunOpen({ db, tenantId }: Reads, runId: string): Promise<boolean> {
  const open = await db
    .selectFrom('flow_run')
    .where('tenantId', '=', tenantId)
    .where('id', '=', runId)
    .where('hasWorkflow', '=', true)
    .where('endedAt', 'is', null)
    .select('id')
    .executeTakeFirst();
  return open !== undefined;
}

/** Ends lapsed tickets whose runs have ended. */
export async function endLapsed({ db, tenantId }: Tx, environmentId: string): Promise<void> {
  await db
    .updateTable('environment_lock_ticket')
    .set({ endedAt: sql`clock_timestamp()`, updatedAt: sql`now()` })
    .where('tenantId', '=', tenantId)
    .where('environmentId', '=', environmentId)
    .where(LAPSED)
    .where((eb) => eb.not(IS_RUN_OPEN))
    .execute();
}

/**
 * Ends the lease of an environment's lock that has expired; answers its ticket, if there is one. That of a run lapses
 * until the run has ended.
 */
export const endExpiredLease = ({ db, tenantId }: Tx, environmentId: string): Promise<TicketRow | undefined> =>
  db
    .updateTable('environment_lock_ticket')
    .set({
      state: 'expired',
      endedAt: sql<string | null>`case when ${IS_RUN_OPEN} then null else clock_timestamp() end`,
      updatedAt: sql`now()`,
    })
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
  holder: { ticketId: string; run: RunWorkflowKey | null } | null;
  /** The ticket whose lease expired while its run goes on, which must end first. */
  lapsed?: { ticketId: string; run: RunWorkflowKey | null } | null;
  /** Waiting tickets. */
  waiting: number;
  /** Milliseconds until the lease of the holder expires; null: nobody holds the lock. */
  expiresInMs: number | null;
}

const RUN = (tenantId: string, runId: ReturnType<typeof sql>) => sql<RunWorkflowKey | null>`(
  select jsonb_build_object('runId', r.id, 'taskType', r.task_type, 'workflowPath', r.workflow_path) from flow_run r
  where r.tenant_id = ${tenantId} and r.id = ${runId})`;

export async function queueState({ db, tenantId }: Reads, environmentId: string): Promise<LockQueueState> {
  const { ticketId, run, waiting, expiresInMs } = await ticketsOf(db, tenantId, environmentId)
    .where('state', 'in', IN_QUEUE)
    .select([
      sql<number>`(count(*) filter (where state = 'queued'))::int`.as('waiting'),
      sql<string | null>`max(id::text) filter (where state = 'held')`.as('ticketId'),
      RUN(tenantId, sql`(max(run_id::text) filter (where state = 'held'))::uuid`).as('run'),
      sql<number | null>`
        ceil(extract(epoch from max(expires_at) filter (where state = 'held') - clock_timestamp()) * 1000)::float8`.as(
        'expiresInMs',
      ),
    ])
    .executeTakeFirstOrThrow();
  const lapsed = await ticketsOf(db, tenantId, environmentId)
    .where(LAPSED)
    .select(['id as ticketId', RUN(tenantId, sql`run_id`).as('run')])
    .executeTakeFirst();
  return { holder: ticketId === null ? null : { ticketId, run }, waiting, expiresInMs, ...(lapsed && { lapsed }) };
}

/**
 * Whether a run holds all its locks, and will for so long; false also when the run has ended, or an environment was
 * removed.
 * @param count how many they are.
 */
export async function holdsLocks(
  { db, tenantId }: Reads,
  { runId, count, forMs }: { runId: string; count: number; forMs: number },
): Promise<boolean> {
  const { held } = await db
    .selectFrom('environment_lock_ticket as t')
    .innerJoin('flow_run as r', (join) => join.onRef('r.tenantId', '=', 't.tenantId').onRef('r.id', '=', 't.runId'))
    .where('t.tenantId', '=', tenantId)
    .where('t.runId', '=', runId)
    .where('t.state', '=', sql.lit<TicketState>('held'))
    .where('t.expiresAt', '>', sql<string>`clock_timestamp() + ${forMs} * interval '1 millisecond'`)
    .where('r.endedAt', 'is', null)
    .select(sql<number>`count(*)::int`.as('held'))
    .executeTakeFirstOrThrow();
  return held >= count;
}
