import type { Pool } from 'pg';
import { unchainedEntry, withCanonicalParts } from '../audit/append.queries.ts';
import { tenantQueues } from '../shared/tenant-queues.ts';
import type { QueuedDelivery, TriggerQueue, TriggerRequest } from './trigger-queue.port.ts';

const TRIGGER = `
  select request, delivery_id as "deliveryId", webhook_id as "webhookId"
  from webhook_trigger($1::uuid, $2::text[], $3::text[], $4::text[], $5::jsonb)`;

/** Bounds the memory of one statement; payloads may be a megabyte each. */
const BATCH_MAX = 200;
/** Each batch costs a commit and a turn of the tenant's audit chain, however small it is. */
const REST_MS = 2;

/**
 * The queue over plain connections: one function call per batch is one transaction and one round trip.
 * @param pool connections of the application's role.
 * @param wake told of the lanes after the commit; must return at once.
 */
export function createTriggerQueue(
  pool: Pool,
  wake: (tenantId: string, webhookIds: readonly string[]) => void,
): TriggerQueue {
  const flush = async (requests: TriggerRequest[], tenantId: string): Promise<QueuedDelivery[][]> => {
    const now = new Date();
    const entries = requests.map((request) => unchainedEntry(noteOf(request), request.actor, request.requestId, now));
    const { rows } = await pool.query<QueuedDelivery & { request: number }>({
      name: 'webhook-trigger',
      text: TRIGGER,
      values: [
        tenantId,
        requests.map(({ event }) => event),
        requests.map(({ payload }) => JSON.stringify(payload)),
        requests.map(({ traceparent }) => traceparent),
        JSON.stringify(entries.map(withCanonicalParts)),
      ],
    });
    const results = requests.map((): QueuedDelivery[] => []);
    for (const { request, deliveryId, webhookId } of rows) results[request - 1]?.push({ deliveryId, webhookId });
    wake(tenantId, [...new Set(rows.map(({ webhookId }) => webhookId))]);
    return results;
  };

  const add = tenantQueues(flush, { maxBatch: BATCH_MAX, restMs: REST_MS });
  return (request) => add(request.actor.tenantId, request);
}

const noteOf = ({ event }: TriggerRequest) => ({
  source: 'webhook' as const,
  action: 'webhook.triggered',
  entityType: 'webhook_event',
  entityId: event,
  summary: `Event ${event} triggered`,
});
