import type { Tables } from '../data/tables.ts';

/** A column whose values are encrypted, with the key of its table and what a value of a row belongs to. */
export interface EncryptedColumn {
  table: keyof Tables;
  /** Name of the column in the database. */
  column: string;
  /** Names of the key's columns, with their types. */
  key: Readonly<Record<string, 'uuid' | 'text'>>;
  context: (key: Record<string, string>) => string;
}

/** Columns of a table whose key is `id`. */
export const encryptedById = (
  table: keyof Tables,
  columns: readonly string[],
  contextOf: (id: string) => string,
): EncryptedColumn[] =>
  columns.map((column) => ({ table, column, key: { id: 'uuid' }, context: ({ id = '' }) => contextOf(id) }));
