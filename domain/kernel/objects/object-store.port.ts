/** What was stored. */
export interface StoredObject {
  sizeBytes: number;
  /** SHA-256 of the content, in hexadecimal. */
  sha256: string;
}

/** Positions of bytes, both inclusive, within the object. */
export interface ByteRange {
  start: number;
  end: number;
}

/** The store does not answer, or takes nothing from anybody here for now. */
export class ObjectStoreAwayError extends Error {
  constructor(cause: unknown) {
    super('The object store is away', { cause });
    this.name = 'ObjectStoreAwayError';
  }
}

/**
 * Files that are too big for rows: exports, captured output. A key is a path made by `objectKey`. Whatever fails is
 * thrown: the store is a dependency like the database. While it is away that is an `ObjectStoreAwayError`.
 */
export interface ObjectStore {
  /**
   * Stores the content under the key, instead of what was there. Nothing can be read under the key before all of it is
   * stored; when the content throws, nothing is stored and the error is passed on.
   */
  put(key: string, content: AsyncIterable<Uint8Array>, contentType: string): Promise<StoredObject>;
  /** The content, or a part of it, piece by piece; undefined when there is none under the key. */
  get(key: string, range?: ByteRange): Promise<AsyncIterable<Uint8Array> | undefined>;
  /** Size of what is under the key, in bytes; undefined when there is nothing. */
  sizeOf(key: string): Promise<number | undefined>;
  /** The keys of all objects, in any order. */
  keys(): AsyncIterable<string>;
  /** Removes what is there; nothing there is no error. */
  remove(key: string): Promise<void>;
  /**
   * Removes what writers that died left half written; what changed within the time may still be written. Answers how
   * many; none where the store does so by itself.
   */
  removeAbandoned(unchangedMs: number): Promise<number>;
}
