import { placedTicket, type PlacedTicket } from '../../domain/environment-locks/environment-locks.queries.ts';
import { hasLock, isLive, LEASE_MINUTES } from '../../domain/environment-locks/lock-rules.ts';
import { extendLease, requestTicket, returnTicket, ticketsOfRun } from '../../domain/environment-locks/lock-tickets.ts';
import { type LockQueueState, reevaluateLock } from '../../domain/environment-locks/reevaluate-lock.ts';
import { systemActor } from '../../domain/shared/actor.ts';
import { DomainError } from '../../domain/shared/errors.ts';
import type { Deps } from '../deps.ts';
import { asNonRetryable } from '../non-retryable.ts';

interface TicketOfRun {
  tenantId: string;
  environmentId: string;
  ticketId: string;
}

/** `queued`: `lockGranted` follows; `ended`: returned, or its lease expired. */
export type RunTicketState = 'queued' | 'held' | 'ended';

const stateOf = ({ state }: PlacedTicket): RunTicketState => {
  if (hasLock(state)) return 'held';
  return isLive(state) ? 'queued' : 'ended';
};

const anyTicket = () => undefined;

export const createEnvironmentLockActivities = ({ actingAs, environmentLocks }: Deps) => {
  const inTenant = (tenantId: string) => actingAs(systemActor(tenantId, 'environment-lock'));
  const asRun = (tenantId: string, runId: string) =>
    actingAs({ ...systemActor(tenantId, 'flow'), id: runId, email: `run:${runId}` });
  return {
    /** Evaluates an environment's lock, for its workflow. */
    reevaluateLock: ({
      tenantId,
      ...request
    }: {
      tenantId: string;
      environmentId: string;
      ticketIds: string[];
    }): Promise<LockQueueState> => inTenant(tenantId)((tx) => reevaluateLock(tx, request)),

    /**
     * A run's ticket for an environment: the one that it has, or a new one. When it waits, the run's workflow gets the
     * signal `lockGranted`. Fails for good when the environment was removed.
     */
    takeLock: ({
      tenantId,
      environmentId,
      runId,
      leaseMinutes = LEASE_MINUTES,
    }: {
      tenantId: string;
      environmentId: string;
      runId: string;
      leaseMinutes?: number;
    }): Promise<{ ticketId: string; state: RunTicketState }> =>
      asNonRetryable(async () => {
        const unit = asRun(tenantId, runId);
        const request = {
          environmentId,
          holderKey: `run:${runId}`,
          leaseMinutes,
          reason: null,
          executionId: runId,
          runId,
        };
        const { place, ticket } = await unit((tx) => requestTicket(tx, request));
        if (ticket.state === 'asked') await environmentLocks.enqueue(place, ticket.ticketId);
        const placed = await unit((tx) => placedTicket(tx, environmentId, ticket.ticketId));
        return { ticketId: placed.ticketId, state: stateOf(placed) };
      }),

    /** The state of a ticket, for a run that may have missed its signal. */
    lockState: ({ tenantId, environmentId, ticketId }: TicketOfRun): Promise<{ state: RunTicketState }> =>
      asNonRetryable(() =>
        inTenant(tenantId)(async (tx) => ({ state: stateOf(await placedTicket(tx, environmentId, ticketId)) })),
      ),

    /** Lets a run's lease go on; `isHeld` is false when the lock was lost. */
    async extendLock({
      tenantId,
      environmentId,
      ticketId,
      leaseMinutes,
    }: TicketOfRun & { leaseMinutes?: number }): Promise<{ isHeld: boolean }> {
      try {
        const place = await inTenant(tenantId)((tx) =>
          extendLease(tx, environmentId, ticketId, leaseMinutes, anyTicket),
        );
        environmentLocks.reevaluate(place);
        return { isHeld: true };
      } catch (error) {
        if (error instanceof DomainError) return { isHeld: false };
        throw error;
      }
    },

    /**
     * Gives a run's ticket back; without `ticketId`, every live ticket of the run, so that a run which never learned of
     * its ticket leaves none behind. What has ended, or was removed, is given back already.
     */
    async returnLock({
      tenantId,
      environmentId,
      ticketId,
      runId,
    }: {
      tenantId: string;
      environmentId?: string;
      ticketId?: string;
      runId?: string;
    }): Promise<void> {
      const unit = inTenant(tenantId);
      const tickets =
        environmentId !== undefined && ticketId !== undefined
          ? [{ environmentId, ticketId }]
          : await unit((tx) => (runId === undefined ? Promise.resolve([]) : ticketsOfRun(tx, runId)));
      for (const ticket of tickets) {
        try {
          const { place, hasChanged } = await unit((tx) =>
            returnTicket(tx, ticket.environmentId, ticket.ticketId, anyTicket),
          );
          if (hasChanged) environmentLocks.reevaluate(place);
        } catch (error) {
          if (!(error instanceof DomainError)) throw error;
        }
      }
    },
  };
};
export type EnvironmentLockActivities = ReturnType<typeof createEnvironmentLockActivities>;
