import { DomainError } from '../../../domain/kernel/shared/errors.ts';
import { mayTakeMore } from '../../../domain/kernel/queues/fair-share-rules.ts';

/** Sockets that one process keeps open. */
const PLACES_MAX = 200;
/** A tenant may have as many as are free: half of all when it is alone. */
const TIMES_FREE = 1;

/** Places for sockets and streams of pictures that were admitted, of which each tenant has a share. */
export interface SocketPlaces {
  /** Takes one for a tenant, and answers how it is given back; repeating that is fine. Throws `unavailable`. */
  take(tenantId: string): () => void;
}

export function createSocketPlaces(): SocketPlaces {
  const taken = new Map<symbol, string>();
  return {
    take(tenantId) {
      const own = taken.values().reduce((count, each) => count + (each === tenantId ? 1 : 0), 0);
      if (!mayTakeMore(own, PLACES_MAX - taken.size, TIMES_FREE))
        throw new DomainError(
          'unavailable',
          taken.size < PLACES_MAX
            ? 'The tenant has its share of the sockets that this process takes; try again later'
            : 'This process takes no more sockets now; try again later',
        );
      const place = Symbol('place');
      taken.set(place, tenantId);
      return () => void taken.delete(place);
    },
  };
}
