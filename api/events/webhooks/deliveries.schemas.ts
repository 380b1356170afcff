import { z } from 'zod';
import { anyText, mapOf } from '../../../domain/kernel/overrides/large-maps.ts';
import { DELIVERY_STATUSES } from '../../../domain/events/webhooks/delivery-rules.ts';
import { JsonObject, DateTime, queryInt, RepositoryIdentifier, Timestamp } from '../../http/parameters.ts';
import { Cursor } from '../../http/place-cursor.ts';
import { EventWord } from './webhooks.schemas.ts';

/** Payloads are stored with each delivery and sent with each attempt, so larger ones are refused. */
export const PAYLOAD_LIMIT_BYTES = 1024 * 1024;

export const TriggerIn = z.strictObject({
  event: EventWord,
  payload: JsonObject.meta({ description: 'Sent as `data` of the body' }),
});
export const DeliverIn = z.strictObject({ payload: JsonObject.meta({ description: 'Sent as `data` of the body' }) });
export const RecoverIn = z.strictObject({ since: DateTime, until: DateTime.optional() });

export const DeliveryResult = z
  .object({
    success: z.boolean(),
    message: z.string().optional(),
    error: z.string().optional(),
    providerDetails: z.object({
      queued: z.boolean(),
      deliveryId: z.uuid().optional(),
      webhookId: z.uuid(),
      eventName: z.string(),
      url: z.string().optional(),
      method: z.string().optional(),
      reason: z
        .enum(['inactive', 'failed'])
        .optional()
        .meta({ description: 'Status of the webhook, if nothing was queued' }),
    }),
  })
  .meta({ id: 'WebhookDeliveryResult' });

export const RecoverResult = z
  .object({
    success: z.boolean(),
    recovered: z.int().meta({ description: 'Number of redelivered deliveries' }),
    hasMore: z.boolean().meta({ description: 'The limit of 10,000 was reached; repeat the request for the rest' }),
    error: z.string().optional(),
  })
  .meta({ id: 'WebhookRecoverResult' });

export const DeliveriesQuery = z.strictObject({
  event: EventWord.optional(),
  status: z.enum(DELIVERY_STATUSES).optional(),
  responseStatus: z
    .string()
    .regex(/^[1-5]\d\d$/, 'must be an HTTP status')
    .transform(Number)
    .optional()
    .meta({
      override: { type: 'integer', minimum: 100, maximum: 599, description: 'HTTP status of the last attempt' },
    }),
  from: DateTime.optional().meta({
    description: 'Inclusive',
    override: { type: 'string', format: 'date-time', description: 'Inclusive' },
  }),
  to: DateTime.optional().meta({
    description: 'Exclusive',
    override: { type: 'string', format: 'date-time', description: 'Exclusive' },
  }),
  limit: queryInt(1, 200, 50),
  cursor: Cursor.optional(),
});

const Delivery = z
  .object({
    id: z.uuid(),
    webhookId: z.uuid(),
    event: z.string(),
    status: z.enum(DELIVERY_STATUSES),
    attempts: z.int().meta({ description: 'Number of attempts so far' }),
    responseStatus: z.int().nullable().meta({ description: 'Status of the response to the last attempt' }),
    error: z.string().nullable().meta({ description: 'What went wrong in the last attempt' }),
    durationMs: z.int().nullable().meta({ description: 'How long the last attempt took' }),
    redeliveryOf: z.uuid().nullable(),
    createdAt: Timestamp,
    nextAttemptAt: Timestamp.nullable(),
    completedAt: Timestamp.nullable(),
  })
  .meta({ id: 'WebhookDelivery' });

export const AllDeliveriesQuery = DeliveriesQuery.extend({ repositoryIdentifier: RepositoryIdentifier.optional() });

export const AllDeliveriesPage = z.object({
  deliveries: z.array(Delivery.extend({ webhookName: z.string() }).meta({ id: 'DeliveryOfWebhook' })),
  nextCursor: z.string().nullable(),
});

export const DeliveryPage = z.object({
  deliveries: z.array(Delivery),
  totals: z.object({ success: z.int(), failure: z.int(), pending: z.int() }),
  nextCursor: z.string().nullable(),
});

export const Attempt = z
  .object({
    attempt: z.int().meta({ description: 'Starts at 1' }),
    url: z.string(),
    method: z.string(),
    statusCode: z.int().nullable(),
    error: z.string().nullable(),
    templateError: z
      .string()
      .nullable()
      .meta({ description: 'Why the template could not be rendered; nothing was sent in that case' }),
    sentBody: z.string().nullable(),
    responseHeaders: mapOf(anyText, anyText).nullable(),
    responseBody: z.string().nullable().meta({ description: 'The first 64 KiB' }),
    durationMs: z.int(),
    startedAt: Timestamp,
    completedAt: Timestamp,
  })
  .meta({ id: 'WebhookAttempt' });
