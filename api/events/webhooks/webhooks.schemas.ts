import { z } from 'zod';
import { anyText, mapOf } from '../../../domain/kernel/overrides/large-maps.ts';
import { TEMPLATE_MAX } from '../../../domain/events/webhooks/body-template.ts';
import { HEADERS_MAX, refusedHeader } from '../../../domain/events/webhooks/header-rules.ts';
import { isWebhookSecret } from '../../../domain/events/webhooks/standard-webhooks.ts';
import { EVENTS_MAX } from '../../../domain/events/webhooks/subscription-rules.ts';
import { OWNER_STATUSES, WEBHOOK_STATUSES } from '../../../domain/events/webhooks/webhook-status-rules.ts';
import { SLACK } from '../../../domain/events/webhooks/webhook-settings.ts';
import { JsonObject, Name, RepositoryIdentifier, Timestamp } from '../../http/parameters.ts';
import { warningsOf } from '../../http/warnings.ts';

export const GROUP = 'Webhooks';

export const EventWord = z
  .string()
  .max(100)
  .regex(/^[a-z0-9_.-]+$/, 'must consist of lower-case letters, digits, dots, dashes and underscores')
  .meta({ example: 'release.published' });

/** The name of an event, or a group of events. */
const Subscription = z
  .string()
  .max(100)
  .regex(/^([a-z0-9_.-]+|[a-z0-9_-]+\.\*)$/, 'must be the name of an event, or a group such as release.*');

const Events = z
  .array(Subscription)
  .min(1)
  .max(EVENTS_MAX)
  .meta({
    description:
      'Names of events, and groups: `release.*` is every event whose name begins with `release.`; `flow.progress`, which comes up to once a second and run, is in no group. Instead of `event`; an event is delivered once however many of them include it',
    example: ['deployment.failed', 'release.*'],
  });

const ONE_EVENT = 'A single event; `events` takes several';
const EITHER = 'cannot be combined with event';

const Url = z.url({ protocol: /^https?$/, error: 'must be an http or https URL' }).max(2_000);

const Headers = mapOf(anyText, anyText, { max: HEADERS_MAX, message: `at most ${HEADERS_MAX} headers` })
  .superRefine((headers, context) => {
    for (const [name, value] of Object.entries(headers)) {
      const refusal = refusedHeader(name, value);
      if (refusal !== undefined) context.addIssue({ code: 'custom', path: [name], message: refusal });
    }
  })
  .meta({
    description:
      'Request headers. Values that look secret are redacted in replies; sending a redacted value keeps the stored one, unless the URL changes: then such headers are dropped if they are not sent anew',
  });

/** Members of `config`. */
export const config = {
  url: Url,
  method: z.enum(['POST', 'PUT', 'PATCH']),
  headers: Headers,
  filter: JsonObject.meta({
    description:
      'Maps paths to a scalar, an array (any of) or `{operator: value}` with eq, ne, gt, gte, lt, lte, in, nin, regex (RE2); all must match. Paths start at the envelope: `data.domain`',
    example: { 'data.domain': ['sales', 'service'] },
  }),
  body: z.string().max(TEMPLATE_MAX).nullable().meta({
    description:
      'Body template with `{{ path }}` and `{{ path | json }}`; null: the standard envelope. With provider `slack`, the text of the message in its markup, or a JSON object with `text` and `blocks`; values are escaped; null: a message made for the event',
    example: '{"text": {{ data.releaseName | json }}}',
  }),
};

const chatConfig = {
  channel: z
    .string()
    .max(40)
    .regex(/^[CG][A-Z0-9]+$/, 'must be the id of a channel, such as C0123ABCD')
    .meta({ description: 'Only with provider `slack`: the channel that is notified. The app must be in it' }),
  teamId: z
    .string()
    .max(40)
    .regex(/^[TE][A-Z0-9]+$/, 'must be the id of a workspace, such as T0123ABCD')
    .meta({ description: 'Only with provider `slack`: the chat workspace; absent: the newest active one' }),
};

const timing = {
  timeout: z.int().min(1_000).max(60_000).meta({ description: 'Milliseconds per attempt' }),
  retryCount: z.int().min(0).max(20).meta({ description: 'Attempts after the first' }),
  retryDelay: z
    .int()
    .min(100)
    .max(3_600_000)
    .meta({ description: 'Milliseconds before the first retry; doubles with each retry' }),
};

const plainMembers = ['event', 'events', 'provider', 'config'] as const;

/** What `config` needs with one kind of provider, and cannot have. */
function checkConfig(provider: string | undefined, given: object, context: z.RefinementCtx): void {
  const isChat = provider === SLACK;
  const needed = isChat ? 'channel' : 'url';
  if (!(needed in given)) context.addIssue({ code: 'custom', path: ['config', needed], message: 'is required' });
  for (const member of isChat ? ['url', 'method', 'headers'] : ['channel', 'teamId'])
    if (member in given)
      context.addIssue({
        code: 'custom',
        path: ['config', member],
        message: isChat ? 'cannot be combined with provider slack' : 'needs provider slack',
      });
}

export const WebhookIn = z
  .strictObject({
    name: Name.optional(),
    event: EventWord.optional().meta({ description: ONE_EVENT }),
    events: Events.optional(),
    provider: z
      .string()
      .regex(/^[a-z0-9-]{1,40}$/)
      .optional(),
    config: z
      .strictObject({
        url: config.url.optional().meta({ description: 'Needed unless the provider is `slack`' }),
        method: config.method.optional().meta({ description: 'Default: POST' }),
        headers: config.headers.optional(),
        channel: chatConfig.channel.optional(),
        teamId: chatConfig.teamId.optional(),
        filter: config.filter.default({}),
        body: config.body.default(null),
      })
      .optional(),
    timeout: timing.timeout.default(10_000),
    retryCount: timing.retryCount.default(3),
    retryDelay: timing.retryDelay.default(60_000),
    secret: z
      .string()
      .refine(isWebhookSecret, 'must be whsec_ followed by 24 to 64 bytes in base64')
      .optional()
      .meta({ description: 'Default: generated by the service' }),
    repositoryIdentifier: RepositoryIdentifier.optional(),
    webhookUrl: Url.optional(),
  })
  .superRefine((body, context) => {
    const isRepositoryStyle = body.repositoryIdentifier !== undefined || body.webhookUrl !== undefined;
    const needed = isRepositoryStyle
      ? (['repositoryIdentifier', 'webhookUrl'] as const)
      : body.events
        ? (['name', 'config'] as const)
        : (['name', 'event', 'config'] as const);
    for (const member of needed) {
      if (body[member] === undefined) context.addIssue({ code: 'custom', path: [member], message: 'is required' });
    }
    if (body.event !== undefined && body.events !== undefined)
      context.addIssue({ code: 'custom', path: ['events'], message: EITHER });
    if (body.config) checkConfig(body.provider, body.config, context);
    if (!isRepositoryStyle) return;
    for (const member of plainMembers) {
      if (body[member] !== undefined)
        context.addIssue({ code: 'custom', path: [member], message: 'cannot be combined with webhookUrl' });
    }
  })
  .meta({ id: 'WebhookIn' });

export const WebhookPatch = z
  .strictObject({
    name: Name,
    event: EventWord.meta({ description: ONE_EVENT }),
    events: Events,
    config: z
      .strictObject({ ...config, channel: chatConfig.channel, teamId: chatConfig.teamId.nullable() })
      .partial()
      .meta({ description: 'Given members replace the current ones, each as a whole' }),
    ...timing,
    status: z.enum(OWNER_STATUSES),
  })
  .partial()
  .refine(({ event, events }) => event === undefined || events === undefined, { path: ['events'], message: EITHER })
  .meta({ id: 'WebhookPatch' });

const shown = {
  id: z.uuid(),
  name: z.string(),
  event: z.string().meta({ description: 'The first of `events`' }),
  events: z.array(z.string()),
  provider: z.string(),
  repositoryIdentifier: z.string().nullable(),
  config: z.object({
    url: z.string().optional(),
    method: z.string().optional(),
    headers: mapOf(anyText, anyText).optional(),
    channel: z
      .string()
      .optional()
      .meta({ description: 'Channel of provider `slack`, which has no url, method and headers' }),
    teamId: z.string().optional(),
    filter: JsonObject,
    body: z.string().nullable(),
  }),
  timeout: z.int(),
  retryCount: z.int(),
  retryDelay: z.int(),
  status: z.enum(WEBHOOK_STATUSES),
  failureReason: z.string().nullable(),
  lastDeliveryAt: Timestamp.nullable(),
  errorCount: z.int().meta({ description: 'Consecutive failed deliveries' }),
  createdBy: z.string(),
  createdAt: Timestamp,
  updatedAt: Timestamp,
};

export const Webhook = z.object(shown).meta({ id: 'Webhook' });

const warnings = warningsOf('unknown_event', 'unknown_path');

export const UpdatedWebhook = z
  .object({ ...shown, ...warningsOf('unknown_event', 'unknown_path', 'headers_dropped') })
  .meta({ id: 'UpdatedWebhook' });

export const NewWebhook = z
  .object({ ...shown, ...warnings, secret: z.string().meta({ description: 'Shown only in this reply' }) })
  .meta({ id: 'NewWebhook' });

export const WebhookWithStatistics = z
  .object({
    ...shown,
    ...warnings,
    statistics: z.object({
      success: z.int(),
      failure: z.int(),
      pending: z.int(),
      successRate: z
        .number()
        .nullable()
        .meta({ description: 'Share of successful deliveries, from 0 to 1; null before the first' }),
    }),
  })
  .meta({ id: 'WebhookWithStatistics' });

export const RotatedSecret = z
  .object({
    secret: z.string().meta({ description: 'Shown only in this reply' }),
    previousSecretValidUntil: Timestamp.meta({ description: 'Until then, deliveries are signed with both secrets' }),
  })
  .meta({ id: 'RotatedWebhookSecret' });

export const EventCatalog = z
  .record(
    z.string(),
    z
      .object({
        event: z.string(),
        description: z.string(),
        fields: z.array(
          z.object({ path: z.string(), type: z.string(), description: z.string(), example: z.unknown() }),
        ),
        sample: z.object({ id: z.string(), type: z.string(), timestamp: z.string(), data: JsonObject }),
      })
      .meta({ id: 'WebhookEventDescription' }),
  )
  .meta({ description: 'Maps event names to descriptions' });
