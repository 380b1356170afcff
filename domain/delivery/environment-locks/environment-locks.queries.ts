import { sql } from 'kysely';
import type { Reads } from '../../kernel/data/fenced-reads.ts';
import type { ReadDatabase } from '../../kernel/data/tables.ts';
import { statement } from '../../kernel/data/statement.ts';
import { notFound } from '../../kernel/shared/errors.ts';
import { tenantSlugOf } from '../../kernel/tenants/tenants.queries.ts';
import type { Tx } from '../../unit-of-work.ts';
import type { LockQueueKey } from './lock-queue.port.ts';
import { estimateWaitSeconds, type TicketState } from './lock-rules.ts';

/** An environment with what its lock needs to know. */
export interface LockPlace extends LockQueueKey {
  projectId: string;
}

/** The environment of a lock. Throws `not_found`. */
export async function lockPlace(reads: Reads, environmentId: string): Promise<LockPlace> {
  const place = await findLockPlace(reads, environmentId);
  if (!place) throw notFound('The environment');
  return place;
}

export const findLockPlace = ({ db, tenantId }: Reads, environmentId: string): Promise<LockPlace | undefined> =>
  db
    .selectFrom('environment as e')
    .innerJoin('project as p', (join) => join.onRef('p.tenantId', '=', 'e.tenantId').onRef('p.id', '=', 'e.projectId'))
    .where('e.tenantId', '=', tenantId)
    .where('e.id', '=', environmentId)
    .select([
      'e.tenantId',
      tenantSlugOf('e.tenantId'),
      'e.id as environmentId',
      'e.projectId',
      'e.name as environmentName',
      'p.identifier as repositoryIdentifier',
    ])
    .executeTakeFirst();

/** Serialises changes of one environment's queue until this transaction ends. */
export async function lockQueueOf({ db, tenantId }: Tx, environmentId: string): Promise<void> {
  await sql`select pg_advisory_xact_lock(hashtextextended(${`${tenantId}/${environmentId}`}, 1))`.execute(db);
}

export const TICKET_COLUMNS = [
  'id as ticketId',
  'state',
  'holder',
  'executionId',
  'runId',
  'reason',
  'leaseMinutes',
  'createdAt',
  'heldAt',
  sql<string | null>`expires_at::timestamptz(3)`.as('expiresAt'),
  'endedAt',
] as const;

/** States of tickets that are in the queue of a lock. */
export const IN_QUEUE = [sql.lit<TicketState>('queued'), sql.lit<TicketState>('held')];

/** Whether a ticket has the lock: an expired lease locks nothing. */
const HAS_LOCK = sql<boolean>`state = ${sql.lit<TicketState>('held')} and expires_at > now()`;

/** The tickets of an environment. */
export const ticketsOf = (db: ReadDatabase, tenantId: string, environmentId: string) =>
  db.selectFrom('environment_lock_ticket').where('tenantId', '=', tenantId).where('environmentId', '=', environmentId);

/** A ticket of the environment, whatever its state. Throws `not_found`. */
export async function ticketById({ db, tenantId }: Reads, environmentId: string, ticketId: string) {
  const ticket = await ticketsOf(db, tenantId, environmentId)
    .where('id', '=', ticketId)
    .select(TICKET_COLUMNS)
    .executeTakeFirst();
  if (!ticket) throw notFound('The ticket');
  return ticket;
}
export type TicketRow = Awaited<ReturnType<typeof ticketById>>;

/** A ticket with its place in the queue; both null when it has none. */
export interface PlacedTicket extends TicketRow {
  /** 0: holds the lock; 1: the next. */
  position: number | null;
  estimatedWaitSeconds: number | null;
}

/** How many of the newest holds are sampled for how long one lasts. */
export const HOLD_SAMPLE = 50;

interface QueueOptions {
  /** Only this ticket. */
  ticketId?: string;
  limit: number;
  /** Leaves out a ticket whose lease has expired, which is still to be taken from the queue. */
  withoutExpired?: boolean;
}

/** The place in a queue of who would ask for the lock now. */
interface NextPlace {
  /** 0 where nobody is in the queue. */
  position: number;
  estimatedWaitSeconds: number | null;
}

/** The queue of an environment: the holder of the lock, then who waits, in order. `total` counts them all. */
export async function readQueue(
  { db, tenantId }: Reads,
  environmentId: string,
  { ticketId, limit, withoutExpired = false }: QueueOptions,
): Promise<{ tickets: PlacedTicket[]; total: number; next: NextPlace }> {
  const queue = db
    .with('queue', () =>
      ticketsOf(db, tenantId, environmentId)
        .where('state', 'in', IN_QUEUE)
        .$if(withoutExpired, (own) => own.where((eb) => eb.or([eb('state', '=', sql.lit('queued')), HAS_LOCK])))
        .selectAll()
        .select([
          sql<number>`(row_number() over (order by state, number))::int - case when bool_or(state = 'held') over () then 1 else 0 end`.as(
            'position',
          ),
          sql<number>`(count(*) over ())::int`.as('total'),
          sql<string | null>`max(held_at) over ()`.as('heldSince'),
        ]),
    )
    .with('past', (inner) =>
      inner
        .selectFrom(
          ticketsOf(db, tenantId, environmentId)
            .where('heldAt', 'is not', null)
            .where('endedAt', 'is not', null)
            .orderBy('endedAt', 'desc')
            .limit(sql.lit(HOLD_SAMPLE))
            .select(sql<number>`extract(epoch from ended_at - held_at)::float8`.as('seconds'))
            .as('sample'),
        )
        .select(sql<number | null>`percentile_cont(0.5) within group (order by seconds)`.as('median')),
    )
    .selectFrom(['queue', 'past'])
    .orderBy('position')
    .limit(limit)
    .select([
      ...TICKET_COLUMNS,
      'position',
      'total',
      'median as medianHoldSeconds',
      sql<number | null>`extract(epoch from clock_timestamp() - held_since)::float8`.as('heldForSeconds'),
    ]);
  const rows = await (ticketId === undefined ? queue : queue.where('id', '=', ticketId)).execute();
  const tickets = rows.map(({ medianHoldSeconds, heldForSeconds, total: _, ...row }) => ({
    ...row,
    estimatedWaitSeconds: estimateWaitSeconds({ position: row.position, medianHoldSeconds, heldForSeconds }),
  }));
  const { total = 0, medianHoldSeconds = null, heldForSeconds = null } = rows[0] ?? {};
  // Without a holder, those who wait have the places from 1 on.
  const position = heldForSeconds === null && total > 0 ? total + 1 : total;
  const estimatedWaitSeconds = estimateWaitSeconds({ position, medianHoldSeconds, heldForSeconds });
  return { tickets, total, next: { position, estimatedWaitSeconds } };
}

/** Who has the lock of an environment, and the place in its queue of who would ask for it now. */
export async function placeToCome(reads: Reads, environmentId: string): Promise<NextPlace & { heldBy: string | null }> {
  const { tickets, next } = await readQueue(reads, environmentId, { limit: 1, withoutExpired: true });
  const holder = tickets.find(({ state }) => state === 'held');
  return { heldBy: holder?.holder.email ?? null, ...next };
}

/** A ticket with its place in the queue. Throws `not_found`. */
export async function placedTicket(reads: Reads, environmentId: string, ticketId: string): Promise<PlacedTicket> {
  const { tickets } = await readQueue(reads, environmentId, { ticketId, limit: 1 });
  return (
    tickets[0] ?? { ...(await ticketById(reads, environmentId, ticketId)), position: null, estimatedWaitSeconds: null }
  );
}

/** Whether an environment is locked, and by whom. */
export interface LockStatus {
  isLocked: boolean;
  ticketId: string | null;
  heldBy: string | null;
  executionId: string | null;
  reason: string | null;
  heldAt: string | null;
  expiresAt: string | null;
  /** Tickets that wait. */
  waiting: number;
}

const FREE: LockStatus = {
  isLocked: false,
  ticketId: null,
  heldBy: null,
  executionId: null,
  reason: null,
  heldAt: null,
  expiresAt: null,
  waiting: 0,
};

/** Ids of the environments of the tenant that are locked now. */
export async function lockedEnvironments({ db, tenantId }: Reads): Promise<string[]> {
  const rows = await db
    .selectFrom('environment_lock_ticket')
    .where('tenantId', '=', tenantId)
    .where(HAS_LOCK)
    .select('environmentId')
    .execute();
  return rows.map(({ environmentId }) => environmentId);
}

const LOCKS = statement<{ tenantId: string; environmentIds: readonly string[] }>()((db, { tenantId, environmentIds }) =>
  db
    .selectFrom('environment_lock_ticket')
    .where('tenantId', '=', tenantId)
    .where('environmentId', '=', sql<string>`any (${environmentIds}::uuid[])`)
    .where('state', 'in', IN_QUEUE)
    .groupBy('environmentId')
    .select([
      'environmentId',
      sql<number>`(count(*) filter (where state = 'queued'))::int`.as('waiting'),
      sql<Partial<LockStatus> | null>`
        (jsonb_agg(jsonb_build_object('ticketId', id, 'heldBy', holder->>'email', 'executionId', execution_id, 'reason', reason,
          'heldAt', held_at, 'expiresAt', expires_at::timestamptz(3))) filter (where ${HAS_LOCK}))->0`.as('held'),
    ]),
);

/** The lock of each of these environments; an expired lease locks nothing. */
export async function lockStatuses(
  { db, tenantId }: Reads,
  environmentIds: readonly string[],
): Promise<(environmentId: string) => LockStatus> {
  const rows = await LOCKS(db, { tenantId, environmentIds });
  const byId = new Map(
    rows.map(({ environmentId, held, waiting }) => [
      environmentId,
      { ...FREE, ...held, isLocked: held !== null, waiting },
    ]),
  );
  return (environmentId) => byId.get(environmentId) ?? FREE;
}
