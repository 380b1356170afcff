import { z } from 'zod';
import { DomainError } from '../../../domain/kernel/shared/errors.ts';
import { queueSample, recoverFailed, redeliver } from '../../../domain/events/webhooks/deliveries.mutations.ts';
import { listAttempts } from '../../../domain/events/webhooks/deliveries.queries.ts';
import { listAllDeliveries, listDeliveries } from '../../../domain/events/webhooks/delivery-list.queries.ts';
import type { Queued, QueuedDelivery } from '../../../domain/events/webhooks/delivery-queue.port.ts';
import { webhookById } from '../../../domain/events/webhooks/webhooks.queries.ts';
import { defineRoute } from '../../http/define-route.ts';
import { byId, Id } from '../../http/parameters.ts';
import { cursorPage } from '../../http/place-cursor.ts';
import {
  AllDeliveriesPage,
  AllDeliveriesQuery,
  Attempt,
  DeliverIn,
  DeliveriesQuery,
  DeliveryPage,
  DeliveryResult,
  PAYLOAD_LIMIT_BYTES,
  RecoverIn,
  RecoverResult,
  TriggerIn,
} from './deliveries.schemas.ts';
import { GROUP } from './webhooks.schemas.ts';

const deliveryParams = z.object({ id: Id, deliveryId: Id });

/** Where a delivery result is the answer, a problem carries its members, too. */
async function withResultMembers<Result>(answer: Promise<Result>): Promise<Result> {
  try {
    return await answer;
  } catch (error) {
    if (!(error instanceof DomainError) || error.code !== 'not_found') throw error;
    throw new DomainError(error.code, error.message, {
      members: { success: false, error: error.message, providerDetails: { queued: false, notFound: true } },
    });
  }
}

/** The reply for a delivery that was queued, or why nothing was. */
async function deliveryResult(queuing: Promise<Queued<QueuedDelivery>>): Promise<z.input<typeof DeliveryResult>> {
  const queued = await withResultMembers(queuing);
  const { id: webhookId, url, method, event: eventName, status } = queued.webhook;
  if (queued.refusal !== undefined) {
    const reason = status === 'active' ? undefined : status;
    return { success: false, error: queued.refusal, providerDetails: { queued: false, webhookId, eventName, reason } };
  }
  const { deliveryId, event } = queued;
  return {
    success: true,
    message: 'Delivery queued',
    providerDetails: { queued: true, deliveryId, webhookId, eventName: event, url, method },
  };
}

export const deliveriesRoutes = [
  defineRoute({
    operationId: 'triggerWebhooks',
    method: 'post',
    path: '/api/webhooks/trigger',
    group: GROUP,
    summary: 'Queue a payload for all active webhooks that subscribe to an event',
    description: 'Accepts any event name. Returns an empty array if there is no subscriber.',
    roles: ['owner', 'application'],
    projectScope: 'refused',
    body: TriggerIn,
    bodyLimitBytes: PAYLOAD_LIMIT_BYTES,
    status: 202,
    response: z.array(DeliveryResult),
    errors: ['payload_too_large'],
    audit: 'webhook.triggered',
    async handle({ body: { event, payload } }, { actor, requestId, traceparent, adapters: { webhooks } }) {
      const deliveries = await webhooks.queue.trigger({ actor, event, payload, requestId, traceparent });
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
    summary: 'Queue a payload for a webhook',
    description:
      'Delivered with the retry settings of the webhook. If the webhook is inactive or failed, nothing is queued: `success` is false and `reason` gives its status.',
    roles: ['owner', 'application'],
    projectScope: 'row',
    params: byId,
    body: DeliverIn,
    bodyLimitBytes: PAYLOAD_LIMIT_BYTES,
    status: 202,
    response: DeliveryResult,
    errors: ['payload_too_large'],
    audit: 'webhook.delivery_queued',
    async handle(
      { params: { id }, body: { payload } },
      { actor, reads, requestId, traceparent, adapters: { webhooks } },
    ) {
      // The queue serves many callers at once, and knows no limit to projects.
      if (actor.projectIds) await withResultMembers(webhookById(reads, id));
      return deliveryResult(webhooks.queue.deliver({ actor, webhookId: id, payload, requestId, traceparent }));
    },
  }),
  defineRoute({
    operationId: 'testWebhook',
    method: 'post',
    path: '/api/webhooks/{id}/test',
    group: GROUP,
    summary: 'Queue the sample event of the catalog for a webhook',
    roles: ['owner'],
    projectScope: 'row',
    params: byId,
    status: 202,
    response: DeliveryResult,
    audit: 'webhook.tested',
    handle: ({ params: { id } }, { tx }) => deliveryResult(tx((work) => queueSample(work, id))),
  }),
  defineRoute({
    operationId: 'listWebhookDeliveries',
    method: 'get',
    path: '/api/webhooks/{id}/deliveries',
    group: GROUP,
    summary: 'List the deliveries of a webhook, newest first',
    description:
      'Available for a deleted webhook, too. The totals cover the period from `from` to `to`, regardless of the other filters, or all deliveries of the webhook without a period.',
    roles: ['owner'],
    projectScope: 'row',
    params: byId,
    query: DeliveriesQuery,
    status: 200,
    response: DeliveryPage,
    async handle({ params: { id }, query: { cursor, limit, ...filter } }, { reads, requestUrl }) {
      const { nextCursor: last, ...page } = await listDeliveries(reads, id, filter, { cursor, limit });
      return cursorPage(requestUrl, page, last);
    },
  }),
  defineRoute({
    operationId: 'listDeliveriesOfAllWebhooks',
    method: 'get',
    path: '/api/webhooks/deliveries',
    group: GROUP,
    summary: 'List the deliveries of all webhooks, newest first',
    description: 'Includes those of deleted webhooks. `repositoryIdentifier` is that of the webhook.',
    roles: ['owner'],
    projectScope: 'row',
    query: AllDeliveriesQuery,
    status: 200,
    response: AllDeliveriesPage,
    async handle({ query: { cursor, limit, ...filter } }, { reads, requestUrl }) {
      const paced = reads.with({ pace: 'varies' });
      const { nextCursor: last, ...page } = await listAllDeliveries(paced, filter, { cursor, limit });
      return cursorPage(requestUrl, page, last);
    },
  }),
  defineRoute({
    operationId: 'listWebhookDeliveryAttempts',
    method: 'get',
    path: '/api/webhooks/{id}/deliveries/{deliveryId}/attempts',
    group: GROUP,
    summary: 'List the attempts of a delivery with requests and responses, newest first',
    roles: ['owner'],
    projectScope: 'row',
    params: deliveryParams,
    status: 200,
    response: z.array(Attempt),
    handle: async ({ params: { id, deliveryId } }, { reads }) =>
      (await listAttempts(reads, id, deliveryId)).map(({ errorKind, ...attempt }) => ({
        ...attempt,
        templateError: errorKind === 'template' ? attempt.error : null,
        completedAt: new Date(Date.parse(attempt.startedAt) + attempt.durationMs),
      })),
  }),
  defineRoute({
    operationId: 'redeliverWebhookDelivery',
    method: 'post',
    path: '/api/webhooks/{id}/deliveries/{deliveryId}/redeliver',
    group: GROUP,
    summary: 'Redeliver a delivery as a new one, linked by `redeliveryOf`',
    roles: ['owner'],
    projectScope: 'row',
    params: deliveryParams,
    status: 202,
    response: DeliveryResult,
    audit: 'webhook.redelivered',
    handle: ({ params: { id, deliveryId } }, { tx }) => deliveryResult(tx((work) => redeliver(work, id, deliveryId))),
  }),
  defineRoute({
    operationId: 'recoverWebhookDeliveries',
    method: 'post',
    path: '/api/webhooks/{id}/recover',
    group: GROUP,
    summary: 'Redeliver the failed deliveries of a period, at most 10,000 per request',
    description:
      'From `since` (inclusive) to `until` (exclusive, default: now), except those that have been redelivered already.',
    roles: ['owner'],
    projectScope: 'row',
    params: byId,
    body: RecoverIn,
    status: 202,
    response: RecoverResult,
    audit: 'webhook.recovered',
    async handle({ params: { id }, body: { since, until } }, { tx }) {
      const queued = await withResultMembers(tx((work) => recoverFailed(work, id, since, until)));
      if (queued.refusal !== undefined) return { success: false, error: queued.refusal, recovered: 0, hasMore: false };
      return { success: true, recovered: queued.recovered, hasMore: queued.hasMore };
    },
  }),
];
