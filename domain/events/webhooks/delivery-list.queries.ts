import { expressionBuilder, type Expression, sql, type SqlBool } from 'kysely';
import type { PlaceCursor } from '../../kernel/data/conditions.ts';
import type { Reads } from '../../kernel/data/fenced-reads.ts';
import type { ReadDatabase, Tables } from '../../kernel/data/tables.ts';
import { notFound } from '../../kernel/shared/errors.ts';
import type { DeliveryStatus } from './delivery-rules.ts';

export interface DeliveryFilter {
  /** Name of the event. */
  event?: string | undefined;
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

interface PageAsked {
  cursor?: PlaceCursor | undefined;
  limit: number;
}

const NEXT_ATTEMPT = deliveries.case().when('status', '=', sql.lit('pending')).then(deliveries.ref('dueAt')).end();

/** Columns of `newestDeliveries` as a table of its own. */
const FOUND = [
  'd.id',
  'd.webhookId',
  'd.event',
  'd.status',
  'd.attempts',
  'd.responseStatus',
  'd.error',
  'd.durationMs',
  'd.redeliveryOf',
  'd.createdAt',
  'd.nextAttemptAt',
  'd.completedAt',
] as const;

/** The newest deliveries that match, and one more than the page has. */
function newestDeliveries(
  db: ReadDatabase,
  { event, status, responseStatus, from, to }: DeliveryFilter,
  { cursor, limit }: PageAsked,
) {
  let query = db.selectFrom('webhook_delivery').where(deliveries.and(periodConditions({ from, to })));
  if (event !== undefined) query = query.where('event', '=', event);
  if (status) query = query.where('status', '=', status);
  if (responseStatus !== undefined) query = query.where('lastStatusCode', '=', responseStatus);
  // Lets the index of refused deliveries be used, which holds no successes.
  if (responseStatus !== undefined && responseStatus >= 300) query = query.where('lastStatusCode', '>=', sql.lit(300));
  if (cursor)
    query = query.where(sql<SqlBool>`(created_at, id) < (${cursor.createdAt}::timestamptz, ${cursor.id}::uuid)`);
  return query
    .orderBy('createdAt', 'desc')
    .orderBy('id', 'desc')
    .limit(limit + 1)
    .select([
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
      NEXT_ATTEMPT.as('nextAttemptAt'),
      'completedAt',
    ]);
}

/** A page of what was found; `nextCursor` is undefined at the end. */
const pageOf = <Row extends PlaceCursor>(found: readonly Row[], limit: number) => {
  const page = found.slice(0, limit);
  return { deliveries: page, nextCursor: found.length > limit ? page.at(-1) : undefined };
};

/**
 * A page of the deliveries of a webhook, newest first, with the totals of the period. Throws `not_found`.
 * `nextCursor` is undefined at the end.
 */
export async function listDeliveries(reads: Reads, webhookId: string, filter: DeliveryFilter, page: PageAsked) {
  await assertHasLog(reads, webhookId);
  const found = await newestDeliveries(reads.db, filter, page).where('webhookId', '=', webhookId).execute();
  return { ...pageOf(found, page.limit), totals: await deliveryTotals(reads, webhookId, filter) };
}

/**
 * A page of the deliveries of all webhooks, also of deleted ones, newest first. The newest of each webhook are read
 * from its index, and merged.
 */
export async function listAllDeliveries(
  { db, tenantId }: Reads,
  { repositoryIdentifier, ...filter }: DeliveryFilter & { repositoryIdentifier?: string | undefined },
  page: PageAsked,
) {
  let webhooks = db.selectFrom('webhook as w').where('w.tenantId', '=', tenantId);
  if (repositoryIdentifier !== undefined)
    webhooks = webhooks.where('w.repositoryIdentifier', '=', repositoryIdentifier);
  const found = await webhooks
    .innerJoinLateral(
      newestDeliveries(db, filter, page).where(sql<SqlBool>`webhook_delivery.webhook_id = w.id`).as('d'),
      (join) => join.onTrue(),
    )
    .orderBy('d.createdAt', 'desc')
    .orderBy('d.id', 'desc')
    .limit(page.limit + 1)
    .select(FOUND)
    .select('w.name as webhookName')
    .execute();
  return pageOf(found, page.limit);
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
