import { sql } from 'kysely';
import type { Reads } from '../kernel/data/fenced-reads.ts';
import { newId } from '../kernel/shared/ids.ts';
import { notFound } from '../kernel/shared/errors.ts';
import type { Tx } from '../unit-of-work.ts';

type Writes = Pick<Tx, 'db' | 'tenantId'>;

const collections = ({ db, tenantId }: Reads) => db.selectFrom('document_collection').where('tenantId', '=', tenantId);

/** Collections by name, those behind `after`. */
export const listCollections = (reads: Reads, after: string, limit: number) =>
  collections(reads).where('name', '>', after).orderBy('name').limit(limit).select(['id', 'name']).execute();

export type Collection = Awaited<ReturnType<typeof listCollections>>[number];

/** Throws `not_found`. */
export async function collectionByName(reads: Reads, name: string): Promise<Collection> {
  const collection = await collections(reads).where('name', '=', name).select(['id', 'name']).executeTakeFirst();
  if (!collection) throw notFound(`Collection ${name}`);
  return collection;
}

/** Locks a collection until this transaction ends. Throws `not_found`. */
export async function lockCollection(tx: Writes, name: string): Promise<void> {
  const locked = await collections(tx).where('name', '=', name).forUpdate().select('id').executeTakeFirst();
  if (!locked) throw notFound(`Collection ${name}`);
}

/** Undefined when there is one of this name. */
export const insertCollection = ({ db, tenantId }: Writes, name: string): Promise<Collection | undefined> =>
  db
    .insertInto('document_collection')
    .values({ tenantId, id: newId(), name })
    .onConflict((conflict) => conflict.doNothing())
    .returning(['id', 'name'])
    .executeTakeFirst();

/**
 * Deletes all documents of a collection, in every store, and queues `document.deleted` for each: how many there were,
 * and the webhooks that have something to deliver.
 */
export const removeDocuments = (
  { db, tenantId, actor, traceparent }: Pick<Tx, 'db' | 'tenantId' | 'actor' | 'traceparent'>,
  collection: string,
): Promise<{ documents: number; webhookIds: string[] | null }> =>
  db
    .with('removed', (inner) =>
      inner
        .deleteFrom('document')
        .where('tenantId', '=', tenantId)
        .where('collection', '=', collection)
        .returning(['store', 'collection', 'key', 'version']),
    )
    .with('queued', (inner) =>
      inner
        .insertInto('webhook_delivery')
        .columns(['id', 'tenantId', 'webhookId', 'event', 'payload', 'traceparent'])
        .expression((eb) =>
          eb
            .selectFrom('removed as r')
            .innerJoin('webhook as w', (join) =>
              join
                .on('w.tenantId', '=', tenantId)
                .on('w.event', '=', 'document.deleted')
                .on('w.status', '=', 'active')
                .on('w.deletedAt', 'is', null),
            )
            .select([
              sql<string>`uuidv7()`.as('id'),
              'w.tenantId',
              'w.id as webhook_id',
              'w.event',
              sql`json_build_object('store', r.store, 'collection', r.collection, 'key', r.key,
                'version', r.version, 'changedBy', ${actor.email}::text)`.as('payload'),
              sql<string | null>`${traceparent ?? null}::text`.as('traceparent'),
            ]),
        )
        .returning('webhookId'),
    )
    .selectNoFrom([
      sql<number>`(select count(*)::int from removed)`.as('documents'),
      sql<string[] | null>`(select array_agg(distinct webhook_id) from queued)`.as('webhookIds'),
    ])
    .executeTakeFirstOrThrow();

/** Deletes a collection that has no documents. */
export async function removeCollection({ db, tenantId }: Writes, name: string): Promise<void> {
  await db.deleteFrom('document_collection').where('tenantId', '=', tenantId).where('name', '=', name).execute();
}
