import type { z } from 'zod';
import { restoredHeaders } from '../../domain/webhooks/header-rules.ts';
import type { WebhookSettings } from '../../domain/webhooks/webhooks.queries.ts';
import type { WebhookIn, WebhookPatch } from './webhooks.schemas.ts';

const REPOSITORY_PROVIDER = 'host-a';
const REPOSITORY_EVENT = 'push';

/** What a body that asks for a webhook means; its schema has seen to it that one of both styles is complete. */
export function newSettings(body: z.output<typeof WebhookIn>): WebhookSettings {
  const { repositoryIdentifier = null, webhookUrl, config, timeout, retryCount, retryDelay } = body;
  return {
    name: body.name ?? repositoryIdentifier ?? '',
    event: body.event ?? REPOSITORY_EVENT,
    provider: body.provider ?? (repositoryIdentifier === null ? 'http' : REPOSITORY_PROVIDER),
    repositoryIdentifier,
    url: config?.url ?? webhookUrl ?? '',
    method: config?.method ?? 'POST',
    headers: config?.headers ?? {},
    filter: config?.filter ?? {},
    bodyTemplate: config?.body ?? null,
    timeoutMs: timeout,
    retryCount,
    retryDelayMs: retryDelay,
    status: 'active',
  };
}

/** The settings after a change: what it does not name stays. */
export function patchedSettings(
  before: WebhookSettings,
  { config = {}, ...patch }: z.output<typeof WebhookPatch>,
): WebhookSettings {
  return {
    ...before,
    name: patch.name ?? before.name,
    event: patch.event ?? before.event,
    url: config.url ?? before.url,
    method: config.method ?? before.method,
    headers: config.headers ? restoredHeaders(config.headers, before.headers) : before.headers,
    filter: config.filter ?? before.filter,
    bodyTemplate: config.body === undefined ? before.bodyTemplate : config.body,
    timeoutMs: patch.timeout ?? before.timeoutMs,
    retryCount: patch.retryCount ?? before.retryCount,
    retryDelayMs: patch.retryDelay ?? before.retryDelayMs,
    status: patch.status ?? before.status,
  };
}
