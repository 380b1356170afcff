import { batched, type BatchOptions } from './batched.ts';

/** A tenant's queue is forgotten after this long without a call. */
const FORGET_AFTER_MS = 60_000;

/** Batches as `batched` does, the calls of each tenant by themselves: for statements that are behind one tenant's fence. */
export function tenantQueues<Item, Result>(
  flush: (items: Item[], tenantId: string) => Promise<Result[]>,
  options: BatchOptions,
): (tenantId: string, item: Item) => Promise<Result> {
  const queues = new Map<string, { add: (item: Item) => Promise<Result>; lastUsedAt: number }>();

  const forgetIdle = (now: number) => {
    for (const [tenantId, { lastUsedAt }] of queues) if (now - lastUsedAt > FORGET_AFTER_MS) queues.delete(tenantId);
  };

  return (tenantId, item) => {
    const now = performance.now();
    let queue = queues.get(tenantId);
    if (!queue) {
      forgetIdle(now);
      queue = { add: batched((items) => flush(items, tenantId), options), lastUsedAt: now };
      queues.set(tenantId, queue);
    }
    queue.lastUsedAt = now;
    return queue.add(item);
  };
}
