import { DomainError } from '../../../domain/kernel/shared/errors.ts';
import { mayTakeMore } from '../../../domain/kernel/queues/fair-share-rules.ts';

/** Sockets that one process keeps open. */
const SLOTS_MAX = 200;
/** A tenant may have as many as are free: half of all when it is alone. */
const TIMES_FREE = 1;

/** Slots for sockets and streams of pictures that were admitted, of which each tenant has a share. */
export interface SocketSlots {
  /** Takes one for a tenant, and answers how it is given back; repeating that is fine. Throws `unavailable`. */
  take(tenantId: string): () => void;
}

export function createSocketSlots(): SocketSlots {
  const taken = new Map<symbol, string>();
  return {
    take(tenantId) {
      const own = taken.values().reduce((count, each) => count + (each === tenantId ? 1 : 0), 0);
      if (!mayTakeMore(own, SLOTS_MAX - taken.size, TIMES_FREE))
        throw new DomainError(
          'unavailable',
          taken.size < SLOTS_MAX
            ? 'The tenant has its share of the sockets that this process takes; try again later'
            : 'This process takes no more sockets now; try again later',
        );
      const slot = Symbol('slot');
      taken.set(slot, tenantId);
      return () => void taken.delete(slot);
    },
  };
}
