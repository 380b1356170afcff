import { isDeepStrictEqual } from 'node:util';
import type { Encryption } from '../../kernel/encryption/encryption.ts';
import { escapePointer, invalidField } from '../../kernel/shared/errors.ts';
import { compileTemplate, TemplateError, templatePaths } from './body-template.ts';
import { catalogEntries, catalogNames } from './event-catalog.ts';
import { compileFilter, FilterError, type WebhookFilter } from './filter-rules.ts';
import { redactedHeaders } from './header-rules.ts';
import { compileLinearRegex } from './linear-regex.ts';
import type { OutboundAddresses } from '../../kernel/outbound/outbound-addresses.ts';
import { openHeaders, sealHeaders } from './webhook-secrets.ts';
import { primaryEvent } from './subscription-rules.ts';
import { type Warning, warning } from '../../kernel/shared/warning-rules.ts';
import { webhookWarnings } from './webhook-warning-rules.ts';
import type { WebhookStatus } from './webhook-status-rules.ts';
import type { Webhook } from './webhooks.entities.ts';

/** The settings of a webhook that its owner controls, without its secret. */
export interface WebhookSettings {
  name: string;
  /** Names of events, and groups such as `release.*`. */
  events: string[];
  provider: string;
  repositoryIdentifier: string | null;
  url: string;
  method: string;
  headers: Record<string, string>;
  filter: WebhookFilter;
  bodyTemplate: string | null;
  /** Channel that provider `slack` notifies; null for other providers. */
  channel: string | null;
  /** Workspace of provider `slack`; null: the newest that is active, or another provider. */
  chatTeamId: string | null;
  timeoutMs: number;
  retryCount: number;
  retryDelayMs: number;
  status: WebhookStatus;
}

/**
 * Settings as they are stored.
 * @param before as they were. The event stays while the events do: what writes `event` alone is taken for a process of a
 * version without `events`, and replaces them.
 */
export const sealedSettings = (
  encryption: Encryption,
  id: string,
  settings: WebhookSettings,
  before?: Pick<StoredWebhook, 'event' | 'events'>,
) => ({
  ...settings,
  event:
    before && isDeepStrictEqual(before.events, settings.events)
      ? before.event
      : primaryEvent(settings.events, catalogNames),
  headers: sealHeaders(encryption, id, settings.headers),
});

export const openedSettings = (encryption: Encryption, webhook: StoredWebhook): WebhookSettings => ({
  name: webhook.name,
  events: webhook.events,
  provider: webhook.provider,
  repositoryIdentifier: webhook.repositoryIdentifier ?? null,
  url: webhook.url,
  method: webhook.method,
  headers: openHeaders(encryption, webhook.id, webhook.headers ?? null),
  filter: webhook.filter ?? {},
  bodyTemplate: webhook.bodyTemplate ?? null,
  channel: webhook.channel ?? null,
  chatTeamId: webhook.chatTeamId ?? null,
  timeoutMs: webhook.timeoutMs,
  retryCount: webhook.retryCount,
  retryDelayMs: webhook.retryDelayMs,
  status: webhook.status,
});

export const SLACK = 'slack';

/** Members of `config` that webhooks of one kind have and those of the other kind do not. */
const OF_CHAT = { channel: 'channel', chatTeamId: 'teamId' } as const;
const OF_HTTP = { url: 'url', method: 'method', headers: 'headers' } as const;

/** Throws `invalid_request` for a change of what a webhook does not have: with a channel an address, or the other way round. */
export function assertOfKind({ channel }: Pick<Webhook, 'channel'>, change: Partial<WebhookSettings>): void {
  const isOfChannel = channel !== null && channel !== undefined;
  for (const [member, name] of Object.entries(isOfChannel ? OF_HTTP : OF_CHAT))
    if (member in change)
      throw invalidField(`config/${name}`, `a webhook to ${isOfChannel ? 'a channel' : 'an address'} has no ${name}`);
}

/**
 * Throws `invalid_request` for settings with which nothing could be delivered: a URL that the policy forbids, a
 * malformed filter or template.
 * @param urlField the field of the URL.
 */
export function assertUsable(
  { url, filter, bodyTemplate }: WebhookSettings,
  outbound: OutboundAddresses,
  urlField: string,
): void {
  const refusal = outbound.refusedUrl(url);
  if (refusal !== undefined) throw invalidField(urlField, refusal);
  try {
    compileFilter(filter, compileLinearRegex);
    if (bodyTemplate !== null) compileTemplate(bodyTemplate);
  } catch (error) {
    if (error instanceof FilterError)
      throw invalidField(`config/filter${error.path === '' ? '' : `/${escapePointer(error.path)}`}`, error.message);
    if (error instanceof TemplateError) throw invalidField('config/body', error.message);
    throw error;
  }
}

/** Git hosts send it to receivers of pushes; here clients queue it. */
const OF_CLIENTS = ['push'];

/** What of a webhook, as it is shown, is probably not meant. */
export const settingsWarnings = ({ events, config: { filter, body } }: ReturnType<typeof shownWebhook>): Warning[] =>
  webhookWarnings(
    { events, filter, templatePaths: body === null ? [] : templatePaths(body) },
    catalogEntries,
    OF_CLIENTS,
  );

/** Headers with hidden values that a webhook did not keep for its new URL. */
export const droppedHeaders = (names: readonly string[]): Warning[] =>
  names.map((name) =>
    warning(
      'headers_dropped',
      ['config', 'headers', name],
      `The header ${name} is not kept for the new URL; send its value again if the receiver needs it`,
    ),
  );

/** Columns that replies and audit entries need. */
export const SHOWN_COLUMNS = [
  'id',
  'name',
  'event',
  'events',
  'provider',
  'repositoryIdentifier',
  'url',
  'method',
  'headers',
  'filter',
  'bodyTemplate',
  'channel',
  'chatTeamId',
  'timeoutMs',
  'retryCount',
  'retryDelayMs',
  'status',
  'failureReason',
  'lastDeliveryAt',
  'errorCount',
  'createdBy',
  'createdAt',
  'updatedAt',
] as const satisfies (keyof Webhook)[];

/** A webhook as an entity, or as a row of a query: there, times are text. */
export type StoredWebhook = {
  [C in (typeof SHOWN_COLUMNS)[number]]: Date extends Webhook[C] ? Webhook[C] | string : Webhook[C];
};

const shownConfig = ({ channel, chatTeamId, url, method, headers, filter, bodyTemplate }: WebhookSettings) => ({
  ...(channel === null
    ? { url, method, headers: redactedHeaders(headers) }
    : { channel, ...(chatTeamId !== null && { teamId: chatTeamId }) }),
  filter,
  body: bodyTemplate,
});

/** A webhook in replies and in the audit trail: without secret, and without values of headers that look like one. */
export function shownWebhook(encryption: Encryption, webhook: StoredWebhook) {
  const settings = openedSettings(encryption, webhook);
  return {
    id: webhook.id,
    name: settings.name,
    event: settings.events[0] ?? webhook.event,
    events: settings.events,
    provider: settings.provider,
    repositoryIdentifier: settings.repositoryIdentifier,
    config: shownConfig(settings),
    timeout: settings.timeoutMs,
    retryCount: settings.retryCount,
    retryDelay: settings.retryDelayMs,
    status: settings.status,
    failureReason: webhook.failureReason ?? null,
    lastDeliveryAt: webhook.lastDeliveryAt ?? null,
    errorCount: webhook.errorCount,
    createdBy: webhook.createdBy,
    createdAt: webhook.createdAt,
    updatedAt: webhook.updatedAt,
  };
}
