import { expressionBuilder, type Expression, sql, type SqlBool } from 'kysely';
import { json, type JsonText } from '../../kernel/data/columns.ts';
import type { Reads } from '../../kernel/data/fenced-reads.ts';
import type { Tables } from '../../kernel/data/tables.ts';
import { notFound } from '../../kernel/shared/errors.ts';
import type { Tx } from '../../unit-of-work.ts';
import type { DeliveryStatus } from './delivery-rules.ts';
import { envelopeText } from './envelope-rules.ts';

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

/** Numbers of deliveries. */
export interface DeliveryTotals {
  success: number;
  failure: number;
  pending: number;
}

/** The log of a deleted webhook stays readable. Throws `not_found`. */
async function assertHasLog({ db }: Reads, webhookId: string): Promise<void> {
  const webhook = await db.selectFrom('webhook').where('id', '=', webhookId).select('id').executeTakeFirst();
  if (!webhook) throw notFound('The webhook');
}

const deliveries = expressionBuilder<Tables, 'webhook_delivery'>();

function periodConditions({ from, to }: Pick<DeliveryFilter, 'from' | 'to'>): Expression<SqlBool>[] {
  return [
    ...(from ? [deliveries('createdAt', '>=', from.toISOString())] : []),
    ...(to ? [deliveries('createdAt', '<', to.toISOString())] : []),
  ];
}

/**
 * A page of the deliveries of a webhook, newest first, with the totals of the period. Throws `not_found`.
 * `nextCursor` is undefined at the end.
 */
export async function listDeliveries(
  reads: Reads,
  webhookId: string,
  { status, responseStatus, from, to }: DeliveryFilter,
  { cursor, limit }: { cursor?: DeliveryCursor | undefined; limit: number },
) {
  await assertHasLog(reads, webhookId);
  let query = reads.db
    .selectFrom('webhook_delivery')
    .where('webhookId', '=', webhookId)
    .where(deliveries.and(periodConditions({ from, to })));
  if (status) query = query.where('status', '=', status);
  if (responseStatus !== undefined) query = query.where('lastStatusCode', '=', responseStatus);
  // Lets the index of refused deliveries be used, which holds no successes.
  if (responseStatus !== undefined && responseStatus >= 300) query = query.where('lastStatusCode', '>=', sql.lit(300));
  if (cursor)
    query = query.where(sql<SqlBool>`(created_at, id) < (${cursor.createdAt}::timestamptz, ${cursor.id}::uuid)`);
  const found = await query
    .orderBy('createdAt', 'desc')
    .orderBy('id', 'desc')
    .limit(limit + 1)
    .select((eb) => [
      'id',
      'webhookId',
      'event',
      'status',
      'attempts',
      'lastStatusCode as responseStatus',
      'lastError as error',
      'lastDurationMs as durationMs',
      'redeliveryOf',
      'createdAt',
      eb.case().when('status', '=', sql.lit('pending')).then(eb.ref('dueAt')).end().as('nextAttemptAt'),
      'completedAt',
    ])
    .execute();
  const page = found.slice(0, limit);
  return {
    deliveries: page,
    totals: await deliveryTotals(reads, webhookId, { from, to }),
    nextCursor: found.length > limit ? page.at(-1) : undefined,
  };
}

/** Totals of a webhook: of the period if one is given, otherwise of all deliveries ever, from its counters. */
export async function deliveryTotals(
  { db }: Reads,
  webhookId: string,
  period: Pick<DeliveryFilter, 'from' | 'to'> = {},
): Promise<DeliveryTotals> {
  const conditions = periodConditions(period);
  const rows = await (conditions.length === 0
    ? db
        .selectFrom('webhook as w')
        .where('w.id', '=', webhookId)
        .select((eb) => [
          eb.cast<number>('w.deliveredCount', 'integer').as('success'),
          eb.cast<number>('w.failedCount', 'integer').as('failure'),
          sql<number>`(${eb
            .selectFrom('webhook_delivery as d')
            .whereRef('d.webhookId', '=', 'w.id')
            .where('d.status', '=', sql.lit('pending'))
            .select(sql`count(*)::int`.as('count'))})`.as('pending'),
        ])
    : db
        .selectFrom('webhook_delivery')
        .where('webhookId', '=', webhookId)
        .where(deliveries.and(conditions))
        .select([
          sql<number>`count(*) filter (where status = 'delivered')::int`.as('success'),
          sql<number>`count(*) filter (where status = 'failed')::int`.as('failure'),
          sql<number>`count(*) filter (where status = 'pending')::int`.as('pending'),
        ])
  ).execute();
  return rows[0] ?? { success: 0, failure: 0, pending: 0 };
}

/** Every attempt of a delivery, newest first, with what was sent. Throws `not_found`. */
export async function listAttempts({ db, tenantId }: Reads, webhookId: string, deliveryId: string) {
  const delivery = await db
    .selectFrom('webhook_delivery')
    .where('tenantId', '=', tenantId)
    .where('id', '=', deliveryId)
    .where('webhookId', '=', webhookId)
    .select((eb) => ['id', 'event', eb.cast<string>('payload', 'text').as('payload'), 'createdAt'])
    .executeTakeFirst();
  if (!delivery) throw notFound('The delivery');
  const attempts = await db
    .selectFrom('webhook_attempt')
    .where('tenantId', '=', tenantId)
    .where('deliveryId', '=', deliveryId)
    .orderBy('attempt', 'desc')
    .select([
      'attempt',
      'url',
      'method',
      'statusCode',
      'error',
      'errorKind',
      'isEnvelope',
      'sentBody',
      'responseHeaders',
      'responseBody',
      'durationMs',
      'startedAt',
    ])
    .execute();
  const envelope = envelopeText(delivery);
  return attempts.map(({ isEnvelope, ...attempt }) => ({
    ...attempt,
    sentBody: isEnvelope ? envelope : attempt.sentBody,
  }));
}

/** Inserts a pending delivery; returns its id. */
export async function insertDelivery(
  { db, tenantId, traceparent }: Tx,
  webhookId: string,
  event: string,
  payload: Record<string, unknown>,
): Promise<string> {
  const { id } = await db
    .insertInto('webhook_delivery')
    .values({
      id: sql<string>`uuidv7()`,
      tenantId,
      webhookId,
      event,
      payload: json(payload) as JsonText<unknown>,
      traceparent: traceparent ?? null,
    })
    .returning('id')
    .executeTakeFirstOrThrow();
  return id;
}

const COPIED = ['id', 'tenantId', 'webhookId', 'event', 'payload', 'traceparent', 'redeliveryOf'] as const;

/** Inserts a copy of a delivery, linked to it; undefined if there is no such delivery. */
export const copyDelivery = ({ db, tenantId, traceparent }: Tx, webhookId: string, deliveryId: string) =>
  db
    .insertInto('webhook_delivery')
    .columns(COPIED)
    .expression((eb) =>
      eb
        .selectFrom('webhook_delivery')
        .where('tenantId', '=', tenantId)
        .where('id', '=', deliveryId)
        .where('webhookId', '=', webhookId)
        .select([
          sql<string>`uuidv7()`.as('id'),
          'tenantId',
          'webhookId',
          'event',
          'payload',
          sql<string | null>`${traceparent ?? null}::text`.as('traceparent'),
          'id as redeliveryOf',
        ]),
    )
    .returning(['id', 'event'])
    .executeTakeFirst();

/**
 * Inserts copies of the failed deliveries of a period, oldest first, at most `limit`; returns how many. Those that have
 * been copied before are left out.
 */
export async function copyFailed(
  { db, traceparent }: Tx,
  webhookId: string,
  { since, until, limit }: { since: Date; until: Date; limit: number },
): Promise<number> {
  const { numInsertedOrUpdatedRows } = await db
    .insertInto('webhook_delivery')
    .columns(COPIED)
    .expression((eb) =>
      eb
        .selectFrom('webhook_delivery as d')
        .where('d.webhookId', '=', webhookId)
        .where('d.status', '=', sql.lit('failed'))
        .where('d.createdAt', '>=', since.toISOString())
        .where('d.createdAt', '<', until.toISOString())
        .where(({ not, exists, selectFrom }) =>
          not(
            exists(
              selectFrom('webhook_delivery as r').whereRef('r.redeliveryOf', '=', 'd.id').select(sql.lit(1).as('one')),
            ),
          ),
        )
        .orderBy('d.createdAt')
        .orderBy('d.id')
        .limit(limit)
        .select([
          sql<string>`uuidv7()`.as('new_id'),
          'd.tenantId',
          'd.webhookId',
          'd.event',
          'd.payload',
          sql<string | null>`${traceparent ?? null}::text`.as('traceparent'),
          'd.id as redelivery_of',
        ]),
    )
    .executeTakeFirst();
  return Number(numInsertedOrUpdatedRows ?? 0);
}

/** Cancels the pending deliveries of a webhook. */
export async function cancelPending({ db }: Tx, webhookId: string): Promise<void> {
  await db
    .updateTable('webhook_delivery')
    .set({ status: 'cancelled', completedAt: sql<string>`now()` })
    .where('webhookId', '=', webhookId)
    .where('status', '=', 'pending')
    .execute();
}
