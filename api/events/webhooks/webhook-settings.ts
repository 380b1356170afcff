import type { z } from 'zod';
import { SLACK, type WebhookSettings } from '../../../domain/events/webhooks/webhook-settings.ts';
import type { SettingsChange } from '../../../domain/events/webhooks/webhooks.mutations.ts';
import type { WebhookIn, WebhookPatch } from './webhooks.schemas.ts';

const REPOSITORY_PROVIDER = 'host-a';
const REPOSITORY_EVENT = 'push';

/** What a body subscribes to, each event once; undefined if it does not say. */
const eventsOf = ({ event, events }: { event?: string | undefined; events?: string[] | undefined }) =>
  events ? [...new Set(events)] : event === undefined ? undefined : [event];

/** The settings that a body asks for; its schema has checked that one of both styles is complete. */
export function newSettings(body: z.output<typeof WebhookIn>, slackApiUrl: string): WebhookSettings {
  const { repositoryIdentifier = null, webhookUrl, config, provider, timeout, retryCount, retryDelay } = body;
  return {
    name: body.name ?? repositoryIdentifier ?? '',
    events: eventsOf(body) ?? [REPOSITORY_EVENT],
    provider: provider ?? (repositoryIdentifier === null ? 'http' : REPOSITORY_PROVIDER),
    repositoryIdentifier,
    url: provider === SLACK ? new URL('chat.postMessage', slackApiUrl).href : (config?.url ?? webhookUrl ?? ''),
    method: config?.method ?? 'POST',
    headers: config?.headers ?? {},
    filter: config?.filter ?? {},
    bodyTemplate: config?.body ?? null,
    channel: config?.channel ?? null,
    chatTeamId: config?.teamId ?? null,
    timeoutMs: timeout,
    retryCount,
    retryDelayMs: retryDelay,
    status: 'active',
  };
}

/** The settings that a body changes. */
export const settingsChange = (body: z.output<typeof WebhookPatch>): SettingsChange => {
  const { config = {}, ...patch } = body;
  const events = eventsOf(body);
  return {
    ...(events && { events }),

    ...(patch.name !== undefined && { name: patch.name }),
    ...(config.url !== undefined && { url: config.url }),
    ...(config.method !== undefined && { method: config.method }),
    ...(config.headers !== undefined && { headers: config.headers }),
    ...(config.filter !== undefined && { filter: config.filter }),
    ...(config.body !== undefined && { bodyTemplate: config.body }),
    ...(config.channel !== undefined && { channel: config.channel }),
    ...(config.teamId !== undefined && { chatTeamId: config.teamId }),
    ...(patch.timeout !== undefined && { timeoutMs: patch.timeout }),
    ...(patch.retryCount !== undefined && { retryCount: patch.retryCount }),
    ...(patch.retryDelay !== undefined && { retryDelayMs: patch.retryDelay }),
    ...(patch.status !== undefined && { status: patch.status }),
  };
};
