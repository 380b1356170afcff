import { z } from 'zod';
import { DomainError } from '../../domain/shared/errors.ts';
import { newId } from '../../domain/shared/ids.ts';
import type { Tx } from '../../domain/unit-of-work.ts';
import { projectInRequest } from '../../domain/projects/projects.queries.ts';
import { deliveryTotals } from '../../domain/webhooks/deliveries.queries.ts';
import { catalogEntries } from '../../domain/webhooks/event-catalog.ts';
import { newWebhookSecret, ROTATION_OVERLAP_MS } from '../../domain/webhooks/standard-webhooks.ts';
import { forgetsFailures, isDelivering } from '../../domain/webhooks/webhook-status-rules.ts';
import {
  countWebhooks,
  deleteWebhook,
  insertWebhook,
  listWebhooks,
  rotateSecret,
  shownWebhook,
  updateWebhook,
  webhookById,
  WEBHOOKS_MAX,
} from '../../domain/webhooks/webhooks.queries.ts';
import { ANY_ROLE, defineRoute } from '../http/define-route.ts';
import { Id, NoContent } from '../http/parameters.ts';
import { auditWebhook, GROUP } from './audit-webhook.ts';
import { assertUsable } from './usable-settings.ts';
import { newSettings, patchedSettings } from './webhook-settings.ts';
import {
  EventCatalog,
  NewWebhook,
  RotatedSecret,
  Webhook,
  WebhookIn,
  WebhookPatch,
  WebhookWithStatistics,
} from './webhooks.schemas.ts';

const params = z.object({ id: Id });

async function assertRoomForWebhook(work: Tx): Promise<void> {
  if ((await countWebhooks(work)) < WEBHOOKS_MAX) return;
  throw new DomainError('invalid_request', `A tenant has at most ${WEBHOOKS_MAX} webhooks`);
}

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
    handle: (
      { body },
      {
        tx,
        adapters: {
          encryption,
          webhooks: { outbound },
        },
      },
    ) =>
      tx(async (work) => {
        if (body.repositoryIdentifier !== undefined) await projectInRequest(work, body.repositoryIdentifier);
        const settings = newSettings(body);
        assertUsable(settings, outbound, body.webhookUrl === undefined ? '#/body/config/url' : '#/body/webhookUrl');
        await assertRoomForWebhook(work);
        const secret = body.secret ?? newWebhookSecret();
        const webhook = shownWebhook(await insertWebhook(work, encryption, newId(), settings, secret));
        auditWebhook(work, 'webhook.created', webhook, { after: webhook });
        return { ...webhook, secret };
      }),
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
    handle: (_, { tx, adapters: { encryption } }) =>
      tx(async (work) => (await listWebhooks(work, encryption)).map(shownWebhook)),
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
    summary: 'One webhook, with what became of its deliveries since it was made',
    roles: ['owner'],
    params,
    status: 200,
    response: WebhookWithStatistics,
    handle: ({ params: { id } }, { tx, adapters: { encryption } }) =>
      tx(async (work) => {
        const webhook = shownWebhook(await webhookById(work, encryption, id));
        const totals = await deliveryTotals(work, id);
        const ended = totals.success + totals.failure;
        return { ...webhook, statistics: { ...totals, successRate: ended === 0 ? null : totals.success / ended } };
      }),
  }),
  defineRoute({
    operationId: 'updateWebhook',
    method: 'patch',
    path: '/api/webhooks/{id}',
    group: GROUP,
    summary: 'Change a webhook, effective for whatever is sent from now on',
    description:
      'Members of `config` that are given replace those of before. `status: active` starts delivery, also after the service disabled the webhook, and resets `errorCount`; `inactive` stops it. What is pending meanwhile waits.',
    roles: ['owner'],
    params,
    body: WebhookPatch,
    status: 200,
    response: Webhook,
    audit: 'webhook.updated',
    handle: (
      { params: { id }, body },
      {
        tx,
        adapters: {
          encryption,
          webhooks: { outbound },
        },
      },
    ) =>
      tx(async (work) => {
        const before = await webhookById(work, encryption, id, { isLocked: true });
        const settings = patchedSettings(before, body);
        if (body.config) assertUsable(settings, outbound, '#/body/config/url');
        const after = await updateWebhook(work, encryption, id, settings, forgetsFailures(body.status));
        const webhook = shownWebhook(after);
        auditWebhook(work, 'webhook.updated', webhook, { before: shownWebhook(before), after: webhook });
        if (isDelivering(after.status)) work.wakeLane(id);
        return webhook;
      }),
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
    async handle({ params: { id } }, { tx, adapters: { encryption } }) {
      await tx(async (work) => {
        const webhook = shownWebhook(await webhookById(work, encryption, id, { isLocked: true }));
        await deleteWebhook(work, id);
        auditWebhook(work, 'webhook.deleted', webhook, { before: webhook });
      });
    },
  }),
  defineRoute({
    operationId: 'rotateWebhookSecret',
    method: 'post',
    path: '/api/webhooks/{id}/rotate-secret',
    group: GROUP,
    summary: 'Give a webhook a new secret; for 24 hours deliveries are signed with both',
    roles: ['owner'],
    params,
    status: 200,
    response: RotatedSecret,
    audit: 'webhook.secret_rotated',
    handle: ({ params: { id } }, { tx, adapters: { encryption } }) =>
      tx(async (work) => {
        const webhook = await webhookById(work, encryption, id, { isLocked: true });
        const secret = newWebhookSecret();
        const previousSecretValidUntil = new Date(work.now.getTime() + ROTATION_OVERLAP_MS);
        await rotateSecret(work, encryption, id, secret, previousSecretValidUntil);
        auditWebhook(work, 'webhook.secret_rotated', webhook);
        return { secret, previousSecretValidUntil };
      }),
  }),
];
