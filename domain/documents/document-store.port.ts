import type { Actor } from '../shared/actor.ts';
import type { Store } from './store-rules.ts';

export interface DocumentName {
  store: Store;
  collection: string;
  key: string;
}

export interface StoredDocument {
  version: number;
  /** JSON. */
  value: string;
  createdAt: Date;
  updatedAt: Date;
}

export interface WriteRequest extends DocumentName {
  actor: Actor;
  requestId: string;
  /** W3C trace context that deliveries carry on. */
  traceparent: string | undefined;
  /** JSON of the value, which is known to be one that can be kept. */
  value: string;
  sizeBytes: number;
  /** The version that the document must have; null: there must be no document. */
  expectedVersion: number | null;
}

export type WriteOutcome =
  | { isWritten: true; version: number; createdAt: Date; updatedAt: Date }
  /** The document has another version; null: there is none. */
  | { isWritten: false; currentVersion: number | null };

/** What is done thousands of times a second: each call shares its round trip, and a write its commit, with others. */
export interface DocumentStore {
  /** Undefined when there is none. */
  read: (tenantId: string, name: DocumentName) => Promise<StoredDocument | undefined>;
  /** When it resolves, the document, its event and its audit entry are committed. */
  write: (request: WriteRequest) => Promise<WriteOutcome>;
  /** Writes of one tenant in one transaction. @param isAtomic nothing is written unless all are. */
  writeAll: (requests: readonly WriteRequest[], options: { isAtomic: boolean }) => Promise<WriteOutcome[]>;
}
