import { setImmediate } from 'node:timers/promises';
import { DomainError, invalidField } from '../kernel/shared/errors.ts';
import { assertReachesCollection } from '../kernel/shared/collection-limit-rules.ts';
import type { DocumentName, DocumentStore, WriteRequest } from './document-store.port.ts';
import { collectionNameProblem, keyProblem } from './name-rules.ts';
import { expectedVersion, type Preconditions, writeConflict } from './precondition-rules.ts';
import type { Store } from '../kernel/settings/kept-version-rules.ts';
import { valueText } from './value-rules.ts';

/** Other requests are served after each so much. */
const PAUSE_EVERY_BYTES = 128 * 1024;

/** Who writes documents, by which request. */
export type Writer = Pick<WriteRequest, 'actor' | 'requestId' | 'traceparent'>;

export interface WrittenDocument extends DocumentName {
  version: number;
  /** JSON. */
  value: string;
  /** ISO 8601. */
  createdAt: string;
  updatedAt: string;
}

/**
 * Creates or updates a document. Throws `version_conflict`, `precondition_failed` and `payload_too_large`, and `forbidden`
 * for a limited application token that does not reach the collection.
 */
export async function writeDocument(
  documents: DocumentStore,
  { actor, requestId, traceparent }: Writer,
  { value, ...name }: DocumentName & { value: unknown },
  preconditions: Preconditions,
): Promise<WrittenDocument> {
  assertReachesCollection(actor, name.collection);
  const { text, sizeBytes } = valueText(value, 'value');
  const request = { ...name, actor, requestId, traceparent, value: text, sizeBytes };
  const outcome = await documents.write({ ...request, expectedVersion: expectedVersion(preconditions) });
  if (!outcome.isWritten) throw writeConflict(preconditions, outcome.currentVersion);
  const { version, createdAt, updatedAt } = outcome;
  return { ...name, version, value: text, createdAt, updatedAt };
}

export interface DocumentItem {
  collection: string;
  key: string;
  value: unknown;
  /** The current version; undefined: there must be no document. */
  version?: number | undefined;
}

/** The version of an item that was written, or why it was not. */
export type ItemOutcome = { version: number } | { refusal: DomainError };

/**
 * Writes documents, each as it would be written alone; the outcomes are in the order of the items.
 * @param isAtomic all are written or none: an item that is not valid is thrown, and none is written when there is a
 * version conflict.
 */
export async function writeDocuments(
  documents: DocumentStore,
  { actor, requestId, traceparent }: Writer,
  store: Store,
  items: readonly DocumentItem[],
  { isAtomic }: { isAtomic: boolean },
): Promise<ItemOutcome[]> {
  const outcomes: ItemOutcome[] = [];
  let sincePause = 0;
  const requests: { index: number; version: number | undefined; request: WriteRequest }[] = [];
  for (const [index, { collection, key, value, version }] of items.entries()) {
    try {
      checkNames(collection, key, `documents/${index}`);
      assertReachesCollection(actor, collection);
      const { text, sizeBytes } = valueText(value, `documents/${index}/value`);
      const name = { store, collection, key };
      const expected = expectedVersion({ version });
      const request = { ...name, actor, requestId, traceparent, value: text, sizeBytes, expectedVersion: expected };
      requests.push({ index, version, request });
      sincePause += sizeBytes;
      if (sincePause > PAUSE_EVERY_BYTES) {
        sincePause = 0;
        await setImmediate();
      }
    } catch (error) {
      if (isAtomic || !(error instanceof DomainError)) throw error;
      outcomes[index] = { refusal: error };
    }
  }
  const written = await documents.writeAll(
    requests.map(({ request }) => request),
    { isAtomic },
  );
  for (const [place, outcome] of written.entries()) {
    const { index, version } = requests[place] ?? { index: 0, version: undefined };
    outcomes[index] = outcome.isWritten
      ? { version: outcome.version }
      : { refusal: writeConflict({ version }, outcome.currentVersion) };
  }
  return outcomes;
}

function checkNames(collection: string, key: string, place: string): void {
  const [ofCollection, ofKey] = [collectionNameProblem(collection), keyProblem(key)];
  if (ofCollection !== undefined) throw invalidField(`${place}/collection`, `the collection ${ofCollection}`);
  if (ofKey !== undefined) throw invalidField(`${place}/key`, `the key ${ofKey}`);
}
