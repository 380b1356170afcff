import type pg from 'pg';
import { unchainedEntry, withCanonicalParts } from '../audit/append.queries.ts';
import { batched } from '../shared/batched.ts';
import { tenantQueues } from '../shared/tenant-queues.ts';
import type { EventData } from '../webhooks/event-catalog.ts';
import type { DocumentName, DocumentStore, StoredDocument, WriteOutcome, WriteRequest } from './document-store.port.ts';
import type { KeptVersions } from './store-rules.ts';

const READ = {
  name: 'document-read',
  text: 'select request, version, value, created_at as "createdAt", updated_at as "updatedAt" from document_read($1::jsonb)',
};
const WRITE = {
  name: 'document-write',
  text: `select request, is_written as "isWritten", version, created_at as "createdAt", webhook_ids as "webhookIds"
    from document_write($1::uuid, $2::jsonb, $3::timestamptz)`,
};

/** Bounds the memory of one statement; a value may be a megabyte. */
const BATCH_MAX = 50;
/** Each batch of writes costs a commit and a turn of the tenant's audit chain, however small it is. */
const WRITE_REST_MS = 5;
const READ_REST_MS = 1;
/** A collection was removed meanwhile, or a lock was taken in another order: the same writes go through the next time. */
const REPEATABLE = new Set(['23503', '40P01']);

interface WrittenRow {
  request: number;
  isWritten: boolean;
  version: number | null;
  createdAt: Date | null;
  webhookIds: string[] | null;
}

interface Options {
  /** Connections of the application's role. */
  pool: pg.Pool;
  kept: KeptVersions;
  /** Told of lanes after the commit; must return at once. */
  wakeLanes: (tenantId: string, webhookIds: readonly string[]) => void;
}

/** The store over plain connections: one function call per batch is one transaction and one round trip. */
export function createDocumentStore({ pool, kept, wakeLanes }: Options): DocumentStore {
  const readAll = async (names: (DocumentName & { tenant: string })[]): Promise<(StoredDocument | undefined)[]> => {
    const { rows } = await pool.query<StoredDocument & { request: number }>({
      ...READ,
      values: [JSON.stringify(names)],
    });
    const byRequest = new Map(rows.map(({ request, ...document }) => [request, document]));
    return names.map((_, index) => byRequest.get(index + 1));
  };

  const writeOn = async (
    client: pg.Pool | pg.PoolClient,
    requests: readonly WriteRequest[],
  ): Promise<{ outcomes: WriteOutcome[]; wake: () => void }> => {
    const tenantId = requests[0]?.actor.tenantId ?? '';
    const now = new Date();
    const items = `[${requests.map((request) => itemOf(request, kept, now)).join(',')}]`;
    const { rows } = await client.query<WrittenRow>({ ...WRITE, values: [tenantId, items, now] });
    const outcomes: WriteOutcome[] = requests.map(() => ({ isWritten: false, currentVersion: null }));
    for (const { request, isWritten, version, createdAt } of rows) {
      outcomes[request - 1] = isWritten
        ? { isWritten, version: version as number, createdAt: createdAt as Date, updatedAt: now }
        : { isWritten, currentVersion: version };
    }
    return { outcomes, wake: () => wakeLanes(tenantId, rows[0]?.webhookIds ?? []) };
  };

  const writeTogether = async (requests: readonly WriteRequest[]): Promise<WriteOutcome[]> => {
    const { outcomes, wake } = await twice(() => writeOn(pool, requests));
    wake();
    return outcomes;
  };

  const writeAllOrNothing = async (requests: readonly WriteRequest[]): Promise<WriteOutcome[]> => {
    const client = await pool.connect();
    try {
      await client.query('begin');
      const { outcomes, wake } = await writeOn(client, requests);
      const isWhole = outcomes.every(({ isWritten }) => isWritten);
      await client.query(isWhole ? 'commit' : 'rollback');
      client.release();
      if (isWhole) wake();
      return outcomes;
    } catch (error) {
      client.release(true);
      throw error;
    }
  };

  const read = batched(readAll, { maxBatch: BATCH_MAX, restMs: READ_REST_MS });
  const write = tenantQueues(writeTogether, { maxBatch: BATCH_MAX, restMs: WRITE_REST_MS });
  return {
    read: (tenant, { store, collection, key }) => read({ tenant, store, collection, key }),
    write: (request) => write(request.actor.tenantId, request),
    writeAll: async (requests, { isAtomic }) => {
      if (requests.length === 0) return [];
      return isAtomic ? twice(() => writeAllOrNothing(requests)) : writeTogether(requests);
    },
  };
}

async function twice<T>(attempt: () => Promise<T>): Promise<T> {
  try {
    return await attempt();
  } catch (error) {
    if (!REPEATABLE.has((error as { code?: string }).code ?? '')) throw error;
    return attempt();
  }
}

/** What success will have been is known before: the version follows from the expected one. */
function itemOf(request: WriteRequest, kept: KeptVersions, now: Date): string {
  const { actor, store, collection, key, value, sizeBytes, expectedVersion, traceparent, requestId } = request;
  const version = (expectedVersion ?? 0) + 1;
  const [event, verb] =
    expectedVersion === null ? (['document.created', 'created'] as const) : (['document.updated', 'updated'] as const);
  const data: EventData<typeof event> = { store, collection, key, version, changedBy: actor.email };
  const note = {
    source: 'document' as const,
    action: event,
    entityType: 'document',
    entityId: `${collection}/${key}`,
    summary: `Document ${collection}/${key} ${verb}, version ${version}`,
    before: expectedVersion === null ? undefined : { store, collection, key, version: expectedVersion },
    after: { store, collection, key, version, sizeBytes },
  };
  const rest = JSON.stringify({
    store,
    collection,
    key,
    size: sizeBytes,
    expected: expectedVersion,
    kept: kept[store],
    writer: actor.email,
    event,
    data,
    traceparent,
    audit: withCanonicalParts(unchainedEntry(note, actor, requestId, now)),
  });
  // The value is text already, and may be large.
  return `${rest.slice(0, -1)},"value":${value}}`;
}
