import { setTimeout as sleep } from 'node:timers/promises';
import type pg from 'pg';
import { DomainError } from '../shared/errors.ts';
import type { Encryption } from '../shared/encryption.ts';
import { ENCRYPTED_COLUMNS, type EncryptedColumn } from './encrypted-columns.ts';

export interface RotatedColumn {
  table: string;
  column: string;
  reencrypted: number;
  /** Values that no key of the ring opens; they stay as they are. */
  unreadable: number;
}

interface Options {
  batchSize?: number;
  columns?: readonly EncryptedColumn[];
}

/** Any number, but no other lock's. */
const ROTATION_LOCK = 7_205_002;
/** Rows that somebody else holds are left to a later pass, so that nobody waits for the rotation nor it for them. */
const PASSES_MAX = 100;
const REST_MS = 100;

/**
 * Re-encrypts every value that is not under the ring's first key, in batches, while the service runs: a value is
 * replaced only if it is still the one that was read. Broken off, it goes on where it is run again.
 * Throws `locked` when another rotation is under way.
 * @param client of the schema's owner, who sees the rows of all tenants.
 */
export async function rotateKeys(
  client: pg.ClientBase,
  encryption: Encryption,
  { batchSize = 500, columns = ENCRYPTED_COLUMNS }: Options = {},
): Promise<RotatedColumn[]> {
  const { rows } = await client.query<{ isMine: boolean }>('select pg_try_advisory_lock($1) as "isMine"', [
    ROTATION_LOCK,
  ]);
  if (!rows[0]?.isMine) throw new DomainError('locked', 'Another rotation of keys is under way');
  try {
    const rotated: RotatedColumn[] = [];
    for (const column of columns) rotated.push(await rotateColumn(client, encryption, column, batchSize));
    return rotated;
  } finally {
    await client.query('select pg_advisory_unlock($1)', [ROTATION_LOCK]);
  }
}

async function rotateColumn(
  client: pg.ClientBase,
  encryption: Encryption,
  column: EncryptedColumn,
  batchSize: number,
): Promise<RotatedColumn> {
  let reencrypted = 0;
  for (let pass = 1; ; pass++) {
    const outcome = await onePass(client, encryption, column, batchSize);
    reencrypted += outcome.reencrypted;
    if (outcome.missed === 0 || pass === PASSES_MAX) {
      return { table: column.table, column: column.column, reencrypted, unreadable: outcome.unreadable };
    }
    await sleep(REST_MS);
  }
}

type Key = Record<string, string>;

/** From the first row to the last, in the order of the key. */
async function onePass(client: pg.ClientBase, encryption: Encryption, column: EncryptedColumn, batchSize: number) {
  const total = { reencrypted: 0, missed: 0, unreadable: 0 };
  const statements = statementsFor(column, batchSize);
  const names = Object.keys(column.key);
  let after: Key | undefined;
  for (;;) {
    const { text, values }: { text: string; values: unknown[] } = statements.read(
      `v1.${encryption.currentKeyId}.`,
      after,
    );
    const { rows } = await client.query<Key & { stored_value: string }>(text, values);
    const renewed = rows.flatMap((row) => {
      const value = reencrypt(encryption, row.stored_value, column.context(row));
      if (value === undefined) total.unreadable++;
      return value === undefined ? [] : [{ row, value }];
    });
    if (renewed.length > 0) {
      const keys = names.map((name) => renewed.map(({ row }) => row[name]));
      const { rowCount } = await client.query(statements.replace, [
        ...keys,
        renewed.map(({ row }) => row.stored_value),
        renewed.map(({ value }) => value),
      ]);
      total.reencrypted += rowCount ?? 0;
      total.missed += renewed.length - (rowCount ?? 0);
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

/** Names come from the list in code, never from outside. */
function statementsFor({ table, column, key }: EncryptedColumn, batchSize: number) {
  const names = Object.keys(key);
  const list = names.join(', ');
  const arrays = names.map((name, index) => `$${index + 1}::${key[name]}[]`);
  const isSameRow = (a: string, b: string) => names.map((name) => `${a}.${name} = ${b}.${name}`).join(' and ');
  return {
    read: (prefix: string, after: Key | undefined) => ({
      text: `select ${names.map((name) => `${name}::text as ${name}`).join(', ')}, ${column} as stored_value from ${table}
        where ${column} is not null and not starts_with(${column}, $1)
          ${after ? `and (${list}) > (${names.map((name, index) => `$${index + 2}::${key[name]}`).join(', ')})` : ''}
        order by ${names.map((name) => `${table}.${name}`).join(', ')} limit ${batchSize}`,
      values: [prefix, ...(after ? names.map((name) => after[name]) : [])],
    }),
    replace: `
      with given as (
        select * from unnest(${arrays.join(', ')}, $${names.length + 1}::text[], $${names.length + 2}::text[])
          as v (${list}, stored_value, new_value)),
      mine as (
        select given.* from given join ${table} t on ${isSameRow('t', 'given')} and t.${column} = given.stored_value
        for no key update of t skip locked)
      update ${table} t set ${column} = mine.new_value from mine where ${isSameRow('t', 'mine')}`,
  };
}
