import { defineEntity, p } from '@mikro-orm/core';
import { jsonColumn } from '../../kernel/data/columns.ts';
import { tenantOwned } from '../../kernel/data/tenant-owned.ts';
import type { AttemptErrorKind, DeliveryStatus } from './delivery-rules.ts';
import type { WebhookStatus } from './webhook-status-rules.ts';

export const WebhookSchema = defineEntity({
  name: 'Webhook',
  tableName: 'webhook',
  properties: {
    ...tenantOwned,
    name: p.text(),
    /** Event of its tests, and of payloads that are queued for it by id. */
    event: p.text(),
    /** Names of events, and groups such as `release.*`. */
    events: p.array(),
    provider: p.text(),
    repositoryIdentifier: p.text().nullable(),
    url: p.text(),
    method: p.text(),
    headers: p.text().nullable(),
    filter: jsonColumn<Record<string, unknown>>().columnType('json').nullable(),
    bodyTemplate: p.text().nullable(),
    /** Channel that provider `slack` notifies; null for other providers. */
    channel: p.text().nullable(),
    /** Workspace of provider `slack`; null: the newest that is active, or another provider. */
    chatTeamId: p.text().nullable(),
    secret: p.text(),
    previousSecret: p.text().nullable(),
    previousSecretUntil: p.datetime(3).nullable(),
    timeoutMs: p.integer(),
    retryCount: p.integer(),
    retryDelayMs: p.integer(),
    status: p.text().$type<WebhookStatus>().default('active'),
    failureReason: p.text().nullable(),
    createdBy: p.text(),
    /** In the id of the workflow that delivers; it stays when the webhook is renamed. */
    laneName: p.text().nullable(),
    deletedAt: p.datetime(3).nullable(),
    revision: p.integer().default(1),
    errorCount: p.integer().default(0),
    exhaustedInRow: p.integer().fieldName('exhausted_in_a_row').default(0),
    deliveredCount: p.bigint('string').defaultRaw('0'),
    failedCount: p.bigint('string').defaultRaw('0'),
    lastDeliveryAt: p.datetime(3).nullable(),
  },
});
export class Webhook extends WebhookSchema.class {}
WebhookSchema.setClass(Webhook);

/** What an active webhook subscribes to, kept by a trigger; an event that its group includes has no row of its own. */
export const WebhookSubscriptionSchema = defineEntity({
  name: 'WebhookSubscription',
  tableName: 'webhook_subscription',
  properties: {
    tenantId: p.uuid().primary(),
    event: p.text().primary(),
    webhookId: p.uuid().primary(),
  },
});

export const WebhookAttemptSchema = defineEntity({
  name: 'WebhookAttempt',
  tableName: 'webhook_attempt',
  properties: {
    tenantId: p.uuid().primary(),
    deliveryId: p.uuid().primary(),
    attempt: p.integer().primary(),
    url: p.text(),
    method: p.text(),
    statusCode: p.integer().nullable(),
    error: p.text().nullable(),
    errorKind: p.text().$type<AttemptErrorKind>().nullable(),
    isEnvelope: p.boolean(),
    sentBody: p.text().nullable(),
    responseHeaders: jsonColumn<Record<string, string>>().columnType('json').nullable(),
    responseBody: p.text().nullable(),
    durationMs: p.integer(),
    startedAt: p.datetime(3),
  },
});

export const WebhookDeliverySchema = defineEntity({
  name: 'WebhookDelivery',
  tableName: 'webhook_delivery',
  properties: {
    tenantId: p.uuid().primary(),
    id: p.uuid().primary(),
    webhookId: p.uuid(),
    event: p.text(),
    payload: jsonColumn<unknown>().columnType('json'),
    traceparent: p.text().nullable(),
    status: p.text().$type<DeliveryStatus>().default('pending'),
    attempts: p.integer().default(0),
    claims: p.integer().default(0),
    dueAt: p.datetime(6).defaultRaw('now()'),
    leaseUntil: p.datetime(3).nullable(),
    redeliveryOf: p.uuid().nullable(),
    lastStatusCode: p.integer().nullable(),
    lastError: p.text().nullable(),
    lastDurationMs: p.integer().nullable(),
    createdAt: p.datetime(3).defaultRaw('now()'),
    completedAt: p.datetime(3).nullable(),
  },
});
