import type { Tx } from '../unit-of-work.ts';
import type { EventData, EventName } from './event-catalog.ts';

/**
 * Announces an event: one pending delivery for every active webhook that subscribes to it, in the caller's
 * transaction. What is rolled back is not announced.
 */
export function emitEvent<E extends EventName>(tx: Tx, event: E, data: EventData<E>): void {
  tx.announce({ event, data });
}
