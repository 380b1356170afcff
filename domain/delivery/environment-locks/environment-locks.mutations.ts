import { DomainError } from '../../kernel/shared/errors.ts';
import type { Tx } from '../../unit-of-work.ts';
import { type EventData, emitEvent } from '../../events/webhooks/event-catalog.ts';
import {
  findLockPlace,
  type LockPlace,
  lockPlace,
  lockQueueOf,
  ticketById,
  type TicketRow,
} from './environment-locks.queries.ts';
import { assertMayChange, hasLock, isLive, stateAfterReturn, type TicketState } from './lock-rules.ts';
import {
  endExpiredLease,
  endLapsed,
  endTicket,
  enqueueTickets,
  findTicketOfHolder,
  grantToFirst,
  insertTicket,
  isRunOpen,
  type LockQueueState,
  queueState,
  type TicketRequest,
  writeLease,
} from './lock-tickets.queries.ts';

/**
 * The holder's live ticket, or a new one that still has to be queued (`asked`). Throws `not_found` for the environment.
 */
export async function requestTicket(
  tx: Tx,
  request: TicketRequest,
): Promise<{ place: LockPlace; ticket: TicketRow; isNew: boolean }> {
  const place = await lockPlace(tx, request.environmentId);
  await lockQueueOf(tx, place.environmentId);
  await expireLease(tx, place);
  const existing = await findTicketOfHolder(tx, request);
  if (existing) return { place, ticket: existing, isNew: false };
  const ticket = await insertTicket(tx, place, request);
  record(tx, place, ticket, 'lock_requested');
  return { place, ticket, isNew: true };
}

/**
 * Returns a ticket: the lock is released, a waiting ticket leaves the queue; one that has ended stays as it is.
 * Throws `not_found`, `forbidden`.
 */
export async function returnTicket(
  tx: Tx,
  environmentId: string,
  ticketId: string,
): Promise<{ place: LockPlace; hasChanged: boolean }> {
  const place = await lockPlace(tx, environmentId);
  await lockQueueOf(tx, environmentId);
  const ticket = await ticketById(tx, environmentId, ticketId);
  assertMayChange(tx.actor, ticket.holder);
  await assertNotOfRun(tx, ticket);
  const state = stateAfterReturn(ticket.state);
  if (state === undefined) {
    const isLapsed = ticket.state === 'expired' && ticket.endedAt === null;
    if (isLapsed) await endTicket(tx, ticketId, ticket.state);
    return { place, hasChanged: isLapsed };
  }
  await end(tx, place, ticket, state);
  return { place, hasChanged: true };
}

/**
 * Throws `invalid_transition` for the ticket of a run that has not ended: its work goes on as long as it has the lock.
 * The service itself may change it.
 */
async function assertNotOfRun(tx: Tx, { runId, state }: TicketRow): Promise<void> {
  if (runId === null || tx.actor.type === 'system' || !isLive(state) || !(await isRunOpen(tx, runId))) return;
  const detail = `The ticket belongs to the run ${runId}, which returns it when it ends; cancel the run instead`;
  throw new DomainError('invalid_transition', detail);
}

/**
 * Withdraws a requested ticket that was not queued; true also when another request of the same holder has done so.
 * False: it was queued. Throws `not_found`.
 */
export async function withdrawRequested(tx: Tx, environmentId: string, ticketId: string): Promise<boolean> {
  const place = await lockPlace(tx, environmentId);
  await lockQueueOf(tx, environmentId);
  const ticket = await ticketById(tx, environmentId, ticketId);
  if (ticket.state === 'asked') await end(tx, place, ticket, 'withdrawn');
  return ticket.state === 'asked' || ticket.state === 'withdrawn';
}

async function end(tx: Tx, place: LockPlace, ticket: TicketRow, state: TicketState): Promise<void> {
  await endTicket(tx, ticket.ticketId, state);
  record(tx, place, { ...ticket, state }, hasLock(ticket.state) ? 'unlocked' : 'lock_withdrawn');
}

/**
 * Lets a lease run for so many minutes from now, or as long as before. Throws `not_found`; `invalid_transition` for a
 * ticket that does not hold the lock, or no longer; `forbidden`.
 */
export async function extendLease(
  tx: Tx,
  environmentId: string,
  ticketId: string,
  leaseMinutes?: number,
): Promise<LockPlace> {
  const place = await lockPlace(tx, environmentId);
  await lockQueueOf(tx, environmentId);
  await expireLease(tx, place);
  const ticket = await ticketById(tx, environmentId, ticketId);
  assertMayChange(tx.actor, ticket.holder);
  await assertNotOfRun(tx, ticket);
  if (!hasLock(ticket.state)) {
    const why = isLive(ticket.state) ? 'it is still waiting for the lock' : `it is ${ticket.state}`;
    throw new DomainError('invalid_transition', `The lease of this ticket cannot be extended: ${why}`);
  }
  record(tx, place, await writeLease(tx, ticketId, leaseMinutes ?? ticket.leaseMinutes), 'lock_extended');
  return place;
}

const NOBODY: LockQueueState = { holder: null, waiting: 0, expiresInMs: null };

/**
 * Queues requested tickets, ends an expired lease, and grants a free lock to the first in the queue. Retrying is safe.
 * The lock of a removed environment is held by nobody.
 */
export async function reevaluateLock(
  tx: Tx,
  { environmentId, ticketIds }: { environmentId: string; ticketIds: readonly string[] },
): Promise<LockQueueState> {
  await lockQueueOf(tx, environmentId);
  const place = await findLockPlace(tx, environmentId);
  if (!place) return NOBODY;
  if (ticketIds.length > 0) await enqueueTickets(tx, environmentId, ticketIds);
  tx.touch('environment_lock', environmentId, place.repositoryIdentifier);
  await expireLease(tx, place);
  await endLapsed(tx, environmentId);
  const granted = await grantToFirst(tx, environmentId);
  if (granted) record(tx, place, granted, 'locked');
  return queueState(tx, environmentId);
}

async function expireLease(tx: Tx, place: LockPlace): Promise<void> {
  const expired = await endExpiredLease(tx, place.environmentId);
  if (expired) record(tx, place, expired, 'lock_expired');
}

/** What happens to tickets, by the name of its audit action, as the summary says it. */
const ACTIONS = {
  lock_requested: 'requested the lock of',
  locked: 'has locked',
  lock_extended: 'extended its lock of',
  unlocked: 'has unlocked',
  lock_expired: 'lost its lock, whose lease expired, of',
  lock_withdrawn: 'no longer waits for the lock of',
} as const;

/** Writes to the trail what happened to a ticket; announces it when the lock changed hands. */
function record(tx: Tx, place: LockPlace, ticket: TicketRow, action: keyof typeof ACTIONS): void {
  const { ticketId, holder, executionId, reason, expiresAt, state } = ticket;
  tx.touch('environment_lock', place.environmentId, place.repositoryIdentifier);
  tx.audit({
    source: 'environment',
    action: `environment.${action}`,
    entityType: 'environment',
    entityId: place.environmentId,
    repositoryIdentifier: place.repositoryIdentifier,
    summary: `${holder.email} ${ACTIONS[action]} ${place.environmentName}`,
    after: { ticketId, state, holder: holder.email, executionId, reason, expiresAt },
  });
  if (action === 'locked') emitEvent(tx, 'environment.locked', eventOf(place, ticket));
  if (action === 'unlocked' || action === 'lock_expired') emitEvent(tx, 'environment.unlocked', eventOf(place, ticket));
}

const eventOf = (
  { environmentId, environmentName, repositoryIdentifier }: LockPlace,
  { ticketId, holder, executionId, reason, expiresAt }: TicketRow,
): EventData<'environment.locked'> => ({
  environmentId,
  environmentName,
  repositoryIdentifier,
  ticketId,
  holder: holder.email,
  executionId,
  reason,
  expiresAt: expiresAt === null ? null : new Date(expiresAt).toISOString(),
});
