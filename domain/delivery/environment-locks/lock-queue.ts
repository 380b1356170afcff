import { batchedPerKey } from '../../kernel/queues/batched.ts';
import type { LockQueue, LockQueueKey } from './lock-queue.port.ts';

/** What one update may carry, and its handler should wait for. */
const TICKETS_PER_UPDATE = 200;

export interface LockQueueMessages {
  /** Puts these tickets into the queue, in this order. */
  enqueueTickets: (key: LockQueueKey, ticketIds: string[]) => Promise<void>;
  reevaluate: (key: LockQueueKey) => void;
}

/** Tickets of one environment that are requested while an update is in flight share the next: an engine takes few at a time. */
export function createLockQueue({ enqueueTickets, reevaluate }: LockQueueMessages): LockQueue {
  const enqueue = batchedPerKey(
    ({ tenantId, environmentId }: LockQueueKey) => `${tenantId}/${environmentId}`,
    async (key, ticketIds: string[]) => {
      await enqueueTickets(key, ticketIds);
      return ticketIds.map(() => undefined);
    },
    { maxBatch: TICKETS_PER_UPDATE },
  );
  return { enqueue, reevaluate };
}
