import { Slots } from '../../../domain/kernel/queues/slots.ts';
import { DomainError } from '../../../domain/kernel/shared/errors.ts';

/** Sockets that one process keeps open. */
const SLOTS_MAX = 200;

/** Slots for sockets and streams of pictures that were admitted; a tenant may have as many as are free. */
export const createSocketSlots = () => new Slots({ works: 'sockets', total: SLOTS_MAX, perHolder: (free) => free });

/** Takes one for a tenant, and answers how it is given back; repeating that is fine. Throws `unavailable`. */
export function takeSocket(slots: Slots, tenantId: string): () => void {
  const leave = slots.take(tenantId);
  if (!leave) throw new DomainError('unavailable', 'This process takes no more sockets of the tenant; try again later');
  return leave;
}
