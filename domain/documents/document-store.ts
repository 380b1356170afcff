import { sql } from 'kysely';
import type { TenantKey } from '../kernel/shared/actor.ts';
import { appendedText, unchainedEntry } from '../kernel/audit/append.queries.ts';
import type { Change } from '../kernel/changes/change-rules.ts';
import { statement } from '../kernel/data/statement.ts';
import type { Database } from '../kernel/data/tables.ts';
import { batched } from '../kernel/queues/batched.ts';
import { isoOf } from '../kernel/text/date-time-rules.ts';
import { tenantQueues } from '../kernel/queues/tenant-queues.ts';
import type { EventData } from '../events/webhooks/event-catalog.ts';
import type { DocumentName, DocumentStore, StoredDocument, WriteOutcome, WriteRequest } from './document-store.port.ts';
import type { KeptVersions } from '../kernel/settings/kept-version-rules.ts';

interface ReadRow {
  /** The number of the name among those asked for, from 1. */
  request: number;
  version: number;
  value: string;
  createdAt: string;
  updatedAt: string;
}
const READ = statement<{ names: string }>()((db, { names }) =>
  db
    .selectFrom(sql<ReadRow>`document_read(${names}::jsonb)`.as('r'))
    .select(['r.request', 'r.version', 'r.value', 'r.createdAt', 'r.updatedAt']),
);

interface WriteRow {
  /** The number of the request, from 1. */
  request: number;
  isWritten: boolean;
  version: number | null;
  createdAt: string | null;
  webhookIds: string[] | null;
}
const WRITE = statement<{ tenantId: string; requests: string; now: Date }>()((db, { tenantId, requests, now }) =>
  db
    .selectFrom(sql<WriteRow>`document_write(${tenantId}::uuid, ${requests}::jsonb, ${now}::timestamptz)`.as('w'))
    .select(['w.request', 'w.isWritten', 'w.version', 'w.createdAt', 'w.webhookIds']),
);

/** Bounds the memory of one statement; a value may be a megabyte. */
const BATCH_MAX = 50;
/** Each batch of writes costs a commit and locks the tenant's audit chain, however small it is. */
const WRITE_REST_MS = 5;
const READ_REST_MS = 1;
/** Foreign key violation (a collection was removed meanwhile) and deadlock: retried, the same writes succeed. */
const RETRYABLE = new Set(['23503', '40P01']);

interface Options {
  /** Connections of the application's role. */
  database: Database;
  kept: KeptVersions;
  /** Called with webhooks after the commit; must return at once. */
  signalLanes: (tenant: TenantKey, webhookIds: readonly string[]) => void;
  /** Called with what was written after the commit; must return at once. */
  changed: (tenant: TenantKey, changes: readonly Change[]) => void;
}

/** One function call per batch is one transaction and one round trip. */
export function createDocumentStore({ database, kept, ...signals }: Options): DocumentStore {
  const tell = tellOf(signals);
  const readAll = async (names: (DocumentName & { tenant: string })[]): Promise<(StoredDocument | undefined)[]> => {
    const documents: (StoredDocument | undefined)[] = names.map(() => undefined);
    for (const { request, version, value, createdAt, updatedAt } of await READ(database, {
      names: JSON.stringify(names),
    }))
      documents[request - 1] = { version, value, createdAt: isoOf(createdAt), updatedAt: isoOf(updatedAt) };
    return documents;
  };

  const writeOn = async (
    db: Database,
    requests: readonly WriteRequest[],
  ): Promise<{ outcomes: WriteOutcome[]; signal: () => void }> => {
    const actor = requests[0]?.actor;
    const tenantId = actor?.tenantId ?? '';
    const now = new Date();
    const items = `[${requests.map((request) => itemOf(request, kept, now)).join(',')}]`;
    const rows = await WRITE(db, { tenantId, requests: items, now });
    const outcomes = outcomesOf(requests, rows, now);
    const written = requests.filter((_, place) => outcomes[place]?.isWritten);
    return { outcomes, signal: () => tell(written, rows[0]?.webhookIds ?? []) };
  };

  const writeTogether = async (requests: readonly WriteRequest[]): Promise<WriteOutcome[]> => {
    const { outcomes, signal } = await twice(() => writeOn(database, requests));
    signal();
    return outcomes;
  };

  const writeAllOrNothing = async (requests: readonly WriteRequest[]): Promise<WriteOutcome[]> => {
    const transaction = await database.startTransaction().execute();
    try {
      const { outcomes, signal } = await writeOn(transaction, requests);
      const isWhole = outcomes.every(({ isWritten }) => isWritten);
      await (isWhole ? transaction.commit() : transaction.rollback()).execute();
      if (isWhole) signal();
      return outcomes;
    } catch (error) {
      if (!transaction.isRolledBack) await transaction.rollback().execute();
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
    if (!RETRYABLE.has((error as { code?: string }).code ?? '')) throw error;
    return attempt();
  }
}

function outcomesOf(requests: readonly WriteRequest[], rows: readonly WriteRow[], now: Date): WriteOutcome[] {
  const outcomes: WriteOutcome[] = requests.map(() => ({ isWritten: false, currentVersion: null }));
  for (const { request, isWritten, version, createdAt } of rows)
    outcomes[request - 1] =
      isWritten && version !== null && createdAt !== null
        ? { isWritten, version, createdAt: isoOf(createdAt), updatedAt: now.toISOString() }
        : { isWritten: false, currentVersion: version };
  return outcomes;
}

/** Tells of documents of one tenant that were written. */
const tellOf =
  ({ signalLanes, changed }: Pick<Options, 'signalLanes' | 'changed'>) =>
  (written: readonly WriteRequest[], webhookIds: readonly string[]): void => {
    const [first] = written;
    if (!first) return;
    signalLanes(first.actor, webhookIds);
    changed(first.actor, written.flatMap(changesOf));
  };

const changesOf = ({ collection, key }: WriteRequest): Change[] => [
  { topic: 'document', id: `${collection}/${key}`, repositoryIdentifier: null },
  { topic: 'document_collection', id: collection, repositoryIdentifier: null },
];

/** A request as the function takes it. The version after success is known before: it follows from the expected one. */
function itemOf(request: WriteRequest, kept: KeptVersions, now: Date): string {
  const { actor, store, collection, key, value, sizeBytes, expectedVersion, traceparent, requestId } = request;
  const version = (expectedVersion ?? 0) + 1;
  const [event, verb] =
    expectedVersion === null ? (['document.created', 'created'] as const) : (['document.updated', 'updated'] as const);
  const data: EventData<typeof event> = { store, collection, key, version, changedBy: actor.email };
  const note = {
    source: 'document' as const,
    action: event,
    entityType: 'document' as const,
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
  });
  const audit = appendedText(unchainedEntry(note, actor, requestId, now));
  // The value is text already, and may be large.
  return `${rest.slice(0, -1)},"audit":${audit},"value":${value}}`;
}
