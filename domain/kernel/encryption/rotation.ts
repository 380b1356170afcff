import { setTimeout as sleep } from 'node:timers/promises';
import { sql } from 'kysely';
import type { Database } from '../data/tables.ts';
import { DomainError } from '../shared/errors.ts';
import type { Encryption } from './encryption.ts';
import type { EncryptedColumn } from './encrypted-columns.ts';
import { readBatch, replaceValues, type StoredValue } from './encrypted-values.queries.ts';

export interface RotatedColumn {
  table: string;
  column: string;
  reencrypted: number;
  /** Values that no key of the ring opens; they stay as they are. */
  unreadable: number;
}

/** Any number, but no other lock's. */
const ROTATION_LOCK = 7_205_002;
/** Rows that are locked are left to a later pass, so that nobody waits for the rotation nor it for them. */
const PASSES_MAX = 100;
const PAUSE_MS = 100;

/**
 * Re-encrypts every value that is not under the ring's first key, in batches, while the service runs: a value is
 * replaced only if it is still the one that was read. Interrupted, it continues when it is run again.
 * Throws `locked` when another rotation is under way.
 * @param database connected as the schema's owner, who sees the rows of all tenants.
 */
export const rotateKeys = (
  database: Database,
  encryption: Encryption,
  columns: readonly EncryptedColumn[],
  batchSize = 500,
): Promise<RotatedColumn[]> =>
  // The lock belongs to one connection.
  database.connection().execute(async (db) => {
    const { rows } = await sql<{ isMine: boolean }>`select pg_try_advisory_lock(${ROTATION_LOCK}) as "isMine"`.execute(
      db,
    );
    if (!rows[0]?.isMine) throw new DomainError('locked', 'Another rotation of keys is under way');
    try {
      const rotated: RotatedColumn[] = [];
      for (const column of columns) rotated.push(await rotateColumn(db, encryption, column, batchSize));
      return rotated;
    } finally {
      await sql`select pg_advisory_unlock(${ROTATION_LOCK})`.execute(db);
    }
  });

async function rotateColumn(
  db: Database,
  encryption: Encryption,
  column: EncryptedColumn,
  batchSize: number,
): Promise<RotatedColumn> {
  let reencrypted = 0;
  for (let pass = 1; ; pass++) {
    const outcome = await onePass(db, encryption, column, batchSize);
    reencrypted += outcome.reencrypted;
    if (outcome.missed === 0 || pass === PASSES_MAX) {
      return { table: column.table, column: column.column, reencrypted, unreadable: outcome.unreadable };
    }
    await sleep(PAUSE_MS);
  }
}

/** From the first row to the last, in the order of the key. */
async function onePass(db: Database, encryption: Encryption, column: EncryptedColumn, batchSize: number) {
  const total = { reencrypted: 0, missed: 0, unreadable: 0 };
  const currentPrefix = `v1.${encryption.currentKeyId}.`;
  let after: StoredValue | undefined;
  for (;;) {
    const rows: StoredValue[] = await readBatch(db, column, { currentPrefix, after, batchSize });
    const renewed = rows.flatMap((row) => {
      const newValue = reencrypt(encryption, row.storedValue, column.context(row.key));
      if (newValue === undefined) total.unreadable++;
      return newValue === undefined ? [] : [{ ...row, newValue }];
    });
    if (renewed.length > 0) {
      const replaced = await replaceValues(db, column, renewed);
      total.reencrypted += replaced;
      total.missed += renewed.length - replaced;
    }
    if (rows.length < batchSize) return total;
    after = rows.at(-1);
  }
}

function reencrypt(encryption: Encryption, stored: string, context: string): string | undefined {
  try {
    return encryption.encrypt(encryption.decrypt(stored, context), context);
  } catch {
    return undefined;
  }
}
