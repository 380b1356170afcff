import { ENVIRONMENT_LOCKS_QUEUE } from '../../queues.contract.ts';
import type { LockQueueMessages } from '../../../domain/delivery/environment-locks/lock-queue.ts';
import type { LockQueueKey } from '../../../domain/delivery/environment-locks/lock-queue.port.ts';
import type { LockQueueState } from '../../../domain/delivery/environment-locks/lock-tickets.queries.ts';
import { idEnd, idPath } from '../../../domain/kernel/text/id-segment-rules.ts';
import { defineContract, defineQuery, defineSignal, defineUpdate, type Launch } from '../../launch.ts';

/** The lock of one environment. */
export interface EnvironmentLockInput extends LockQueueKey {
  /** The last ticket whose run was notified that it holds the lock. */
  notifiedTicketId?: string;
}

export const environmentLockContract = defineContract('environmentLock', {
  taskQueue: ENVIRONMENT_LOCKS_QUEUE,
  // Not by the name of the environment, which may change while the workflow runs.
  workflowId: ({ tenantSlug, repositoryIdentifier, environmentId }) =>
    `${tenantSlug}/environment-lock/${idPath(repositoryIdentifier)}/${idEnd(environmentId)}`,
  summary: ({ repositoryIdentifier, environmentName }) => `Lock of ${environmentName} of ${repositoryIdentifier}`,
  details: ({ environmentName }) => ({ Environment: environmentName }),
  searchAttributes: ({ tenantSlug, repositoryIdentifier, environmentId }) => ({
    Tenant: tenantSlug,
    Repository: repositoryIdentifier,
    TaskType: 'environment-lock',
    EntityId: environmentId,
  }),
});

/** Puts tickets into the queue, in this order; returns when that is done. */
export const enqueueTicketsUpdate = defineUpdate<void, [string[]]>('enqueueTickets');
/** Tickets were returned or extended. */
export const reevaluateSignal = defineSignal('reevaluate');
/** The queue after its last evaluation; undefined before the first. */
export const lockQueueStateQuery = defineQuery<LockQueueState | undefined>('state');

/** Sent to a run's workflow when it holds the lock for which it waits. */
export const lockGrantedSignal = defineSignal<[LockGranted]>('lockGranted');
export interface LockGranted {
  ticketId: string;
}

/** Sent to a run's workflow when the lease of a lock that it held has expired. */
export const lockLostSignal = defineSignal<[LockGranted]>('lockLost');

/** How long a request waits for its ticket. */
const ANSWER_MS = 5_000;
/** Signals within this time are coalesced: one evaluation sees all changes. */
const QUIET_MS = 20;

/** The messages to the workflows of locks that a process sends. */
export const lockQueueMessages = (launch: Launch): LockQueueMessages => ({
  enqueueTickets: (key, ticketIds) =>
    launch.updateWithStart(environmentLockContract, key, enqueueTicketsUpdate, {
      args: [ticketIds],
      timeoutMs: ANSWER_MS,
    }),
  reevaluate: (key) => launch.signalWithStartInBackground(environmentLockContract, key, reevaluateSignal, QUIET_MS),
});
