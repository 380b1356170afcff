import { type AliasedRawBuilder, type InsertQueryBuilder, type InsertResult, sql } from 'kysely';
import type { JsonText } from './columns.ts';
import { columnName } from './dialect.ts';
import type { NewRow } from './statement.ts';
import type { Database, Tables } from './tables.ts';

/** The database's types of a batch's columns, by property: `{ seq: 'int', parents: 'int[]' }`. */
type ColumnTypes<Row> = { readonly [C in keyof Row]-?: string };

/**
 * The rows of a batch as a table. They go as one parameter, so that the statement's text does not depend on how many
 * there are; unlike with `unnest`, there may be arrays among the values.
 */
export function batch<Row extends object, Alias extends string>(
  alias: Alias,
  rows: readonly Row[],
  types: ColumnTypes<Row>,
): AliasedRawBuilder<Row, Alias> {
  const properties = Object.keys(types) as (keyof Row & string)[];
  const named = rows.map((row) => Object.fromEntries(properties.map((name) => [columnName(name), row[name]])));
  const columns = properties.map((name) => sql`${sql.id(name)} ${sql.raw(types[name])}`);
  return sql<Row>`jsonb_to_recordset(${JSON.stringify(named)}::jsonb)`.as<Alias>(
    sql`${sql.id(alias)} (${sql.join(columns)})`,
  );
}

/** In a batch json stands as its value. */
type Unwritten<Value> = Value extends JsonText<infer Json> ? Json : Value;
type BatchRow<T extends keyof Tables, C extends keyof NewRow<T>> = { [Column in C]: Unwritten<NewRow<T>[Column]> };

/**
 * An insert of a batch by one parameter.
 * @param common columns that are the same in all rows.
 */
export function insertBatch<T extends keyof Tables, Common extends keyof NewRow<T>, C extends keyof NewRow<T>>(
  db: Database,
  table: T,
  common: Pick<NewRow<T>, Common>,
  rows: readonly BatchRow<T, C>[],
  types: ColumnTypes<BatchRow<T, C>>,
): InsertQueryBuilder<Tables, T, InsertResult> {
  const [same, own] = [Object.entries(common), Object.keys(types)];
  const selected = [...same.map(([, value]) => sql`${value}`), ...own.map((name) => sql.ref(`rows.${name}`))];
  return db
    .insertInto(table)
    .columns([...same.map(([name]) => name), ...own] as never)
    .expression(sql`select ${sql.join(selected)} from ${batch('rows', rows, types)}`);
}
