import type { TenantKey } from '../../kernel/shared/actor.ts';

/** The queue for the lock of one environment. */
export interface LockQueueKey extends TenantKey {
  environmentId: string;
  environmentName: string;
  repositoryIdentifier: string;
}

/** The way to the workflow that grants an environment's lock; its state is in rows. */
export interface LockQueue {
  /** Puts a requested ticket into the queue. Rejects with `EngineUnavailableError` when there is no answer within 5 s. */
  enqueue: (key: LockQueueKey, ticketId: string) => Promise<void>;
  /** Reports returned or extended tickets, without waiting; lost signals are recovered by the sweeper. */
  reevaluate: (key: LockQueueKey) => void;
}
