import { z } from 'zod';
import { deliveryTotals } from '../../domain/webhooks/deliveries.queries.ts';
import { catalogEntries } from '../../domain/webhooks/event-catalog.ts';
import { shownWebhook } from '../../domain/webhooks/webhook-settings.ts';
import {
  changeWebhook,
  createWebhook,
  deleteWebhook,
  rotateWebhookSecret,
} from '../../domain/webhooks/webhooks.mutations.ts';
import { listWebhooks, webhookById } from '../../domain/webhooks/webhooks.queries.ts';
import { ANY_ROLE, defineRoute } from '../http/define-route.ts';
import { Id, NoContent } from '../http/parameters.ts';
import { newSettings, settingsChange } from './webhook-settings.ts';
import {
  EventCatalog,
  GROUP,
  NewWebhook,
  RotatedSecret,
  Webhook,
  WebhookIn,
  WebhookPatch,
  WebhookWithStatistics,
} from './webhooks.schemas.ts';

const params = z.object({ id: Id });

export const webhooksRoutes = [
  defineRoute({
    operationId: 'createWebhook',
    method: 'post',
    path: '/api/webhooks',
    group: GROUP,
    summary: 'Subscribe a receiver to an event',
    description:
      'Deliveries are signed by Standard Webhooks with the secret that this reply alone shows. With `repositoryIdentifier` and `webhookUrl` instead of `event` and `config`, the webhook has provider `host-a` and event `push`. An address that is not public is refused.',
    roles: ['owner'],
    body: WebhookIn,
    status: 201,
    response: NewWebhook,
    audit: 'webhook.created',
    handle: ({ body }, { tx, adapters: { encryption, webhooks } }) =>
      tx((work) =>
        createWebhook(
          work,
          { encryption, outbound: webhooks.outbound },
          newSettings(body),
          body.webhookUrl === undefined ? 'config/url' : 'webhookUrl',
          body.secret,
        ),
      ),
  }),
  defineRoute({
    operationId: 'listWebhooks',
    method: 'get',
    path: '/api/webhooks',
    group: GROUP,
    summary: 'The webhooks of the tenant, oldest first',
    roles: ['owner'],
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
    summary: 'Every event that the service emits, with the fields that filters and templates can name',
    roles: ANY_ROLE,
    status: 200,
    response: EventCatalog,
    handle: async () => Object.fromEntries(catalogEntries.map((entry) => [entry.event, entry])),
  }),
  defineRoute({
    operationId: 'getWebhook',
    method: 'get',
    path: '/api/webhooks/{id}',
    group: GROUP,
    summary: 'One webhook, with totals of its deliveries since it was made',
    roles: ['owner'],
    params,
    status: 200,
    response: WebhookWithStatistics,
    async handle({ params: { id } }, { reads, adapters: { encryption } }) {
      const webhook = shownWebhook(encryption, await webhookById(reads, id));
      const totals = await deliveryTotals(reads, id);
      const ended = totals.success + totals.failure;
      return { ...webhook, statistics: { ...totals, successRate: ended === 0 ? null : totals.success / ended } };
    },
  }),
  defineRoute({
    operationId: 'updateWebhook',
    method: 'patch',
    path: '/api/webhooks/{id}',
    group: GROUP,
    summary: 'Change a webhook, effective for whatever is sent from now on',
    description:
      'Members of `config` that are given replace those of before. `status: active` starts delivery, also after the service disabled the webhook, and resets `errorCount`; `inactive` stops it. Deliveries that are pending meanwhile wait.',
    roles: ['owner'],
    params,
    body: WebhookPatch,
    status: 200,
    response: Webhook,
    audit: 'webhook.updated',
    handle: ({ params: { id }, body }, { tx, adapters: { encryption, webhooks } }) =>
      tx((work) => changeWebhook(work, { encryption, outbound: webhooks.outbound }, id, settingsChange(body))),
  }),
  defineRoute({
    operationId: 'deleteWebhook',
    method: 'delete',
    path: '/api/webhooks/{id}',
    group: GROUP,
    summary: 'Delete a webhook; pending deliveries are cancelled, the log stays readable',
    roles: ['owner'],
    params,
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
    params,
    status: 200,
    response: RotatedSecret,
    audit: 'webhook.secret_rotated',
    handle: ({ params: { id } }, { tx, adapters: { encryption } }) =>
      tx((work) => rotateWebhookSecret(work, encryption, id)),
  }),
];
