import {
  placedTicket,
  type PlacedTicket,
} from '../../../domain/delivery/environment-locks/environment-locks.queries.ts';
import { hasLock, isLive, LEASE_MINUTES } from '../../../domain/delivery/environment-locks/lock-rules.ts';
import {
  extendLease,
  reevaluateLock,
  requestTicket,
  returnTicket,
} from '../../../domain/delivery/environment-locks/environment-locks.mutations.ts';
import { type LockQueueState, ticketsOfRun } from '../../../domain/delivery/environment-locks/lock-tickets.queries.ts';
import { systemActor, type TenantKey } from '../../../domain/kernel/shared/actor.ts';
import { DomainError } from '../../../domain/kernel/shared/errors.ts';
import type { Deps } from '../../deps.ts';
import { asNonRetryable } from '../../non-retryable.ts';

interface TicketOfRun extends TenantKey {
  environmentId: string;
  ticketId: string;
}

/** `queued`: `lockGranted` follows; `ended`: returned, or its lease expired. */
export type RunTicketState = 'queued' | 'held' | 'ended';

interface LockOfRun extends TenantKey {
  environmentId: string;
  runId: string;
  leaseMinutes?: number;
}

interface TakenLock {
  ticketId: string;
  state: RunTicketState;
}

const stateOf = ({ state }: PlacedTicket): RunTicketState => {
  if (hasLock(state)) return 'held';
  return isLive(state) ? 'queued' : 'ended';
};

export const createEnvironmentLockActivities = (deps: Deps) => {
  const { actingAs, environmentLocks } = deps;
  const inTenant = (tenant: TenantKey) => actingAs(systemActor(tenant, 'environment-lock'));
  return {
    /** Evaluates an environment's lock, for its workflow. */
    reevaluateLock: ({
      tenantId,
      tenantSlug,
      ...request
    }: TenantKey & { environmentId: string; ticketIds: string[] }): Promise<LockQueueState> =>
      inTenant({ tenantId, tenantSlug })((tx) => reevaluateLock(tx, request)),

    /**
     * A run's ticket for an environment: the one that it has, or a new one. When it waits, the run's workflow gets the
     * signal `lockGranted`. Fails for good when the environment was removed.
     */
    takeLock: ({ environmentId, runId, leaseMinutes = LEASE_MINUTES, ...tenant }: LockOfRun): Promise<TakenLock> =>
      asNonRetryable(() => takeLock(deps, tenant, { environmentId, runId, leaseMinutes })),

    /** The state of a ticket, for a run that may have missed its signal. */
    lockState: ({ environmentId, ticketId, ...tenant }: TicketOfRun): Promise<{ state: RunTicketState }> =>
      asNonRetryable(() =>
        inTenant(tenant)(async (tx) => ({ state: stateOf(await placedTicket(tx, environmentId, ticketId)) })),
      ),

    /** Extends a run's lease; `isHeld` is false when the lock was lost. */
    async extendLock({
      environmentId,
      ticketId,
      leaseMinutes,
      ...tenant
    }: TicketOfRun & { leaseMinutes?: number }): Promise<{ isHeld: boolean }> {
      try {
        const place = await inTenant(tenant)((tx) => extendLease(tx, environmentId, ticketId, leaseMinutes));
        environmentLocks.reevaluate(place);
        return { isHeld: true };
      } catch (error) {
        if (error instanceof DomainError) return { isHeld: false };
        throw error;
      }
    },

    /** Returns every live ticket of a run, also one of which the run never learned. Retrying is safe. */
    async returnLock({ runId, ...tenant }: TenantKey & { runId: string }): Promise<void> {
      const unit = inTenant(tenant);
      for (const { environmentId, ticketId } of await unit((tx) => ticketsOfRun(tx, runId))) {
        try {
          const { place, hasChanged } = await unit((tx) => returnTicket(tx, environmentId, ticketId));
          if (hasChanged) environmentLocks.reevaluate(place);
        } catch (error) {
          // It was removed in the meantime.
          if (!(error instanceof DomainError)) throw error;
        }
      }
    },
  };
};
export type EnvironmentLockActivities = ReturnType<typeof createEnvironmentLockActivities>;

async function takeLock(
  { actingAs, environmentLocks }: Deps,
  tenant: TenantKey,
  { environmentId, runId, leaseMinutes }: { environmentId: string; runId: string; leaseMinutes: number },
): Promise<TakenLock> {
  const unit = actingAs({ ...systemActor(tenant, 'flow'), id: runId, email: `run:${runId}` });
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
}
