import { newId } from '../shared/ids.ts';
import type { Actor } from '../shared/actor.ts';
import { DomainError } from '../shared/errors.ts';
import type { Tx } from '../unit-of-work.ts';
import {
  lockLine,
  type LockPlace,
  lockPlace,
  TICKET_COLUMNS,
  ticketById,
  type TicketRow,
} from './environment-locks.queries.ts';
import { hasLock, isLive, stateAfterReturn, type TicketState } from './lock-rules.ts';
import { noteTicket } from './lock-notes.ts';
import { endOverdue } from './reevaluate-lock.ts';

export interface TicketRequest {
  environmentId: string;
  /** Whose ticket it is: one holder has one live ticket for an environment at most. */
  holderKey: string;
  leaseMinutes: number;
  reason: string | null;
  /** As the caller names what it does. */
  executionId: string | null;
  /** The run of ours that wants the lock. */
  runId: string | null;
}

/**
 * The holder's live ticket, or a new one that still has to be taken into the line (`asked`).
 * Throws `not_found` for the environment.
 */
export async function requestTicket(
  tx: Tx,
  request: TicketRequest,
): Promise<{ place: LockPlace; ticket: TicketRow; isNew: boolean }> {
  const place = await lockPlace(tx, request.environmentId);
  await lockLine(tx, request.environmentId);
  await endOverdue(tx, place);
  const [existing] = await tx.sql<TicketRow>(
    `select ${TICKET_COLUMNS} from environment_lock_ticket
     where tenant_id = ? and environment_id = ? and holder_key = ? and state in ('asked', 'queued', 'held')`,
    [tx.tenantId, request.environmentId, request.holderKey],
  );
  if (existing) return { place, ticket: existing, isNew: false };
  const [made] = await tx.sql<TicketRow>(
    `insert into environment_lock_ticket (id, tenant_id, project_id, environment_id, holder, holder_key, execution_id, run_id, reason, lease_minutes)
     values (?, ?, ?, ?, ?::jsonb, ?, ?, ?, ?, ?) returning ${TICKET_COLUMNS}`,
    [
      newId(),
      tx.tenantId,
      place.projectId,
      request.environmentId,
      JSON.stringify(tx.actor satisfies Actor),
      request.holderKey,
      request.executionId,
      request.runId,
      request.reason,
      request.leaseMinutes,
    ],
  );
  if (!made) throw new Error('an inserted ticket did not come back');
  noteTicket(tx, place, made, 'lock_requested');
  return { place, ticket: made, isNew: true };
}

/**
 * Gives a ticket back: the lock is released, a waiting ticket leaves the line; one that has ended stays as it is.
 * Throws `not_found`; `forbidden` by `mayChange`.
 */
export async function returnTicket(
  tx: Tx,
  environmentId: string,
  ticketId: string,
  mayChange: (ticket: TicketRow) => void,
): Promise<{ place: LockPlace; hasChanged: boolean }> {
  const place = await lockPlace(tx, environmentId);
  await lockLine(tx, environmentId);
  const ticket = await ticketById(tx, environmentId, ticketId);
  mayChange(ticket);
  const state = stateAfterReturn(ticket.state);
  if (state === undefined) return { place, hasChanged: false };
  await end(tx, place, ticket, state);
  return { place, hasChanged: true };
}

/**
 * Takes back a ticket that no turn has taken into the line; true also when another request of the same holder has done
 * so. False: a turn has taken it.
 */
export async function withdrawAsked(tx: Tx, place: LockPlace, ticketId: string): Promise<boolean> {
  await lockLine(tx, place.environmentId);
  const ticket = await ticketById(tx, place.environmentId, ticketId);
  if (ticket.state === 'asked') await end(tx, place, ticket, 'withdrawn');
  return ticket.state === 'asked' || ticket.state === 'withdrawn';
}

/** The live tickets of a run. */
export const ticketsOfRun = (
  { sql, tenantId }: Tx,
  runId: string,
): Promise<{ environmentId: string; ticketId: string }[]> =>
  sql(
    `select environment_id as "environmentId", id as "ticketId" from environment_lock_ticket
     where tenant_id = ? and run_id = ? and state in ('asked', 'queued', 'held') order by number`,
    [tenantId, runId],
  );

async function end(tx: Tx, place: LockPlace, ticket: TicketRow, state: TicketState): Promise<void> {
  await tx.sql(
    'update environment_lock_ticket set state = ?, ended_at = clock_timestamp(), updated_at = now() where tenant_id = ? and id = ?',
    [state, tx.tenantId, ticket.ticketId],
  );
  noteTicket(tx, place, { ...ticket, state }, hasLock(ticket.state) ? 'unlocked' : 'lock_withdrawn');
}

/**
 * Lets a lease run for so many minutes from now. Throws `not_found`; `invalid_transition` for a ticket that does not
 * hold the lock, or no longer; `forbidden` by `mayChange`.
 */
export async function extendLease(
  tx: Tx,
  environmentId: string,
  ticketId: string,
  leaseMinutes: number | undefined,
  mayChange: (ticket: TicketRow) => void,
): Promise<LockPlace> {
  const place = await lockPlace(tx, environmentId);
  await lockLine(tx, environmentId);
  await endOverdue(tx, place);
  const ticket = await ticketById(tx, environmentId, ticketId);
  mayChange(ticket);
  if (!hasLock(ticket.state)) {
    const why = isLive(ticket.state) ? 'it is still waiting for the lock' : `it is ${ticket.state}`;
    throw new DomainError('invalid_transition', `The lease of this ticket cannot be extended: ${why}`);
  }
  const [extended] = await tx.sql<TicketRow>(
    `update environment_lock_ticket set lease_minutes = ?, updated_at = now(), expires_at = clock_timestamp() + ? * interval '1 minute'
     where tenant_id = ? and id = ? returning ${TICKET_COLUMNS}`,
    [leaseMinutes ?? ticket.leaseMinutes, leaseMinutes ?? ticket.leaseMinutes, tx.tenantId, ticketId],
  );
  if (extended) noteTicket(tx, place, extended, 'lock_extended');
  return place;
}
