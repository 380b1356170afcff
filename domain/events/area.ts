import type { Area } from '../kernel/area-manifest.ts';
import { encryptedById } from '../kernel/encryption/encrypted-columns.ts';
import { disabledWebhooks, givenUpDeliveries } from './webhooks/webhook-attention.queries.ts';
import { webhookSecretContext } from './webhooks/webhook-secrets.ts';

/** What the area adds to the service. */
export const events = {
  attention: [disabledWebhooks, givenUpDeliveries],
  encryptedColumns: encryptedById('webhook', ['secret', 'previous_secret', 'headers'], webhookSecretContext),
} satisfies Area;
