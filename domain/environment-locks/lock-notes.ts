import type { Tx } from '../unit-of-work.ts';
import { emitEvent } from '../webhooks/event-catalog.ts';
import type { EventData } from '../webhooks/event-catalog.ts';
import type { LockPlace, TicketRow } from './environment-locks.queries.ts';

/** What happens to tickets, as the audit trail names it, with the words of its summary. */
const ACTIONS = {
  lock_requested: 'asked for the lock of',
  locked: 'has locked',
  lock_extended: 'has extended its lock of',
  unlocked: 'has unlocked',
  lock_expired: 'lost its lock, whose lease ran out, of',
  lock_withdrawn: 'no longer asks for the lock of',
} as const;
export type LockAction = keyof typeof ACTIONS;

/** Tells the trail what happened to a ticket and, when the lock changed hands, the subscribers. */
export function noteTicket(tx: Tx, place: LockPlace, ticket: TicketRow, action: LockAction): void {
  const { ticketId, holder, executionId, reason, expiresAt, state } = ticket;
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
  place: LockPlace,
  { ticketId, holder, executionId, reason, expiresAt }: TicketRow,
): EventData<'environment.locked'> => ({
  environmentId: place.environmentId,
  environmentName: place.environmentName,
  repositoryIdentifier: place.repositoryIdentifier,
  ticketId,
  holder: holder.email,
  executionId,
  reason,
  expiresAt: expiresAt === null ? null : new Date(expiresAt).toISOString(),
});
