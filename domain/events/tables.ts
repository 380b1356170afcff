import {
  WebhookSchema,
  WebhookAttemptSchema,
  WebhookDeliverySchema,
  WebhookSubscriptionSchema,
} from './webhooks/webhooks.entities.ts';
import type { TablesOf } from '../kernel/data/tables.ts';

/** The tables of the area. */
export const entities = [
  WebhookSchema,
  WebhookAttemptSchema,
  WebhookDeliverySchema,
  WebhookSubscriptionSchema,
] as const;

declare module '../kernel/data/tables.ts' {
  interface Tables extends TablesOf<typeof entities> {}
}
