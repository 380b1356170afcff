import { sql } from 'kysely';
import { appendedText, unchainedEntry } from '../../kernel/audit/append.queries.ts';
import type { Change } from '../../kernel/changes/change-rules.ts';
import { statement } from '../../kernel/data/statement.ts';
import type { Database } from '../../kernel/data/tables.ts';
import type { TenantKey } from '../../kernel/shared/actor.ts';
import { notFound } from '../../kernel/shared/errors.ts';
import { newId } from '../../kernel/shared/ids.ts';
import { tenantQueues } from '../../kernel/queues/tenant-queues.ts';
import type {
  DeliveredWebhook,
  DeliveryQueue,
  DeliverRequest,
  Queued,
  QueuedDelivery,
  TriggeredDelivery,
  TriggerRequest,
} from './delivery-queue.port.ts';
import { deliveriesOf } from './event-topics.ts';
import { refusalOf } from './webhook-status-rules.ts';

/** One array for each column of the batch. */
interface Batch {
  tenantId: string;
  payloads: string[];
  traceparents: (string | undefined)[];
}

const TRIGGER = statement<Batch & { events: string[]; entries: string }>()(
  (_, { tenantId, events, payloads, traceparents, entries }) => sql<TriggeredDelivery & { request: number }>`
    select request, delivery_id as "deliveryId", webhook_id as "webhookId"
    from webhook_trigger(${tenantId}::uuid, ${events}::text[], ${payloads}::text[], ${traceparents}::text[], ${entries}::jsonb)`,
);

const DELIVER = statement<Batch & { deliveryIds: string[]; webhookIds: string[]; entries: string[] }>()(
  (_, { tenantId, deliveryIds, webhookIds, payloads, traceparents, entries }) => sql<
    Omit<DeliveredWebhook, 'id'> & { request: number }
  >`
    select request, status, failure_reason as "failureReason", event, url, method
    from webhook_deliver(${tenantId}::uuid, ${deliveryIds}::uuid[], ${webhookIds}::uuid[], ${payloads}::text[],
      ${traceparents}::text[], ${entries}::jsonb[])`,
);

/** Bounds the memory of one statement; payloads may be a megabyte each. */
const BATCH_MAX = 200;
/** Each batch costs a commit and a lock of the tenant's audit chain, however small it is. */
const REST_MS = 2;
const MAX_REST_MS = 10;

/**
 * One function call per batch is one transaction and one round trip.
 * @param db connections with the role of the application.
 * @param signalLanes is called with the lanes after the commit; must return at once.
 * @param changed is called after the commit with the webhooks that have new deliveries; must return at once.
 */
export function createDeliveryQueue(
  db: Database,
  signalLanes: (tenant: TenantKey, webhookIds: readonly string[]) => void,
  changed: (tenant: TenantKey, changes: readonly Change[]) => void,
): DeliveryQueue {
  const signal = (tenant: TenantKey, webhookIds: readonly string[]) => {
    signalLanes(tenant, webhookIds);
    changed(tenant, webhookIds.map(deliveriesOf));
  };
  const batchOf = (tenantId: string, requests: readonly (TriggerRequest | DeliverRequest)[]): Batch => ({
    tenantId,
    payloads: requests.map(({ payload }) => JSON.stringify(payload)),
    traceparents: requests.map(({ traceparent }) => traceparent),
  });

  const triggerAll = async (requests: TriggerRequest[], tenantId: string): Promise<TriggeredDelivery[][]> => {
    const now = new Date();
    const entries = requests.map((request) => appendedText(triggerEntry(request, now)));
    const rows = await TRIGGER(db, {
      ...batchOf(tenantId, requests),
      events: requests.map(({ event }) => event),
      entries: `[${entries.join(',')}]`,
    });
    const results = requests.map((): TriggeredDelivery[] => []);
    for (const { request, deliveryId, webhookId } of rows) results[request - 1]?.push({ deliveryId, webhookId });
    const [first] = requests;
    if (first) signal(first.actor, [...new Set(rows.map(({ webhookId }) => webhookId))]);
    return results;
  };

  const deliverAll = async (
    requests: DeliverRequest[],
    tenantId: string,
  ): Promise<(Queued<QueuedDelivery> | undefined)[]> => {
    const now = new Date();
    const deliveryIds = requests.map(() => newId());
    const entries = requests.map((request, index) => deliverEntry(request, deliveryIds[index] ?? '', now));
    const rows = await DELIVER(db, {
      ...batchOf(tenantId, requests),
      deliveryIds,
      webhookIds: requests.map(({ webhookId }) => webhookId),
      entries: entries.map(appendedText),
    });
    const results = requests.map((): Queued<QueuedDelivery> | undefined => undefined);
    const toSignal = new Set<string>();
    for (const { request, ...row } of rows) {
      const place = request - 1;
      const webhook = { id: requests[place]?.webhookId ?? '', ...row };
      const refusal = refusalOf(row.status, row.failureReason);
      if (refusal === undefined) toSignal.add(webhook.id);
      results[place] =
        refusal === undefined
          ? { webhook, deliveryId: deliveryIds[place] ?? '', event: row.event }
          : { webhook, refusal };
    }
    const [first] = requests;
    if (first) signal(first.actor, [...toSignal]);
    return results;
  };

  const options = { maxBatch: BATCH_MAX, restMs: REST_MS, maxRestMs: MAX_REST_MS };
  const trigger = tenantQueues(triggerAll, options);
  const deliver = tenantQueues(deliverAll, options);
  return {
    trigger: (request) => trigger(request.actor.tenantId, request),
    async deliver(request) {
      const queued = await deliver(request.actor.tenantId, request);
      if (!queued) throw notFound('The webhook');
      return queued;
    },
  };
}

const triggerEntry = ({ actor, event, requestId }: TriggerRequest, now: Date) =>
  unchainedEntry(
    {
      source: 'webhook',
      action: 'webhook.triggered',
      entityType: 'webhook_event',
      entityId: event,
      summary: `Event ${event} triggered`,
    },
    actor,
    requestId,
    now,
  );

/** `webhook_deliver` adds the summary, which names the webhook, and the repository. */
const deliverEntry = ({ actor, webhookId, requestId }: DeliverRequest, deliveryId: string, now: Date) =>
  unchainedEntry(
    {
      source: 'webhook',
      action: 'webhook.delivery_queued',
      entityType: 'webhook',
      entityId: webhookId,
      summary: '',
      after: { deliveryId },
    },
    actor,
    requestId,
    now,
  );
