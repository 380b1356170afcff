import { DomainError } from '../kernel/shared/errors.ts';
import type { Tx } from '../unit-of-work.ts';
import { emitEvent } from '../events/webhooks/event-catalog.ts';
import { assertReachesCollection } from '../kernel/shared/collection-limit-rules.ts';
import {
  type Collection,
  insertCollection,
  lockCollection,
  removeCollection,
  removeDocuments,
} from './collections.queries.ts';
import type { DocumentName } from './document-store.port.ts';
import { lockedDocumentVersion, removeDocument } from './documents.queries.ts';

/** Throws `already_exists`, and `forbidden` for a limited application token that does not reach the collection. */
export async function createCollection(tx: Tx, name: string): Promise<Collection> {
  assertReachesCollection(tx.actor, name);
  const collection = await insertCollection(tx, name);
  if (!collection) throw new DomainError('already_exists', `There is already a collection ${name}`);
  tx.touch('document_collection', name);
  tx.audit({
    source: 'document',
    action: 'document_collection.created',
    entityType: 'document_collection',
    entityId: collection.id,
    summary: `Collection ${name} created`,
    after: collection,
  });
  return collection;
}

/** Deletes a collection with its documents in every store; each is announced. Throws `not_found`. */
export async function deleteCollection(tx: Tx, name: string): Promise<void> {
  // The collection is locked first, as by those who write documents, so that they cannot deadlock.
  await lockCollection(tx, name);
  const { documents, webhookIds } = await removeDocuments(tx, name);
  await removeCollection(tx, name);
  for (const webhookId of webhookIds ?? []) tx.after('webhook', webhookId);
  tx.audit({
    source: 'document',
    action: 'document_collection.deleted',
    entityType: 'document_collection',
    entityId: name,
    summary: `Collection ${name} deleted with ${documents} documents`,
    before: { name, documents },
  });
}

/**
 * Deletes a document with its earlier versions.
 * @param expectedVersion another version is refused with `precondition_failed`; undefined: any.
 */
export async function deleteDocument(tx: Tx, name: DocumentName, expectedVersion: number | undefined): Promise<void> {
  const version = await lockedDocumentVersion(tx, name);
  if (expectedVersion !== undefined && expectedVersion !== version) {
    throw new DomainError('precondition_failed', `The document has version ${version}`, {
      members: { currentVersion: version },
    });
  }
  await removeDocument(tx, name);
  const { collection, key } = name;
  tx.touch('document_collection', collection);
  tx.audit({
    source: 'document',
    action: 'document.deleted',
    entityType: 'document',
    entityId: `${collection}/${key}`,
    summary: `Document ${collection}/${key} deleted at version ${version}`,
    before: { ...name, version },
  });
  emitEvent(tx, 'document.deleted', { ...name, version, changedBy: tx.actor.email });
}
