import { DomainError } from '../../domain/shared/errors.ts';

/** Of a process. */
const PLACES_MAX = 200;

/** Places for sockets and streams of pictures that were admitted. */
export interface SocketPlaces {
  /** Takes one, and answers how it is given back; repeating that is fine. Throws `unavailable`. */
  take(): () => void;
}

export function createSocketPlaces(): SocketPlaces {
  const taken = new Set<symbol>();
  return {
    take() {
      if (taken.size >= PLACES_MAX)
        throw new DomainError('unavailable', 'This process takes no more sockets now; try again later');
      const place = Symbol('place');
      taken.add(place);
      return () => void taken.delete(place);
    },
  };
}
