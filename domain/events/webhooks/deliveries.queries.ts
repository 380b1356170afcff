import { sql } from 'kysely';
import { json, type JsonText } from '../../kernel/data/columns.ts';
import type { Reads } from '../../kernel/data/fenced-reads.ts';
import { notFound } from '../../kernel/shared/errors.ts';
import type { Tx } from '../../unit-of-work.ts';
import { envelopeText } from './envelope-rules.ts';

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
