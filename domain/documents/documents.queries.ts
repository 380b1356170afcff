import { sql } from 'kysely';
import type { Reads } from '../kernel/data/fenced-reads.ts';
import { notFound } from '../kernel/shared/errors.ts';
import type { Tx } from '../unit-of-work.ts';
import { PAGE_MAX_BYTES } from './compile-query.ts';
import type { DocumentName } from './document-store.port.ts';
import type { Store } from '../kernel/settings/kept-version-rules.ts';

type Writes = Pick<Tx, 'db' | 'tenantId'>;

/** Documents of a collection in one store. */
const documentsOf = ({ db, tenantId }: Reads, store: Store, collection: string) =>
  db
    .selectFrom('document')
    .where('tenantId', '=', tenantId)
    .where('store', '=', store)
    .where('collection', '=', collection);

/** Keys and versions of a collection by key, those behind `after`. */
export const listKeys = (reads: Reads, store: Store, collection: string, after: string, limit: number) =>
  documentsOf(reads, store, collection)
    .where('key', '>', after)
    .orderBy('key')
    .limit(limit)
    .select(['key', 'version'])
    .execute();

/** Throws `not_found`. */
export async function documentVersion(reads: Reads, { store, collection, key }: DocumentName): Promise<number> {
  const found = await documentsOf(reads, store, collection).where('key', '=', key).select('version').executeTakeFirst();
  if (!found) throw notFound(`Document ${key} of collection ${collection}`);
  return found.version;
}

/** Like `documentVersion`; nobody else writes the document until this transaction ends. */
export async function lockedDocumentVersion(tx: Writes, { store, collection, key }: DocumentName): Promise<number> {
  const found = await documentsOf(tx, store, collection)
    .where('key', '=', key)
    .forUpdate()
    .select('version')
    .executeTakeFirst();
  if (!found) throw notFound(`Document ${key} of collection ${collection}`);
  return found.version;
}

/** Deletes a document with its earlier versions. */
export async function removeDocument(
  { db, tenantId }: Writes,
  { store, collection, key }: DocumentName,
): Promise<void> {
  await db
    .deleteFrom('document')
    .where('tenantId', '=', tenantId)
    .where('store', '=', store)
    .where('collection', '=', collection)
    .where('key', '=', key)
    .execute();
}

/** Earlier versions of a document before one, newest first; fewer than `limit` when they are large, but at least one. */
export const listVersions = (
  { db, tenantId }: Reads,
  { store, collection, key }: DocumentName,
  before: number,
  limit: number,
) =>
  db
    .selectFrom((eb) =>
      eb
        .selectFrom('document_version as v')
        .where('v.tenantId', '=', tenantId)
        .where('v.store', '=', store)
        .where('v.collection', '=', collection)
        .where('v.key', '=', key)
        .where('v.version', '<', before)
        .orderBy('v.version', 'desc')
        .limit(limit)
        .select([
          'v.version',
          'v.value',
          'v.updatedAt',
          'v.updatedBy',
          sql`sum(v.size_bytes) over (order by v.version desc rows between unbounded preceding and 1 preceding)`.as(
            'bytes_before',
          ),
        ])
        .as('v'),
    )
    .where(sql<boolean>`coalesce(v.bytes_before, 0) < ${sql.lit(PAGE_MAX_BYTES)}`)
    .orderBy('v.version', 'desc')
    .select(['v.version', sql<string>`v.value::text`.as('value'), 'v.updatedAt', 'v.updatedBy'])
    .execute();

/** How many documents, and about how many bytes, a streamed reply reads at a time. */
const BATCH_DOCUMENTS = 1_000;
const BATCH_BYTES = 1024 * 1024;
/** V8 frees long texts only when it has gathered many, so the reply is made of short pieces. */
const PIECE_DOCUMENTS = 50;
/** Connections are in UTC. */
const ISO = sql.lit('YYYY-MM-DD"T"HH24:MI:SS.MS"Z"');

/**
 * The documents of a collection by key, as pieces of the text of a JSON array's inside. Each piece is read by itself,
 * so that a slow reader holds no transaction: documents that are written meanwhile may come as they were or as they are.
 */
export async function* documentTexts(reads: Reads, store: Store, collection: string): AsyncGenerator<string> {
  let after = '';
  for (;;) {
    const batch = documentsOf(reads, store, collection)
      .where('key', '>', after)
      .orderBy('key')
      .limit(sql.lit(BATCH_DOCUMENTS))
      .select(['key', 'version', 'value', 'sizeBytes', 'createdAt', 'updatedAt']);
    const { rows: pieces } = await sql<{ text: string; last: string }>`
      select string_agg(
        '{"key":' || to_json(key) || ',"version":' || version || ',"createdAt":"' || to_char(created_at, ${ISO})
          || '","updatedAt":"' || to_char(updated_at, ${ISO}) || '","value":' || value::text || '}', ',' order by key) as text,
        max(key) as last
      from (
        select key, version, value, created_at, updated_at, (row_number() over (order by key) - 1) / ${sql.lit(PIECE_DOCUMENTS)} as piece,
          sum(size_bytes) over (order by key rows between unbounded preceding and 1 preceding) as bytes_before
        from ${batch} d) d
      where coalesce(bytes_before, 0) < ${sql.lit(BATCH_BYTES)} group by piece order by piece`.execute(reads.db);
    if (pieces.length === 0) return;
    for (const { text, last } of pieces) {
      yield after === '' ? text : `,${text}`;
      after = last;
    }
  }
}
