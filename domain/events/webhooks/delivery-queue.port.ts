import type { Actor } from '../../kernel/shared/actor.ts';
import type { WebhookStatus } from './webhook-status-rules.ts';

interface QueueRequest {
  actor: Actor;
  payload: Record<string, unknown>;
  requestId: string;
  /** W3C trace context of the deliveries. */
  traceparent: string | undefined;
}

export interface TriggerRequest extends QueueRequest {
  event: string;
}

export interface DeliverRequest extends QueueRequest {
  webhookId: string;
}

/** A delivery to a webhook that subscribes to the event. */
export interface TriggeredDelivery {
  deliveryId: string;
  webhookId: string;
}

/** The webhook of a delivery, as replies show it. */
export interface DeliveredWebhook {
  id: string;
  event: string;
  url: string;
  method: string;
  status: WebhookStatus;
  failureReason: string | null;
}

/** What was queued, or why nothing was, if the webhook is not active. */
export type Queued<Result> = { webhook: DeliveredWebhook } & ({ refusal: string } | ({ refusal?: never } & Result));

export interface QueuedDelivery {
  deliveryId: string;
  event: string;
}

/**
 * Queues payloads: when a call resolves, its deliveries and its audit entry are committed. Concurrent calls of a tenant
 * share one transaction, because each must extend the tenant's audit chain, and a chain takes one commit at a time.
 */
export interface DeliveryQueue {
  /** Queues a payload to every active webhook that subscribes to an event. */
  trigger: (request: TriggerRequest) => Promise<TriggeredDelivery[]>;
  /** Queues a payload to one webhook. Throws `not_found`. */
  deliver: (request: DeliverRequest) => Promise<Queued<QueuedDelivery>>;
}
