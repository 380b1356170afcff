import { z } from 'zod';
import { TEMPLATE_MAX } from '../../domain/webhooks/body-template.ts';
import { HEADERS_MAX, refusedHeader } from '../../domain/webhooks/header-rules.ts';
import { isWebhookSecret } from '../../domain/webhooks/standard-webhooks.ts';
import { OWNER_STATUSES, WEBHOOK_STATUSES } from '../../domain/webhooks/webhook-status-rules.ts';
import { JsonObject, Name, RepositoryIdentifier, Timestamp } from '../http/parameters.ts';

export const GROUP = 'Webhooks';

export const EventWord = z
  .string()
  .max(100)
  .regex(/^[a-z0-9_.-]+$/, 'lower-case letters, digits, dot, dash and underscore')
  .meta({ example: 'release.published' });

const Url = z.url({ protocol: /^https?$/, error: 'must be an http or https address' }).max(2_000);

const Headers = z
  .record(z.string(), z.string())
  .superRefine((headers, context) => {
    if (Object.keys(headers).length > HEADERS_MAX)
      context.addIssue({ code: 'custom', message: `at most ${HEADERS_MAX} headers` });
    for (const [name, value] of Object.entries(headers)) {
      const refusal = refusedHeader(name, value);
      if (refusal !== undefined) context.addIssue({ code: 'custom', path: [name], message: refusal });
    }
  })
  .meta({
    description:
      'Sent along; values that look secret are redacted when read, and a redacted one sent back keeps its value',
  });

const config = {
  url: Url,
  method: z.enum(['POST', 'PUT', 'PATCH']),
  headers: Headers,
  filter: JsonObject.meta({
    description:
      'Path to a scalar, an array (any of) or `{operator: value}` with eq, ne, gt, gte, lt, lte, in, nin, regex (RE2); all must hold. Paths start at the envelope: `data.domain`',
    example: { 'data.domain': ['sales', 'service'] },
  }),
  body: z.string().max(TEMPLATE_MAX).nullable().meta({
    description: 'Template of the body: `{{ path }}` and `{{ path | json }}`; null: the standard envelope',
    example: '{"text": {{ data.releaseName | json }}}',
  }),
};

const timing = {
  timeout: z.int().min(1_000).max(60_000).meta({ description: 'Milliseconds for one try' }),
  retryCount: z.int().min(0).max(20).meta({ description: 'Tries after the first' }),
  retryDelay: z
    .int()
    .min(100)
    .max(3_600_000)
    .meta({ description: 'Milliseconds before the first retry; doubles with each' }),
};

const plainMembers = ['event', 'provider', 'config'] as const;

export const WebhookIn = z
  .strictObject({
    name: Name.optional(),
    event: EventWord.optional(),
    provider: z
      .string()
      .regex(/^[a-z0-9-]{1,40}$/)
      .optional(),
    config: z
      .strictObject({
        ...config,
        method: config.method.default('POST'),
        headers: config.headers.default({}),
        filter: config.filter.default({}),
        body: config.body.default(null),
      })
      .optional(),
    timeout: timing.timeout.default(10_000),
    retryCount: timing.retryCount.default(3),
    retryDelay: timing.retryDelay.default(60_000),
    secret: z
      .string()
      .refine(isWebhookSecret, 'must be whsec_ and the base64 of 24 to 64 bytes')
      .optional()
      .meta({ description: 'Made by the service when absent' }),
    repositoryIdentifier: RepositoryIdentifier.optional(),
    webhookUrl: Url.optional(),
  })
  .superRefine((body, context) => {
    const isRepositoryStyle = body.repositoryIdentifier !== undefined || body.webhookUrl !== undefined;
    const needed = isRepositoryStyle
      ? (['repositoryIdentifier', 'webhookUrl'] as const)
      : (['name', 'event', 'config'] as const);
    for (const member of needed) {
      if (body[member] === undefined) context.addIssue({ code: 'custom', path: [member], message: 'is needed' });
    }
    if (!isRepositoryStyle) return;
    for (const member of plainMembers) {
      if (body[member] !== undefined)
        context.addIssue({ code: 'custom', path: [member], message: 'does not go with webhookUrl' });
    }
  })
  .meta({ id: 'WebhookIn' });

export const WebhookPatch = z
  .strictObject({
    name: Name,
    event: EventWord,
    config: z
      .strictObject(config)
      .partial()
      .meta({ description: 'The members that are given replace those of before, each as a whole' }),
    ...timing,
    status: z.enum(OWNER_STATUSES),
  })
  .partial()
  .meta({ id: 'WebhookPatch' });

const shown = {
  id: z.uuid(),
  name: z.string(),
  event: z.string(),
  provider: z.string(),
  repositoryIdentifier: z.string().nullable(),
  config: z.object({
    url: z.string(),
    method: z.string(),
    headers: z.record(z.string(), z.string()),
    filter: JsonObject,
    body: z.string().nullable(),
  }),
  timeout: z.int(),
  retryCount: z.int(),
  retryDelay: z.int(),
  status: z.enum(WEBHOOK_STATUSES),
  failureReason: z.string().nullable(),
  lastDeliveryAt: Timestamp.nullable(),
  errorCount: z.int().meta({ description: 'Deliveries that failed since the last success' }),
  createdBy: z.string(),
  createdAt: Timestamp,
  updatedAt: Timestamp,
};

export const Webhook = z.object(shown).meta({ id: 'Webhook' });

export const NewWebhook = z
  .object({ ...shown, secret: z.string().meta({ description: 'Shown only in this reply' }) })
  .meta({ id: 'NewWebhook' });

export const WebhookWithStatistics = z
  .object({
    ...shown,
    statistics: z.object({
      success: z.int(),
      failure: z.int(),
      pending: z.int(),
      successRate: z
        .number()
        .nullable()
        .meta({ description: 'Share of the deliveries that ended well, from 0 to 1; null before the first' }),
    }),
  })
  .meta({ id: 'WebhookWithStatistics' });

export const RotatedSecret = z
  .object({
    secret: z.string().meta({ description: 'Shown only in this reply' }),
    previousSecretValidUntil: Timestamp.meta({ description: 'Until then, deliveries are signed with both' }),
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
  .meta({ description: 'By event name' });
