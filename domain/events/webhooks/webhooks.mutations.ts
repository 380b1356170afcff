import { laneNameOf } from './lane-name-rules.ts';
import { LockMode } from '@mikro-orm/core';
import type { OutboundAddresses } from '../../kernel/outbound/outbound-addresses.ts';
import { isSameRecipient } from '../../kernel/outbound/recipient-rules.ts';
import type { Encryption } from '../../kernel/encryption/encryption.ts';
import { DomainError, notFound } from '../../kernel/shared/errors.ts';
import { newId } from '../../kernel/shared/ids.ts';
import type { Tx } from '../../unit-of-work.ts';
import { cancelPending } from './deliveries.queries.ts';
import { emitEvent } from './event-catalog.ts';
import { updatedHeaders } from './header-rules.ts';
import { newWebhookSecret, ROTATION_OVERLAP_MS } from './standard-webhooks.ts';
import { sealSecret } from './webhook-secrets.ts';
import {
  assertOfKind,
  assertUsable,
  openedSettings,
  sealedSettings,
  shownWebhook,
  type WebhookSettings,
} from './webhook-settings.ts';
import { forgetsFailures, isDelivering, type OwnerStatus } from './webhook-status-rules.ts';
import { Webhook } from './webhooks.entities.ts';
import { countWebhooks, WEBHOOKS_MAX } from './webhooks.queries.ts';

type ShownWebhook = ReturnType<typeof shownWebhook>;

/** What settings are checked against and encrypted with. */
interface SettingParts {
  encryption: Encryption;
  outbound: OutboundAddresses;
}

/**
 * Creates a webhook. Throws `invalid_request` for a repository that is not registered, as `assertUsable`, and if the
 * tenant has the maximum number of webhooks.
 * @param urlField the field of the URL.
 * @param chosenSecret default: a new one.
 */
export async function createWebhook(
  tx: Tx,
  { encryption, outbound }: SettingParts,
  settings: WebhookSettings,
  urlField: string,
  chosenSecret?: string,
): Promise<ShownWebhook & { secret: string }> {
  if (settings.repositoryIdentifier !== null) await tx.tell('projectNamed', settings.repositoryIdentifier);
  assertUsable(settings, outbound, urlField);
  if ((await countWebhooks(tx)) >= WEBHOOKS_MAX)
    throw new DomainError('invalid_request', `A tenant has at most ${WEBHOOKS_MAX} webhooks`);
  const id = newId();
  const secret = chosenSecret ?? newWebhookSecret();
  const webhook = tx.em.create(Webhook, {
    ...sealedSettings(encryption, id, settings),
    id,
    tenantId: tx.tenantId,
    secret: sealSecret(encryption, id, secret),
    createdBy: tx.actor.email,
    laneName: laneNameOf({ name: settings.name, id }),
  });
  await tx.em.flush();
  const shown = shownWebhook(encryption, webhook);
  auditWebhook(tx, 'created', webhook, { after: shown });
  return { ...shown, secret };
}

/** Settings that an owner changes; absent ones stay as they are. */
export type SettingsChange = Partial<Omit<WebhookSettings, 'provider' | 'repositoryIdentifier' | 'status'>> & {
  status?: OwnerStatus;
};

/** Members of `config` in requests. */
const CONFIG = [
  'url',
  'method',
  'headers',
  'filter',
  'bodyTemplate',
  'channel',
  'chatTeamId',
] as const satisfies (keyof SettingsChange)[];

/**
 * Changes settings; deliveries that are claimed from now on use them. Headers whose values are hidden do not follow a
 * changed URL: `webhook.headers_dropped` is announced, and `headersDropped` names them. Throws `not_found`, and
 * `invalid_request` as `assertUsable`.
 */
export async function changeWebhook(
  tx: Tx,
  { encryption, outbound }: SettingParts,
  id: string,
  change: SettingsChange,
): Promise<{ webhook: ShownWebhook; headersDropped: string[] }> {
  const webhook = await lockedWebhook(tx, id);
  assertOfKind(webhook, change);
  const before = shownWebhook(encryption, webhook);
  const current = openedSettings(encryption, webhook);
  const isNewRecipient = change.url !== undefined && !isSameRecipient(current.url, change.url, 'address');
  const { headers, dropped } = updatedHeaders(current.headers, change.headers, isNewRecipient);
  const settings: WebhookSettings = { ...current, ...change, headers };
  if (CONFIG.some((member) => member in change)) assertUsable(settings, outbound, 'config/url');
  tx.em.assign(webhook, {
    ...sealedSettings(encryption, id, settings, webhook),
    revision: webhook.revision + 1,
    ...(forgetsFailures(change.status) && { errorCount: 0, exhaustedInRow: 0, failureReason: null }),
  });
  await tx.em.flush();
  const after = shownWebhook(encryption, webhook);
  auditWebhook(tx, 'updated', webhook, { before, after });
  if (dropped.length > 0) {
    const { name, events, url } = settings;
    const { event } = after;
    emitEvent(tx, 'webhook.headers_dropped', { id, name, event, events, url: withoutQuery(url), headers: dropped });
  }
  if (isDelivering(webhook.status)) tx.after('webhook', id);
  return { webhook: after, headersDropped: dropped };
}

/** Deletes a webhook and its secrets and cancels its pending deliveries; its log stays. Throws `not_found`. */
export async function deleteWebhook(tx: Tx, encryption: Encryption, id: string): Promise<void> {
  const webhook = await lockedWebhook(tx, id);
  auditWebhook(tx, 'deleted', webhook, { before: shownWebhook(encryption, webhook) });
  tx.em.assign(webhook, {
    deletedAt: tx.now,
    secret: '',
    previousSecret: null,
    headers: null,
    status: 'inactive',
    revision: webhook.revision + 1,
  });
  await tx.em.flush();
  await cancelPending(tx, id);
}

/** Rotates the secret of a webhook; until the returned time, the previous one signs as well. Throws `not_found`. */
export async function rotateWebhookSecret(
  tx: Tx,
  encryption: Encryption,
  id: string,
): Promise<{ secret: string; previousSecretValidUntil: Date }> {
  const webhook = await lockedWebhook(tx, id);
  const secret = newWebhookSecret();
  const previousSecretValidUntil = new Date(tx.now.getTime() + ROTATION_OVERLAP_MS);
  tx.em.assign(webhook, {
    previousSecret: webhook.secret,
    previousSecretUntil: previousSecretValidUntil,
    secret: sealSecret(encryption, id, secret),
    revision: webhook.revision + 1,
  });
  auditWebhook(tx, 'secret_rotated', webhook);
  return { secret, previousSecretValidUntil };
}

/**
 * Disables a webhook for which the lane recorded a reason: it becomes `failed`, and `webhook.disabled` is announced.
 * Does nothing if its owner has changed its status meanwhile.
 */
export async function disableWebhook(tx: Tx, id: string): Promise<void> {
  const webhook = await tx.em.findOne(
    Webhook,
    { id, status: 'active', failureReason: { $ne: null }, deletedAt: null },
    { lockMode: LockMode.PESSIMISTIC_WRITE },
  );
  if (!webhook) return;
  webhook.status = 'failed';
  const { name, events, url, errorCount } = webhook;
  const event = events[0] ?? webhook.event;
  const reason = webhook.failureReason ?? '';
  tx.audit({
    source: 'webhook',
    action: 'webhook.disabled',
    entityType: 'webhook',
    entityId: id,
    summary: `Webhook ${name} disabled: ${reason}`,
    before: { status: 'active' },
    after: { status: 'failed', failureReason: reason, errorCount },
  });
  emitEvent(tx, 'webhook.disabled', { id, name, event, events, reason, errorCount, url: withoutQuery(url) });
}

/** The query of a receiver's URL often contains a token. */
const withoutQuery = (address: string): string => {
  const url = new URL(address);
  return url.origin + url.pathname;
};

/** Locks a webhook until this transaction ends. Throws `not_found`. */
async function lockedWebhook(tx: Tx, id: string): Promise<Webhook> {
  const lock = { lockMode: LockMode.PESSIMISTIC_WRITE };
  const webhook = await tx.em.findOne(Webhook, { tenantId: tx.tenantId, id, deletedAt: null }, lock);
  if (!webhook) throw notFound('The webhook');
  return webhook;
}

interface AuditedWebhook {
  id: string;
  name: string;
  repositoryIdentifier?: string | null | undefined;
}

/** Audits a change of a webhook; `before` and `after` are as in replies, without secrets. */
export function auditWebhook(
  tx: Tx,
  change: string,
  { id, name, repositoryIdentifier = null }: AuditedWebhook,
  states: { before?: unknown; after?: unknown } = {},
): void {
  tx.audit({
    source: 'webhook',
    action: `webhook.${change}`,
    entityType: 'webhook',
    entityId: id,
    repositoryIdentifier,
    summary: `Webhook ${name}: ${change.replaceAll('_', ' ')}`,
    ...states,
  });
}
