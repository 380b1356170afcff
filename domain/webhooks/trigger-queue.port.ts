import type { Actor } from '../shared/actor.ts';

export interface TriggerRequest {
  actor: Actor;
  event: string;
  payload: Record<string, unknown>;
  requestId: string;
  /** W3C trace context that the deliveries carry on. */
  traceparent: string | undefined;
}

export interface QueuedDelivery {
  deliveryId: string;
  webhookId: string;
}

/**
 * Queues one payload to every active webhook subscribed to an event: when it resolves, the deliveries and the audit
 * entry are committed. Concurrent requests of a tenant share one transaction, because each must extend the tenant's
 * audit chain, and a chain takes one commit at a time.
 */
export type TriggerQueue = (request: TriggerRequest) => Promise<QueuedDelivery[]>;
