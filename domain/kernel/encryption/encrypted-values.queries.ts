import { type RawBuilder, sql } from 'kysely';
import type { Database } from '../data/tables.ts';
import type { EncryptedColumn } from './encrypted-columns.ts';

/** An encrypted value, with the key of its row by names of columns. */
export interface StoredValue {
  key: Record<string, string>;
  storedValue: string;
}

interface Batch {
  /** What values begin with that are not read. */
  currentPrefix: string;
  /** The last row of the batch before. */
  after: StoredValue | undefined;
  batchSize: number;
}

// Names and types come from the list in code, never from outside.
const typed = (value: unknown, type: string): RawBuilder<unknown> => sql`${value}::${sql.raw(type)}`;

/** Values of a column that are not under the current key, in the order of the rows' key. */
export async function readBatch(
  db: Database,
  { table, column, key }: EncryptedColumn,
  { currentPrefix, after, batchSize }: Batch,
): Promise<StoredValue[]> {
  const names = Object.keys(key);
  const columns = sql.join(names.map((name) => sql.ref(`t.${name}`)));
  const pairs = sql.join(names.flatMap((name) => [sql.lit(name), sql`${sql.ref(`t.${name}`)}::text`]));
  const isAfter = after
    ? sql`and (${columns}) > (${sql.join(Object.entries(key).map(([name, type]) => typed(after.key[name], type)))})`
    : sql``;
  const { rows } = await sql<StoredValue>`
    select jsonb_build_object(${pairs}) as key, ${sql.ref(`t.${column}`)} as "storedValue"
    from ${sql.table(table)} t
    where ${sql.ref(`t.${column}`)} is not null and not starts_with(${sql.ref(`t.${column}`)}, ${currentPrefix}) ${isAfter}
    order by ${columns} limit ${sql.lit(batchSize)}`.execute(db);
  return rows;
}

/** Replaces values that are still the ones that were read, in rows that nobody has locked; answers how many. */
export async function replaceValues(
  db: Database,
  { table, column, key }: EncryptedColumn,
  values: readonly (StoredValue & { newValue: string })[],
): Promise<number> {
  const names = Object.keys(key);
  const columns = sql.join([...names, 'stored_value', 'new_value'].map((name) => sql.ref(name)));
  const arrays = sql.join([
    ...Object.entries(key).map(([name, type]) =>
      typed(
        values.map((value) => value.key[name]),
        `${type}[]`,
      ),
    ),
    typed(
      values.map(({ storedValue }) => storedValue),
      'text[]',
    ),
    typed(
      values.map(({ newValue }) => newValue),
      'text[]',
    ),
  ]);
  const isSameRow = (other: string) =>
    sql.join(
      names.map((name) => sql`${sql.ref(`t.${name}`)} = ${sql.ref(`${other}.${name}`)}`),
      sql` and `,
    );
  const { numAffectedRows } = await sql`
    with given as (select * from unnest(${arrays}) as v (${columns})),
      unlocked as (
        select given.* from given join ${sql.table(table)} t on ${isSameRow('given')}
          and ${sql.ref(`t.${column}`)} = given.stored_value
        for no key update of t skip locked)
    update ${sql.table(table)} t set ${sql.ref(column)} = unlocked.new_value from unlocked where ${isSameRow('unlocked')}`.execute(
    db,
  );
  return Number(numAffectedRows ?? 0);
}
