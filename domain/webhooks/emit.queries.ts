import type { Tx } from '../unit-of-work.ts';
import type { EventData, EventName } from './event-catalog.ts';

const ENQUEUE = `
  insert into webhook_delivery (id, tenant_id, webhook_id, event, payload, traceparent)
  select uuidv7(), tenant_id, id, event, ?::json, ?::text
  from webhook where tenant_id = ?::uuid and event = ? and status = 'active' and deleted_at is null
  returning webhook_id as "webhookId"`;

/**
 * Announces an event: one pending delivery for every active webhook that subscribes to it, in the caller's
 * transaction. What is rolled back is not announced.
 */
export async function emitEvent<E extends EventName>(tx: Tx, event: E, data: EventData<E>): Promise<void> {
  const parameters = [JSON.stringify(data), tx.traceparent ?? null, tx.tenantId, event];
  for (const { webhookId } of await tx.sql<{ webhookId: string }>(ENQUEUE, parameters)) tx.wakeLane(webhookId);
}
