import type { Actor } from '../kernel/shared/actor.ts';
import type { Store } from '../kernel/settings/kept-version-rules.ts';

export interface DocumentName {
  store: Store;
  collection: string;
  key: string;
}

export interface StoredDocument {
  version: number;
  /** JSON. */
  value: string;
  /** ISO 8601. */
  createdAt: string;
  updatedAt: string;
}

export interface WriteRequest extends DocumentName {
  actor: Actor;
  requestId: string;
  /** W3C trace context, which deliveries of the event continue. */
  traceparent: string | undefined;
  /** JSON of the value, which is known to be storable. */
  value: string;
  sizeBytes: number;
  /** The version that the document must have; null: there must be no document. */
  expectedVersion: number | null;
}

export type WriteOutcome =
  | { isWritten: true; version: number; createdAt: string; updatedAt: string }
  /** The document has another version; null: there is none. */
  | { isWritten: false; currentVersion: number | null };

/** For thousands of calls a second: each shares its round trip, and a write its commit, with others. */
export interface DocumentStore {
  /** Undefined when there is none. */
  read: (tenantId: string, name: DocumentName) => Promise<StoredDocument | undefined>;
  /** When it resolves, the document, its event and its audit entry are committed. */
  write: (request: WriteRequest) => Promise<WriteOutcome>;
  /** Writes of one tenant in one transaction. @param isAtomic nothing is written unless everything is. */
  writeAll: (requests: readonly WriteRequest[], options: { isAtomic: boolean }) => Promise<WriteOutcome[]>;
}
