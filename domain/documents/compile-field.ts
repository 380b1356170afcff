import { type RawBuilder, sql } from 'kysely';
import { invalidField } from '../kernel/shared/errors.ts';
import { isArrayIndex, parsePath } from '../kernel/json/json-path-rules.ts';

/** What a filter or a sort names: a column of the document, or a path into its value. */
export type Field =
  | { kind: 'name'; column: 'collection' | 'key' }
  | { kind: 'version' }
  | { kind: 'path'; segments: readonly string[] };

const FIELDS: ReadonlyMap<string, Field> = new Map([
  ['$collection', { kind: 'name', column: 'collection' }],
  ['$key', { kind: 'name', column: 'key' }],
  ['$version', { kind: 'version' }],
]);

/** Reads a field. Throws `invalid_request` for a malformed path. @param place of the field in the request. */
export function parseField(field: string, place: string): Field {
  const column = FIELDS.get(field);
  if (column) return column;
  const segments = parsePath(field);
  if (!segments) throw invalidField(place, 'not a path: segments are separated by dots, \\. is a literal dot');
  return { kind: 'path', segments };
}

/** Columns of a `document` named `d`. */
export const NAME_COLUMNS = { collection: sql<string>`d.collection`, key: sql<string>`d.key` } as const;

/** The field's value as jsonb, of a `document` named `d`; SQL's null where it is missing. */
export function jsonOf(field: Field): RawBuilder<unknown> {
  if (field.kind === 'name') return sql`to_jsonb(${NAME_COLUMNS[field.column]})`;
  if (field.kind === 'version') return sql`to_jsonb(d.version)`;
  // `#>` takes an index and a member's name alike, but also what only looks like an index: `-1`, `01`.
  return field.segments.reduce<RawBuilder<unknown>>(
    (inside, segment) =>
      isArrayIndex(segment) ? sql`(${inside} #> array[${segment}]::text[])` : sql`(${inside} -> ${segment}::text)`,
    sql`d.value`,
  );
}
