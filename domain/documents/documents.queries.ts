import type { ActorReads } from '../data/fenced-reads.ts';
import { newId } from '../shared/ids.ts';
import { DomainError, notFound } from '../shared/errors.ts';
import type { Tx } from '../unit-of-work.ts';
import { PAGE_MAX_BYTES } from './compile-query.ts';
import type { DocumentName } from './document-store.port.ts';

export interface Collection {
  id: string;
  name: string;
}

/** Throws `already_exists`. */
export async function createCollection({ sql, tenantId }: Tx, name: string): Promise<Collection> {
  const [made] = await sql<Collection>(
    'insert into document_collection (tenant_id, id, name) values (?, ?, ?) on conflict do nothing returning id, name',
    [tenantId, newId(), name],
  );
  if (!made) throw new DomainError('already_exists', `There is already a collection ${name}`);
  return made;
}

/** Collections by name, those behind `after`. */
export const listCollections = ({ sql, tenantId }: ActorReads, after: string, limit: number): Promise<Collection[]> =>
  sql('select id, name from document_collection where tenant_id = ? and name > ? order by name limit ?', [
    tenantId,
    after,
    limit,
  ]);

/** Throws `not_found`. */
export async function collectionByName({ sql, tenantId }: ActorReads, name: string): Promise<Collection> {
  const [collection] = await sql<Collection>(
    'select id, name from document_collection where tenant_id = ? and name = ?',
    [tenantId, name],
  );
  if (!collection) throw notFound(`Collection ${name}`);
  return collection;
}

/**
 * Deletes a collection with its documents in every store; each is announced. Answers how many there were. Throws
 * `not_found`. The collection is locked first, as writers do, so that none waits for another in a circle.
 */
export async function deleteCollection(tx: Tx, name: string): Promise<number> {
  const { sql, tenantId, actor, traceparent } = tx;
  const locked = await sql('select from document_collection where tenant_id = ? and name = ? for update', [
    tenantId,
    name,
  ]);
  if (locked.length === 0) throw notFound(`Collection ${name}`);
  const [removed] = await sql<{ documents: number; webhookIds: string[] | null }>(
    `with removed as (
       delete from document where tenant_id = ? and collection = ? returning store, collection, key, version),
     queued as (
       insert into webhook_delivery (id, tenant_id, webhook_id, event, payload, traceparent)
       select uuidv7(), w.tenant_id, w.id, w.event, json_build_object('store', r.store, 'collection', r.collection, 'key', r.key,
         'version', r.version, 'changedBy', ?::text), ?::text
       from removed r
       join webhook w on w.tenant_id = ? and w.event = 'document.deleted' and w.status = 'active' and w.deleted_at is null
       returning webhook_id)
     select (select count(*) from removed)::int as documents, (select array_agg(distinct webhook_id) from queued) as "webhookIds"`,
    [tenantId, name, actor.email, traceparent ?? null, tenantId],
  );
  await sql('delete from document_collection where tenant_id = ? and name = ?', [tenantId, name]);
  for (const webhookId of removed?.webhookIds ?? []) tx.wakeLane(webhookId);
  return removed?.documents ?? 0;
}

/**
 * Deletes a document with its earlier versions and answers its version. Throws `not_found`, and `precondition_failed`
 * when another version is expected.
 */
export async function deleteDocument(
  { sql, tenantId }: Tx,
  name: DocumentName,
  expectedVersion: number | undefined,
): Promise<number> {
  const where = 'where tenant_id = ? and store = ? and collection = ? and key = ?';
  const parameters = [tenantId, name.store, name.collection, name.key];
  const [found] = await sql<{ version: number }>(`select version from document ${where} for update`, parameters);
  if (!found) throw notFound(`Document ${name.key} of collection ${name.collection}`);
  if (expectedVersion !== undefined && expectedVersion !== found.version) {
    throw new DomainError('precondition_failed', `The document has version ${found.version}`, {
      members: { currentVersion: found.version },
    });
  }
  await sql(`delete from document ${where}`, parameters);
  return found.version;
}

/** Keys and versions of a collection by key, those behind `after`. */
export const listKeys = (
  { sql, tenantId }: ActorReads,
  store: string,
  collection: string,
  after: string,
  limit: number,
): Promise<{ key: string; version: number }[]> =>
  sql(
    'select key, version from document where tenant_id = ? and store = ? and collection = ? and key > ? order by key limit ?',
    [tenantId, store, collection, after, limit],
  );

/** The version alone. Throws `not_found`. */
export async function documentVersion(
  { sql, tenantId }: ActorReads,
  { store, collection, key }: DocumentName,
): Promise<number> {
  const [found] = await sql<{ version: number }>(
    'select version from document where tenant_id = ? and store = ? and collection = ? and key = ?',
    [tenantId, store, collection, key],
  );
  if (!found) throw notFound(`Document ${key} of collection ${collection}`);
  return found.version;
}

export interface VersionRow {
  version: number;
  /** JSON. */
  value: string;
  updatedAt: string;
  updatedBy: string;
}

/** Earlier versions of a document before one, newest first; fewer than `limit` when they are large, but at least one. */
export const listVersions = (
  { sql, tenantId }: ActorReads,
  { store, collection, key }: DocumentName,
  before: number,
  limit: number,
): Promise<VersionRow[]> =>
  sql(
    `select version, value::text as value, updated_at as "updatedAt", updated_by as "updatedBy" from (
       select v.*, sum(v.size_bytes) over (order by v.version desc rows between unbounded preceding and 1 preceding) as bytes_before
       from document_version v
       where tenant_id = ? and store = ? and collection = ? and key = ? and version < ?
       order by version desc limit ?) v
     where coalesce(bytes_before, 0) < ${PAGE_MAX_BYTES} order by version desc`,
    [tenantId, store, collection, key, before, limit],
  );

/** How many documents, and about how many bytes, a streamed reply reads at a time. */
const BATCH_DOCUMENTS = 1_000;
const BATCH_BYTES = 1024 * 1024;
/** Pieces of the reply: V8 clears away long texts only when it has gathered many. */
const PIECE_DOCUMENTS = 50;
/** Connections are in UTC. */
const ISO = 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"';

/**
 * The documents of a collection by key, as pieces of the text of a JSON array's inside. Each piece is read by itself,
 * so that a slow reader holds no transaction: documents that are written meanwhile may come as they were or as they are.
 */
export async function* documentTexts(
  { sql, tenantId }: ActorReads,
  store: string,
  collection: string,
): AsyncGenerator<string> {
  let after = '';
  for (;;) {
    const pieces = await sql<{ text: string; last: string }>(
      `select string_agg(
         '{"key":' || to_json(key) || ',"version":' || version || ',"createdAt":"' || to_char(created_at, '${ISO}')
           || '","updatedAt":"' || to_char(updated_at, '${ISO}') || '","value":' || value::text || '}', ',' order by key) as text,
         max(key) as last
       from (
         select d.*, (row_number() over (order by key) - 1) / ${PIECE_DOCUMENTS} as piece,
           sum(size_bytes) over (order by key rows between unbounded preceding and 1 preceding) as bytes_before from (
           select key, version, value, size_bytes, created_at, updated_at from document
           where tenant_id = ? and store = ? and collection = ? and key > ? order by key limit ${BATCH_DOCUMENTS}) d) d
       where coalesce(bytes_before, 0) < ${BATCH_BYTES} group by piece order by piece`,
      [tenantId, store, collection, after],
    );
    if (pieces.length === 0) return;
    for (const { text, last } of pieces) {
      yield after === '' ? text : `,${text}`;
      after = last;
    }
  }
}
