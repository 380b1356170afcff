import { notFound } from '../shared/errors.ts';
import type { Actor } from '../shared/actor.ts';
import type { Tx } from '../unit-of-work.ts';
import { estimateWaitSeconds, type TicketState } from './lock-rules.ts';
import type { LockQueueKey } from './lock-queue.port.ts';

/** An environment as its lock knows it. */
export interface LockPlace extends LockQueueKey {
  projectId: string;
}

/** A ticket as it is stored; moments are the database's text. */
export interface TicketRow {
  ticketId: string;
  state: TicketState;
  holder: Actor;
  executionId: string | null;
  runId: string | null;
  reason: string | null;
  leaseMinutes: number;
  createdAt: string;
  heldAt: string | null;
  expiresAt: string | null;
  endedAt: string | null;
}

/** A ticket with its place in the line; both null when it has none. */
export interface PlacedTicket extends TicketRow {
  /** 0: holds the lock; 1: the next. */
  position: number | null;
  estimatedWaitSeconds: number | null;
}

export const TICKET_COLUMNS = `id as "ticketId", state, holder, execution_id as "executionId", run_id as "runId", reason,
  lease_minutes as "leaseMinutes", created_at as "createdAt", held_at as "heldAt", expires_at::timestamptz(3) as "expiresAt", ended_at as "endedAt"`;

/** Whoever reads rows: a unit of work, or reads without a transaction. */
type Reader = Pick<Tx, 'sql' | 'tenantId'>;

/** The environment of a lock. Throws `not_found`. */
export async function lockPlace({ sql, tenantId }: Reader, environmentId: string): Promise<LockPlace> {
  const place = await findLockPlace({ sql, tenantId }, environmentId);
  if (!place) throw notFound('The environment');
  return place;
}

export async function findLockPlace({ sql, tenantId }: Reader, environmentId: string): Promise<LockPlace | undefined> {
  const [row] = await sql<Omit<LockPlace, 'tenantId' | 'environmentId'>>(
    `select e.project_id as "projectId", e.name as "environmentName", p.identifier as "repositoryIdentifier"
     from environment e join project p on p.tenant_id = e.tenant_id and p.id = e.project_id
     where e.tenant_id = ? and e.id = ?`,
    [tenantId, environmentId],
  );
  return row && { ...row, tenantId, environmentId };
}

/** Makes changes of one environment's line take turns until this transaction ends. */
export async function lockLine({ sql, tenantId }: Tx, environmentId: string): Promise<void> {
  await sql('select pg_advisory_xact_lock(hashtextextended(?, 1))', [`${tenantId}/${environmentId}`]);
}

/** A ticket of the environment, whatever its state. Throws `not_found`. */
export async function ticketById(
  { sql, tenantId }: Reader,
  environmentId: string,
  ticketId: string,
): Promise<TicketRow> {
  const [row] = await sql<TicketRow>(
    `select ${TICKET_COLUMNS} from environment_lock_ticket where tenant_id = ? and environment_id = ? and id = ?`,
    [tenantId, environmentId, ticketId],
  );
  if (!row) throw notFound('The ticket');
  return row;
}

/** How many of the newest holds tell how long one lasts. */
const HOLD_SAMPLE = 50;

interface LineOptions {
  /** Only this ticket. */
  ticketId?: string;
  limit: number;
}

/** The line of an environment: who holds the lock, then who waits, in order. `total` counts them all. */
export async function readLine(
  { sql, tenantId }: Reader,
  environmentId: string,
  { ticketId, limit }: LineOptions,
): Promise<{ tickets: PlacedTicket[]; total: number }> {
  const rows = await sql<
    TicketRow & { position: number; medianHoldSeconds: number | null; heldForSeconds: number | null; total: number }
  >(
    `with line as (
       select *, (row_number() over (order by state, number))::int - case when bool_or(state = 'held') over () then 1 else 0 end as position,
         (count(*) over ())::int as total, max(held_at) over () as held_since
       from environment_lock_ticket where tenant_id = ? and environment_id = ? and state in ('queued', 'held')),
     past as (
       select percentile_cont(0.5) within group (order by seconds) as median
       from (select extract(epoch from ended_at - held_at)::float8 as seconds from environment_lock_ticket
         where tenant_id = ? and environment_id = ? and held_at is not null and ended_at is not null
         order by ended_at desc limit ${HOLD_SAMPLE}) sample)
     select ${TICKET_COLUMNS}, position, total, past.median as "medianHoldSeconds",
       extract(epoch from clock_timestamp() - held_since)::float8 as "heldForSeconds"
     from line, past where ?::uuid is null or id = ?::uuid
     order by position limit ?`,
    [tenantId, environmentId, tenantId, environmentId, ticketId ?? null, ticketId ?? null, limit],
  );
  const tickets = rows.map(({ medianHoldSeconds, heldForSeconds, total: _, ...row }) => ({
    ...row,
    estimatedWaitSeconds: estimateWaitSeconds({ position: row.position, medianHoldSeconds, heldForSeconds }),
  }));
  return { tickets, total: rows[0]?.total ?? 0 };
}

/** A ticket with its place in the line. Throws `not_found`. */
export async function placedTicket(reader: Reader, environmentId: string, ticketId: string): Promise<PlacedTicket> {
  const { tickets } = await readLine(reader, environmentId, { ticketId, limit: 1 });
  return (
    tickets[0] ?? { ...(await ticketById(reader, environmentId, ticketId)), position: null, estimatedWaitSeconds: null }
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

/** The lock of each of these environments; a lease that has run out locks nothing. */
export async function lockStatuses(
  { sql, tenantId }: Tx,
  environmentIds: readonly string[],
): Promise<(environmentId: string) => LockStatus> {
  const rows = await sql<{ environmentId: string; held: Partial<LockStatus> | null; waiting: number }>(
    `select environment_id as "environmentId", (count(*) filter (where state = 'queued'))::int as waiting,
       (jsonb_agg(jsonb_build_object('ticketId', id, 'heldBy', holder->>'email', 'executionId', execution_id, 'reason', reason,
         'heldAt', held_at, 'expiresAt', expires_at::timestamptz(3))) filter (where state = 'held' and expires_at > now()))->0 as held
     from environment_lock_ticket
     where tenant_id = ? and environment_id = any (?::uuid[]) and state in ('queued', 'held') group by environment_id`,
    [tenantId, `{${environmentIds.join(',')}}`],
  );
  const byId = new Map(
    rows.map(({ environmentId, held, waiting }) => [
      environmentId,
      { ...FREE, ...held, isLocked: held !== null, waiting },
    ]),
  );
  return (environmentId) => byId.get(environmentId) ?? FREE;
}
