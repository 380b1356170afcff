import { redactedHeaders } from './header-rules.ts';
import type { Encryption } from '../shared/encryption.ts';
import { notFound } from '../shared/errors.ts';
import type { Tx } from '../unit-of-work.ts';
import { openHeaders, sealHeaders, sealSecret } from './webhook-secrets.ts';
import type { WebhookStatus } from './webhook-status-rules.ts';

/** What of a webhook its owner decides, beside its secret. */
export interface WebhookSettings {
  name: string;
  event: string;
  provider: string;
  repositoryIdentifier: string | null;
  url: string;
  method: string;
  headers: Record<string, string>;
  filter: Record<string, unknown>;
  bodyTemplate: string | null;
  timeoutMs: number;
  retryCount: number;
  retryDelayMs: number;
  status: WebhookStatus;
}

export interface Webhook extends WebhookSettings {
  id: string;
  failureReason: string | null;
  errorCount: number;
  deliveredCount: number;
  failedCount: number;
  lastDeliveryAt: string | null;
  createdBy: string;
  createdAt: string;
  updatedAt: string;
}

type StoredWebhook = Omit<Webhook, 'headers' | 'filter'> & {
  headers: string | null;
  filter: Record<string, unknown> | string | null;
};

const COLUMNS = `id, name, event, provider, repository_identifier as "repositoryIdentifier", url, method, headers, filter,
  body_template as "bodyTemplate", timeout_ms as "timeoutMs", retry_count as "retryCount", retry_delay_ms as "retryDelayMs",
  status, failure_reason as "failureReason", error_count as "errorCount", delivered_count::int as "deliveredCount",
  failed_count::int as "failedCount", last_delivery_at as "lastDeliveryAt", created_by as "createdBy",
  created_at as "createdAt", updated_at as "updatedAt"`;

/** Most webhooks of a tenant: the list is not paged. */
export const WEBHOOKS_MAX = 1_000;

const opened = (encryption: Encryption, row: StoredWebhook): Webhook => ({
  ...row,
  headers: openHeaders(encryption, row.id, row.headers),
  filter: typeof row.filter === 'string' ? (JSON.parse(row.filter) as Record<string, unknown>) : (row.filter ?? {}),
});

/** The tenant's webhooks, oldest first. */
export async function listWebhooks(tx: Tx, encryption: Encryption): Promise<Webhook[]> {
  const rows = await tx.sql<StoredWebhook>(
    `select ${COLUMNS} from webhook where tenant_id = ? and deleted_at is null order by created_at, id limit ${WEBHOOKS_MAX}`,
    [tx.tenantId],
  );
  return rows.map((row) => opened(encryption, row));
}

export async function countWebhooks(tx: Tx): Promise<number> {
  const [row] = await tx.sql<{ total: number }>(
    'select count(*)::int as total from webhook where tenant_id = ? and deleted_at is null',
    [tx.tenantId],
  );
  return row?.total ?? 0;
}

/** A webhook that is not deleted, locked when it is to be changed. Throws `not_found`. */
export async function webhookById(
  tx: Tx,
  encryption: Encryption,
  id: string,
  { isLocked = false } = {},
): Promise<Webhook> {
  const [row] = await tx.sql<StoredWebhook>(
    `select ${COLUMNS} from webhook where id = ? and deleted_at is null${isLocked ? ' for update' : ''}`,
    [id],
  );
  if (!row) throw notFound('The webhook');
  return opened(encryption, row);
}

/** The log of a deleted webhook stays readable. Throws `not_found`. */
export async function assertKnownLog(tx: Tx, id: string): Promise<void> {
  const rows = await tx.sql('select from webhook where id = ?', [id]);
  if (rows.length === 0) throw notFound('The webhook');
}

export async function insertWebhook(
  tx: Tx,
  encryption: Encryption,
  id: string,
  settings: WebhookSettings,
  secret: string,
): Promise<Webhook> {
  const [row] = await tx.sql<StoredWebhook>(
    `insert into webhook (id, tenant_id, ${SETTINGS.join(', ')}, secret, created_by)
     values (?::uuid, ?::uuid, ${SETTINGS.map(placeholder).join(', ')}, ?, ?) returning ${COLUMNS}`,
    [id, tx.tenantId, ...settingValues(encryption, id, settings), sealSecret(encryption, id, secret), tx.actor.email],
  );
  return opened(encryption, row as StoredWebhook);
}

/**
 * Stores changed settings; deliveries that are claimed from now on use them.
 * @param forgetFailures what the receiver did before no longer counts towards disabling.
 */
export async function updateWebhook(
  tx: Tx,
  encryption: Encryption,
  id: string,
  settings: WebhookSettings,
  forgetFailures: boolean,
): Promise<Webhook> {
  const forget = forgetFailures ? ', error_count = 0, exhausted_in_a_row = 0, failure_reason = null' : '';
  const [row] = await tx.sql<StoredWebhook>(
    `update webhook set ${SETTINGS.map((column) => `${column} = ${placeholder(column)}`).join(', ')},
       revision = revision + 1, updated_at = now()${forget}
     where id = ? returning ${COLUMNS}`,
    [...settingValues(encryption, id, settings), id],
  );
  return opened(encryption, row as StoredWebhook);
}

const SETTINGS = [
  'name',
  'event',
  'provider',
  'repository_identifier',
  'url',
  'method',
  'headers',
  'filter',
  'body_template',
  'timeout_ms',
  'retry_count',
  'retry_delay_ms',
  'status',
] as const;

const placeholder = (column: (typeof SETTINGS)[number]): string => (column === 'filter' ? '?::json' : '?');

const settingValues = (encryption: Encryption, id: string, settings: WebhookSettings): unknown[] => [
  settings.name,
  settings.event,
  settings.provider,
  settings.repositoryIdentifier,
  settings.url,
  settings.method,
  sealHeaders(encryption, id, settings.headers),
  JSON.stringify(settings.filter),
  settings.bodyTemplate,
  settings.timeoutMs,
  settings.retryCount,
  settings.retryDelayMs,
  settings.status,
];

/** Deletes a webhook with its secrets and cancels what is pending; its log stays. */
export async function deleteWebhook(tx: Tx, id: string): Promise<void> {
  await tx.sql(
    `update webhook set deleted_at = now(), updated_at = now(), secret = '', previous_secret = null, headers = null,
       status = 'inactive', revision = revision + 1 where id = ?`,
    [id],
  );
  await tx.sql(
    `update webhook_delivery set status = 'cancelled', completed_at = now() where webhook_id = ? and status = 'pending'`,
    [id],
  );
}

/** Puts a new secret in place; the one of before signs, too, until the given moment. */
export async function rotateSecret(
  tx: Tx,
  encryption: Encryption,
  id: string,
  secret: string,
  bothUntil: Date,
): Promise<void> {
  await tx.sql(
    `update webhook set previous_secret = secret, previous_secret_until = ?::timestamptz, secret = ?, revision = revision + 1, updated_at = now()
     where id = ?`,
    [bothUntil.toISOString(), sealSecret(encryption, id, secret), id],
  );
}

/** What of a webhook stands in replies and in the audit trail: no secret, and headers without values that look like one. */
export const shownWebhook = ({ headers, ...webhook }: Webhook) => ({
  id: webhook.id,
  name: webhook.name,
  event: webhook.event,
  provider: webhook.provider,
  repositoryIdentifier: webhook.repositoryIdentifier,
  config: {
    url: webhook.url,
    method: webhook.method,
    headers: redactedHeaders(headers),
    filter: webhook.filter,
    body: webhook.bodyTemplate,
  },
  timeout: webhook.timeoutMs,
  retryCount: webhook.retryCount,
  retryDelay: webhook.retryDelayMs,
  status: webhook.status,
  failureReason: webhook.failureReason,
  lastDeliveryAt: webhook.lastDeliveryAt,
  errorCount: webhook.errorCount,
  createdBy: webhook.createdBy,
  createdAt: webhook.createdAt,
  updatedAt: webhook.updatedAt,
});
