import { z } from 'zod';
import type { Encryption } from '../../domain/shared/encryption.ts';
import { DomainError } from '../../domain/shared/errors.ts';
import type { Tx } from '../../domain/unit-of-work.ts';
import {
  deliveryTotals,
  enqueueDelivery,
  listAttempts,
  listDeliveries,
  RECOVER_MAX,
  recoverFailed,
  redeliver,
} from '../../domain/webhooks/deliveries.queries.ts';
import { sampleData } from '../../domain/webhooks/event-catalog.ts';
import { refusalOf } from '../../domain/webhooks/webhook-status-rules.ts';
import { assertKnownLog, type Webhook, webhookById } from '../../domain/webhooks/webhooks.queries.ts';
import { defineRoute } from '../http/define-route.ts';
import { Id } from '../http/parameters.ts';
import { link, reply } from '../http/replies.ts';
import { auditWebhook, GROUP } from './audit-webhook.ts';
import {
  Attempt,
  cursorAfter,
  DeliverIn,
  DeliveriesQuery,
  DeliveryPage,
  DeliveryResult,
  PAYLOAD_LIMIT_BYTES,
  RecoverIn,
  RecoverResult,
  TriggerIn,
} from './deliveries.schemas.ts';

const params = z.object({ id: Id });
const deliveryParams = z.object({ id: Id, deliveryId: Id });

/** Refusals of what answers a delivery result carry its members, too. */
async function webhookToDeliver(work: Tx, encryption: Encryption, id: string): Promise<Webhook> {
  try {
    return await webhookById(work, encryption, id);
  } catch (error) {
    if (!(error instanceof DomainError)) throw error;
    throw new DomainError(error.code, error.message, {
      members: { success: false, error: error.message, providerDetails: { queued: false, notFound: true } },
    });
  }
}

/** A delivery that was queued, as the interface tells of it. */
const queued = (webhook: Webhook, deliveryId: string, eventName = webhook.event) => ({
  success: true,
  message: 'Delivery queued',
  providerDetails: {
    queued: true,
    deliveryId,
    webhookId: webhook.id,
    eventName,
    url: webhook.url,
    method: webhook.method,
  },
});

/** Nothing was queued, because the webhook is off; undefined when it is on. */
function refused(webhook: Webhook) {
  const error = refusalOf(webhook.status, webhook.failureReason);
  if (error === undefined || webhook.status === 'active') return undefined;
  return {
    success: false,
    error,
    providerDetails: { queued: false, webhookId: webhook.id, eventName: webhook.event, reason: webhook.status },
  };
}

export const deliveriesRoutes = [
  defineRoute({
    operationId: 'triggerWebhooks',
    method: 'post',
    path: '/api/webhooks/trigger',
    group: GROUP,
    summary: 'Queue a payload to every active webhook that subscribes to an event',
    description: 'Any event name is taken. Without a subscriber the answer is an empty array.',
    roles: ['owner', 'application'],
    body: TriggerIn,
    bodyLimitBytes: PAYLOAD_LIMIT_BYTES,
    status: 202,
    response: z.array(DeliveryResult),
    errors: ['payload_too_large'],
    audit: 'webhook.triggered',
    async handle(
      { body: { event, payload } },
      {
        actor,
        requestId,
        traceparent,
        adapters: {
          webhooks: { triggers },
        },
      },
    ) {
      const deliveries = await triggers({ actor, event, payload, requestId, traceparent });
      return deliveries.map(({ deliveryId, webhookId }) => ({
        success: true,
        message: 'Delivery queued',
        providerDetails: { queued: true, deliveryId, webhookId, eventName: event },
      }));
    },
  }),
  defineRoute({
    operationId: 'deliverToWebhook',
    method: 'post',
    path: '/api/webhooks/{id}/deliver',
    group: GROUP,
    summary: 'Queue a payload to one webhook, with its own retry settings',
    description:
      'For a webhook that is inactive or failed nothing is queued: `success` is false and `reason` says why.',
    roles: ['owner', 'application'],
    params,
    body: DeliverIn,
    bodyLimitBytes: PAYLOAD_LIMIT_BYTES,
    status: 202,
    response: DeliveryResult,
    errors: ['payload_too_large'],
    audit: 'webhook.delivery_queued',
    handle: ({ params: { id }, body: { payload } }, { tx, adapters: { encryption } }) =>
      tx(async (work) => {
        const webhook = await webhookToDeliver(work, encryption, id);
        const refusal = refused(webhook);
        if (refusal) return refusal;
        const deliveryId = await enqueueDelivery(work, id, webhook.event, payload);
        auditWebhook(work, 'webhook.delivery_queued', webhook, { after: { deliveryId } });
        return queued(webhook, deliveryId);
      }),
  }),
  defineRoute({
    operationId: 'testWebhook',
    method: 'post',
    path: '/api/webhooks/{id}/test',
    group: GROUP,
    summary: 'Queue a sample of the event, as the catalog shows it, to one webhook',
    roles: ['owner'],
    params,
    status: 202,
    response: DeliveryResult,
    audit: 'webhook.tested',
    handle: ({ params: { id } }, { tx, adapters: { encryption } }) =>
      tx(async (work) => {
        const webhook = await webhookToDeliver(work, encryption, id);
        const refusal = refused(webhook);
        if (refusal) return refusal;
        const deliveryId = await enqueueDelivery(work, id, webhook.event, sampleData(webhook.event));
        auditWebhook(work, 'webhook.tested', webhook, { after: { deliveryId } });
        return queued(webhook, deliveryId);
      }),
  }),
  defineRoute({
    operationId: 'listWebhookDeliveries',
    method: 'get',
    path: '/api/webhooks/{id}/deliveries',
    group: GROUP,
    summary: 'The log of deliveries of a webhook, newest first; also of a deleted one',
    description:
      'The totals are those of the window from `from` to `to`, whatever the other filters; without a window, of all deliveries since the webhook was made.',
    roles: ['owner'],
    params,
    query: DeliveriesQuery,
    status: 200,
    response: DeliveryPage,
    handle: ({ params: { id }, query: { cursor, limit, ...filter } }, { tx, requestUrl }) =>
      tx(async (work) => {
        await assertKnownLog(work, id);
        const found = await listDeliveries(work, id, filter, cursor, limit + 1);
        const deliveries = found.slice(0, limit);
        const last = found.length > limit ? deliveries.at(-1) : undefined;
        const nextCursor = last ? cursorAfter(last) : null;
        const page = { deliveries, totals: await deliveryTotals(work, id, filter), nextCursor };
        return nextCursor === null
          ? page
          : reply(page, { headers: { Link: link(requestUrl, { cursor: nextCursor }, 'next') } });
      }),
  }),
  defineRoute({
    operationId: 'listWebhookDeliveryAttempts',
    method: 'get',
    path: '/api/webhooks/{id}/deliveries/{deliveryId}/attempts',
    group: GROUP,
    summary: 'Every try of a delivery, newest first, with what was sent and answered',
    roles: ['owner'],
    params: deliveryParams,
    status: 200,
    response: z.array(Attempt),
    handle: ({ params: { id, deliveryId } }, { tx }) =>
      tx(async (work) =>
        (await listAttempts(work, id, deliveryId)).map(({ errorKind, ...attempt }) => ({
          ...attempt,
          templateError: errorKind === 'template' ? attempt.error : null,
          completedAt: new Date(Date.parse(attempt.startedAt) + attempt.durationMs),
        })),
      ),
  }),
  defineRoute({
    operationId: 'redeliverWebhookDelivery',
    method: 'post',
    path: '/api/webhooks/{id}/deliveries/{deliveryId}/redeliver',
    group: GROUP,
    summary: 'Send what a delivery carried once more, as a new delivery linked by `redeliveryOf`',
    roles: ['owner'],
    params: deliveryParams,
    status: 202,
    response: DeliveryResult,
    audit: 'webhook.redelivered',
    handle: ({ params: { id, deliveryId } }, { tx, adapters: { encryption } }) =>
      tx(async (work) => {
        const webhook = await webhookToDeliver(work, encryption, id);
        const refusal = refused(webhook);
        if (refusal) return refusal;
        const repeated = await redeliver(work, id, deliveryId);
        auditWebhook(work, 'webhook.redelivered', webhook, {
          after: { deliveryId: repeated.id, redeliveryOf: deliveryId },
        });
        return queued(webhook, repeated.id, repeated.event);
      }),
  }),
  defineRoute({
    operationId: 'recoverWebhookDeliveries',
    method: 'post',
    path: '/api/webhooks/{id}/recover',
    group: GROUP,
    summary: 'Send the failed deliveries of a time once more, at most 10,000 at a time',
    description:
      'Those from `since` (inclusive) to `until` (exclusive, now when absent) that were not sent once more already.',
    roles: ['owner'],
    params,
    body: RecoverIn,
    status: 202,
    response: RecoverResult,
    audit: 'webhook.recovered',
    handle: ({ params: { id }, body: { since, until } }, { tx, adapters: { encryption } }) =>
      tx(async (work) => {
        const end = until ?? work.now;
        if (end <= since)
          throw new DomainError('invalid_request', '`until` must be after `since`', {
            fields: [{ pointer: '#/body/until', detail: 'must be after since' }],
          });
        const webhook = await webhookToDeliver(work, encryption, id);
        const refusal = refused(webhook);
        if (refusal) return { success: false, error: refusal.error, recovered: 0, hasMore: false };
        const recovered = await recoverFailed(work, id, since, end);
        auditWebhook(work, 'webhook.recovered', webhook, { after: { since, until: end, recovered } });
        return { success: true, recovered, hasMore: recovered === RECOVER_MAX };
      }),
  }),
];
