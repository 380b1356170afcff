import { z } from 'zod';
import { deliveryTotals } from '../../../domain/events/webhooks/delivery-list.queries.ts';
import { catalogEntries } from '../../../domain/events/webhooks/event-catalog.ts';
import { droppedHeaders, settingsWarnings, shownWebhook } from '../../../domain/events/webhooks/webhook-settings.ts';
import {
  changeWebhook,
  createWebhook,
  deleteWebhook,
  rotateWebhookSecret,
} from '../../../domain/events/webhooks/webhooks.mutations.ts';
import { listWebhooks, webhookById } from '../../../domain/events/webhooks/webhooks.queries.ts';
import { ANY_ROLE, defineRoute } from '../../http/define-route.ts';
import { byId, NoContent } from '../../http/parameters.ts';
import { newSettings, settingsChange } from './webhook-settings.ts';
import {
  EventCatalog,
  GROUP,
  NewWebhook,
  RotatedSecret,
  UpdatedWebhook,
  Webhook,
  WebhookIn,
  WebhookPatch,
  WebhookWithStatistics,
} from './webhooks.schemas.ts';

export const webhooksRoutes = [
  defineRoute({
    operationId: 'createWebhook',
    method: 'post',
    path: '/api/webhooks',
    group: GROUP,
    summary: 'Create a webhook',
    description:
      'Deliveries are signed by Standard Webhooks with a secret that is only shown in this reply. Subscribes to the event of `event`, or to those of `events`. With `repositoryIdentifier` and `webhookUrl` instead of these and `config`, the webhook has provider `host-a` and event `push`. The URL must have a public address. With provider `slack`, it posts messages to `config.channel` of a chat workspace instead: one message for each event, or what `config.body` renders; deliveries, retries and the log are the same.',
    roles: ['owner'],
    projectScope: 'row',
    body: WebhookIn,
    status: 201,
    response: NewWebhook,
    audit: 'webhook.created',
    async handle({ body }, { tx, adapters: { chat, encryption, webhooks } }) {
      const webhook = await tx((work) =>
        createWebhook(
          work,
          { encryption, outbound: webhooks.outbound },
          newSettings(body, chat.apiUrl),
          body.webhookUrl === undefined ? 'config/url' : 'webhookUrl',
          body.secret,
        ),
      );
      return { ...webhook, warnings: settingsWarnings(webhook) };
    },
  }),
  defineRoute({
    operationId: 'listWebhooks',
    method: 'get',
    path: '/api/webhooks',
    group: GROUP,
    summary: 'List webhooks, oldest first',
    roles: ['owner'],
    projectScope: 'row',
    status: 200,
    response: z.array(Webhook),
    handle: async (_, { reads, adapters: { encryption } }) =>
      (await listWebhooks(reads)).map((webhook) => shownWebhook(encryption, webhook)),
  }),
  defineRoute({
    operationId: 'getEventCatalog',
    method: 'get',
    path: '/api/webhooks/event-catalog',
    group: GROUP,
    summary: 'List all events with the fields that filters and templates can use',
    roles: ANY_ROLE,
    projectScope: 'none',
    status: 200,
    response: EventCatalog,
    handle: async () => Object.fromEntries(catalogEntries.map((entry) => [entry.event, entry])),
  }),
  defineRoute({
    operationId: 'getWebhook',
    method: 'get',
    path: '/api/webhooks/{id}',
    group: GROUP,
    summary: 'Get a webhook with its delivery statistics',
    roles: ['owner'],
    projectScope: 'row',
    params: byId,
    status: 200,
    response: WebhookWithStatistics,
    async handle({ params: { id } }, { reads, adapters: { encryption } }) {
      const webhook = shownWebhook(encryption, await webhookById(reads, id));
      const totals = await deliveryTotals(reads, id);
      const ended = totals.success + totals.failure;
      const warnings = settingsWarnings(webhook);
      return {
        ...webhook,
        warnings,
        statistics: { ...totals, successRate: ended === 0 ? null : totals.success / ended },
      };
    },
  }),
  defineRoute({
    operationId: 'updateWebhook',
    method: 'patch',
    path: '/api/webhooks/{id}',
    group: GROUP,
    summary: 'Update a webhook',
    description:
      'Takes effect on all attempts from now on. Given members of `config` replace the current ones. `status: active` resumes delivery, also if the service disabled the webhook, and resets `errorCount`; `inactive` stops delivery, and pending deliveries wait. Headers with hidden values do not follow a changed `config.url` (compared with path and query): they are dropped unless the same request sends them anew, `warnings` names them, and `webhook.headers_dropped` is emitted.',
    roles: ['owner'],
    projectScope: 'row',
    params: byId,
    body: WebhookPatch,
    status: 200,
    response: UpdatedWebhook,
    audit: 'webhook.updated',
    async handle({ params: { id }, body }, { tx, adapters: { encryption, webhooks } }) {
      const { webhook, headersDropped } = await tx((work) =>
        changeWebhook(work, { encryption, outbound: webhooks.outbound }, id, settingsChange(body)),
      );
      return { ...webhook, warnings: [...settingsWarnings(webhook), ...droppedHeaders(headersDropped)] };
    },
  }),
  defineRoute({
    operationId: 'deleteWebhook',
    method: 'delete',
    path: '/api/webhooks/{id}',
    group: GROUP,
    summary: 'Delete a webhook; pending deliveries are cancelled, its log remains readable',
    roles: ['owner'],
    projectScope: 'row',
    params: byId,
    status: 204,
    response: NoContent,
    audit: 'webhook.deleted',
    handle: ({ params: { id } }, { tx, adapters: { encryption } }) => tx((work) => deleteWebhook(work, encryption, id)),
  }),
  defineRoute({
    operationId: 'rotateWebhookSecret',
    method: 'post',
    path: '/api/webhooks/{id}/rotate-secret',
    group: GROUP,
    summary: 'Rotate the secret of a webhook; for 24 hours deliveries are signed with both',
    roles: ['owner'],
    projectScope: 'row',
    params: byId,
    status: 200,
    response: RotatedSecret,
    audit: 'webhook.secret_rotated',
    handle: ({ params: { id } }, { tx, adapters: { encryption } }) =>
      tx((work) => rotateWebhookSecret(work, encryption, id)),
  }),
];
