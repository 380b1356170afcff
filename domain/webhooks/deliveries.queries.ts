import { notFound } from '../shared/errors.ts';
import type { Tx } from '../unit-of-work.ts';
import type { DeliveryStatus } from './delivery-rules.ts';
import { envelopeText } from './envelope-rules.ts';

export interface DeliveryRow {
  id: string;
  webhookId: string;
  event: string;
  status: DeliveryStatus;
  attempts: number;
  responseStatus: number | null;
  error: string | null;
  durationMs: number | null;
  redeliveryOf: string | null;
  createdAt: string;
  /** When the next try is due; null when there is none. */
  nextAttemptAt: string | null;
  completedAt: string | null;
}

/** Where a page begins: after the delivery with this time and id. */
export interface DeliveryCursor {
  createdAt: string;
  id: string;
}

export interface DeliveryFilter {
  status?: DeliveryStatus | undefined;
  responseStatus?: number | undefined;
  /** Inclusive. */
  from?: Date | undefined;
  /** Exclusive. */
  to?: Date | undefined;
}

export interface DeliveryTotals {
  success: number;
  failure: number;
  pending: number;
}

/** Deliveries of a webhook, newest first. */
export function listDeliveries(
  tx: Tx,
  webhookId: string,
  filter: DeliveryFilter,
  cursor: DeliveryCursor | undefined,
  limit: number,
): Promise<DeliveryRow[]> {
  const conditions: [string, ...unknown[]][] = [
    ['webhook_id = ?', webhookId],
    ...(filter.status ? [['status = ?', filter.status] as [string, unknown]] : []),
    ...(filter.responseStatus === undefined ? [] : [statusCodeCondition(filter.responseStatus)]),
    ...windowConditions(filter),
    ...(cursor
      ? [['(created_at, id) < (?::timestamptz, ?::uuid)', cursor.createdAt, cursor.id] as [string, ...unknown[]]]
      : []),
  ];
  return tx.sql(
    `select id, webhook_id as "webhookId", event, status, attempts, last_status_code as "responseStatus", last_error as error,
       last_duration_ms as "durationMs", redelivery_of as "redeliveryOf", created_at as "createdAt",
       case when status = 'pending' then due_at end as "nextAttemptAt", completed_at as "completedAt"
     from webhook_delivery where ${conditions.map(([text]) => text).join(' and ')}
     order by created_at desc, id desc limit ?`,
    [...conditions.flatMap(([, ...values]) => values), limit],
  );
}

/** The second condition lets the index of refused deliveries be used, which holds no successes. */
const statusCodeCondition = (code: number): [string, unknown] => [
  code >= 300 ? 'last_status_code = ? and last_status_code >= 300' : 'last_status_code = ?',
  code,
];

const windowConditions = ({ from, to }: DeliveryFilter): [string, unknown][] => [
  ...(from ? [['created_at >= ?::timestamptz', from.toISOString()] as [string, unknown]] : []),
  ...(to ? [['created_at < ?::timestamptz', to.toISOString()] as [string, unknown]] : []),
];

/** Totals of a webhook: of a window of time when one is given, else of all that was ever sent, which is counted as it happens. */
export async function deliveryTotals(
  tx: Tx,
  webhookId: string,
  window: Pick<DeliveryFilter, 'from' | 'to'> = {},
): Promise<DeliveryTotals> {
  const conditions = windowConditions(window);
  const [totals] =
    conditions.length === 0
      ? await tx.sql<DeliveryTotals>(
          `select delivered_count::int as success, failed_count::int as failure,
             (select count(*)::int from webhook_delivery d where d.webhook_id = w.id and d.status = 'pending') as pending
           from webhook w where id = ?`,
          [webhookId],
        )
      : await tx.sql<DeliveryTotals>(
          `select count(*) filter (where status = 'delivered')::int as success, count(*) filter (where status = 'failed')::int as failure,
             count(*) filter (where status = 'pending')::int as pending
           from webhook_delivery where webhook_id = ? and ${conditions.map(([text]) => text).join(' and ')}`,
          [webhookId, ...conditions.map(([, value]) => value)],
        );
  return totals ?? { success: 0, failure: 0, pending: 0 };
}

export interface AttemptRow {
  attempt: number;
  url: string;
  method: string;
  statusCode: number | null;
  error: string | null;
  errorKind: string | null;
  sentBody: string | null;
  responseHeaders: Record<string, string> | null;
  responseBody: string | null;
  durationMs: number;
  startedAt: string;
}

interface StoredAttempt extends Omit<AttemptRow, 'responseHeaders'> {
  isEnvelope: boolean;
  responseHeaders: Record<string, string> | string | null;
}

/** Every try of a delivery, newest first, with what was sent. Throws `not_found`. */
export async function listAttempts(tx: Tx, webhookId: string, deliveryId: string): Promise<AttemptRow[]> {
  const [delivery] = await tx.sql<{ id: string; event: string; payload: string; createdAt: string }>(
    `select id, event, payload::text as payload, created_at as "createdAt" from webhook_delivery
     where tenant_id = ? and id = ? and webhook_id = ?`,
    [tx.tenantId, deliveryId, webhookId],
  );
  if (!delivery) throw notFound('The delivery');
  const rows = await tx.sql<StoredAttempt>(
    `select attempt, url, method, status_code as "statusCode", error, error_kind as "errorKind", is_envelope as "isEnvelope",
       sent_body as "sentBody", response_headers as "responseHeaders", response_body as "responseBody",
       duration_ms as "durationMs", started_at as "startedAt"
     from webhook_attempt where tenant_id = ? and delivery_id = ? order by attempt desc`,
    [tx.tenantId, deliveryId],
  );
  const envelope = envelopeText({ ...delivery, createdAt: new Date(delivery.createdAt) });
  return rows.map(({ isEnvelope, ...row }) => ({
    ...row,
    sentBody: isEnvelope ? envelope : row.sentBody,
    responseHeaders:
      typeof row.responseHeaders === 'string'
        ? (JSON.parse(row.responseHeaders) as Record<string, string>)
        : row.responseHeaders,
  }));
}

/** Queues one payload to one webhook and wakes its lane; answers the delivery's id. */
export async function enqueueDelivery(
  tx: Tx,
  webhookId: string,
  event: string,
  payload: Record<string, unknown>,
): Promise<string> {
  const [row] = await tx.sql<{ id: string }>(
    `insert into webhook_delivery (id, tenant_id, webhook_id, event, payload, traceparent)
     values (uuidv7(), ?, ?, ?, ?::json, ?::text) returning id`,
    [tx.tenantId, webhookId, event, JSON.stringify(payload), tx.traceparent ?? null],
  );
  tx.wakeLane(webhookId);
  return row?.id ?? '';
}

/** Queues what a delivery carried once more, as a delivery of its own. Throws `not_found`. */
export async function redeliver(tx: Tx, webhookId: string, deliveryId: string): Promise<{ id: string; event: string }> {
  const [row] = await tx.sql<{ id: string; event: string }>(
    `insert into webhook_delivery (id, tenant_id, webhook_id, event, payload, traceparent, redelivery_of)
     select uuidv7(), tenant_id, webhook_id, event, payload, ?::text, id from webhook_delivery
     where tenant_id = ? and id = ? and webhook_id = ? returning id, event`,
    [tx.traceparent ?? null, tx.tenantId, deliveryId, webhookId],
  );
  if (!row) throw notFound('The delivery');
  tx.wakeLane(webhookId);
  return row;
}

export const RECOVER_MAX = 10_000;

/**
 * Queues the failed deliveries of a window once more, oldest first, at most `RECOVER_MAX`; answers how many. One that
 * was queued again before is left out: its repetition counts in its stead.
 */
export async function recoverFailed(tx: Tx, webhookId: string, since: Date, until: Date): Promise<number> {
  const [row] = await tx.sql<{ total: number }>(
    `with repeated as (
       insert into webhook_delivery (id, tenant_id, webhook_id, event, payload, traceparent, redelivery_of)
       select uuidv7(), tenant_id, webhook_id, event, payload, ?::text, id from webhook_delivery d
       where d.webhook_id = ? and d.status = 'failed' and d.created_at >= ?::timestamptz and d.created_at < ?::timestamptz
         and not exists (select from webhook_delivery r where r.redelivery_of = d.id)
       order by d.created_at, d.id limit ${RECOVER_MAX}
       returning 1)
     select count(*)::int as total from repeated`,
    [tx.traceparent ?? null, webhookId, since.toISOString(), until.toISOString()],
  );
  if (row && row.total > 0) tx.wakeLane(webhookId);
  return row?.total ?? 0;
}
