import { z } from 'zod';
import { previewWebhook } from '../../../domain/events/webhooks/webhook-preview.ts';
import { defineRoute } from '../../http/define-route.ts';
import { JsonObject } from '../../http/parameters.ts';
import { PAYLOAD_LIMIT_BYTES } from './deliveries.schemas.ts';
import { config as members, EventWord, GROUP } from './webhooks.schemas.ts';

const PreviewIn = z
  .strictObject({
    event: EventWord,
    config: z.strictObject({ filter: members.filter, body: members.body }).partial().default({}),
    data: JsonObject.optional().meta({ description: 'Default: the sample of the catalog' }),
  })
  .meta({ id: 'WebhookPreviewIn' });

const Preview = z
  .object({
    envelope: z
      .object({ id: z.string(), type: z.string(), timestamp: z.string(), data: JsonObject })
      .meta({ description: 'The event as filter and template see it' }),
    isSent: z.boolean().nullable().meta({
      description: 'Whether the event passes the filter; null where that takes more work than one event may',
    }),
    body: z
      .string()
      .nullable()
      .meta({ description: 'What would be sent if it passes; null where `error` says why not' }),
    error: z.string().nullable(),
  })
  .meta({ id: 'WebhookPreview' });

export const webhookPreviewRoutes = [
  defineRoute({
    operationId: 'previewWebhook',
    method: 'post',
    path: '/api/webhooks/preview',
    group: GROUP,
    summary: 'Show what a webhook to an address would send for an event',
    description:
      'Nothing is stored or sent. Takes the filter and the body template of a webhook, and tests and renders them with the sample of the catalog, or with `data`. Messages to chat channels are made differently: test these with `POST /api/webhooks/{id}/test`.',
    roles: ['owner'],
    projectScope: 'none',
    body: PreviewIn,
    bodyLimitBytes: PAYLOAD_LIMIT_BYTES,
    status: 200,
    response: Preview,
    audit: { none: 'nothing is changed' },
    handle: async ({ body: { event, config, data } }, { actor }) =>
      previewWebhook(actor.tenantId, { event, filter: config.filter ?? {}, bodyTemplate: config.body ?? null, data }),
  }),
];
