import type { CrmAnswer, CrmRow } from './crm-platform.port.ts';

/** Why the platform did not write one record; it may give several reasons. */
export interface RecordError {
  /** The platform's own code, an open set: `DUPLICATE_VALUE`, `LICENSE_LIMIT_EXCEEDED`. */
  code: string;
  /** In at most 300 characters. */
  message: string;
}

/** What became of one record of a call, in the order in which they were given. */
export interface WrittenRecord {
  /** Id of the record that was created, changed or deleted; null: it was not. */
  id: string | null;
  /** Empty where it was written. */
  errors: RecordError[];
}

/** Records of a type to be written; each fails by itself. */
export interface RecordWrites {
  /** Name of the sObject: `UserLogin`. */
  type: string;
  /** At most `RECORDS_PER_CALL`, each with its `Id` where it is changed. */
  records: readonly CrmRow[];
}

/** What the platform takes in one call of `composite/sobjects`. */
export const RECORDS_PER_CALL = 200;

/**
 * Changes of records by `composite/sobjects` with `allOrNone` false. A call that breaks off (`unreachable`, `timeout`) may have
 * been done in whole or in part: the caller asks what is there before it tries again.
 */
export interface CrmRecords {
  createRecords: (writes: RecordWrites) => Promise<CrmAnswer<WrittenRecord[]>>;
  updateRecords: (writes: RecordWrites) => Promise<CrmAnswer<WrittenRecord[]>>;
  /** @param ids at most `RECORDS_PER_CALL`. */
  deleteRecords: (ids: readonly string[]) => Promise<CrmAnswer<WrittenRecord[]>>;
}
