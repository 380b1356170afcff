import { invalidField, notFound } from '../../kernel/shared/errors.ts';
import type { Tx } from '../../unit-of-work.ts';
import type { Queued, QueuedDelivery } from './delivery-queue.port.ts';
import { copyDelivery, copyFailed, insertDelivery } from './deliveries.queries.ts';
import { sampleData } from './event-catalog.ts';
import { refusalOf } from './webhook-status-rules.ts';
import { auditWebhook } from './webhooks.mutations.ts';
import { webhookById } from './webhooks.queries.ts';

type Subscription = Awaited<ReturnType<typeof webhookById>>;

/** Queues if the webhook is active. Throws `not_found`. */
async function queueIfActive<Result>(
  tx: Tx,
  webhookId: string,
  queue: (webhook: Subscription) => Promise<Result>,
): Promise<Queued<Result>> {
  const webhook = await webhookById(tx, webhookId);
  const refusal = refusalOf(webhook.status, webhook.failureReason);
  return refusal === undefined ? { webhook, ...(await queue(webhook)) } : { webhook, refusal };
}

/** Queues a sample of the webhook's event, as the catalog shows it. Throws `not_found`. */
export const queueSample = (tx: Tx, webhookId: string): Promise<Queued<QueuedDelivery>> =>
  queueIfActive(tx, webhookId, async (webhook) => {
    const deliveryId = await insertDelivery(tx, webhookId, webhook.event, sampleData(webhook.event));
    auditWebhook(tx, 'tested', webhook, { after: { deliveryId } });
    tx.after('webhook', webhookId);
    return { deliveryId, event: webhook.event };
  });

/** Queues the payload of a delivery again, as a new delivery. Throws `not_found`. */
export const redeliver = (tx: Tx, webhookId: string, redeliveryOf: string): Promise<Queued<QueuedDelivery>> =>
  queueIfActive(tx, webhookId, async (webhook) => {
    const copy = await copyDelivery(tx, webhookId, redeliveryOf);
    if (!copy) throw notFound('The delivery');
    auditWebhook(tx, 'redelivered', webhook, { after: { deliveryId: copy.id, redeliveryOf } });
    tx.after('webhook', webhookId);
    return { deliveryId: copy.id, event: copy.event };
  });

const RECOVER_MAX = 10_000;

/**
 * Queues the failed deliveries of a period again, oldest first, at most 10,000 per call.
 * Throws `not_found`, and `invalid_request` for a period that ends before it begins.
 * @param until default: now.
 */
export function recoverFailed(
  tx: Tx,
  webhookId: string,
  since: Date,
  until: Date = tx.now,
): Promise<Queued<{ recovered: number; hasMore: boolean }>> {
  if (until <= since) throw invalidField('until', 'must be after since');
  return queueIfActive(tx, webhookId, async (webhook) => {
    const recovered = await copyFailed(tx, webhookId, { since, until, limit: RECOVER_MAX });
    auditWebhook(tx, 'recovered', webhook, { after: { since, until, recovered } });
    if (recovered > 0) tx.after('webhook', webhookId);
    return { recovered, hasMore: recovered === RECOVER_MAX };
  });
}
