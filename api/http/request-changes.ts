import type { Slots } from '../../domain/kernel/queues/slots.ts';

/**
 * Lets the transactions of one request wait for the share of connections of its tenant. When the first has had its turn,
 * the request has begun: the others are never refused for how many wait, or half of it would be done.
 */
export function changesOfRequest(changes: Slots): <T>(tenantId: string, work: () => Promise<T>) => Promise<T> {
  let hasBegun = false;
  return (tenantId, work) => {
    const begin = () => {
      hasBegun = true;
      return work();
    };
    return changes.run(tenantId, begin, { isContinued: hasBegun });
  };
}
