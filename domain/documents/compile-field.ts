import { invalidField } from '../shared/errors.ts';
import { isArrayIndex, parsePath } from '../shared/json-path-rules.ts';
import { type Fragment, raw, sql } from './sql-fragment.ts';

/** What a filter or a sort names: a column of the document, or a path into its value. */
export type Field =
  | { kind: 'name'; column: 'collection' | 'key' }
  | { kind: 'version' }
  | { kind: 'path'; segments: readonly string[] };

const COLUMNS: ReadonlyMap<string, Field> = new Map([
  ['$collection', { kind: 'name', column: 'collection' }],
  ['$key', { kind: 'name', column: 'key' }],
  ['$version', { kind: 'version' }],
]);

/** Reads a field. Throws `invalid_request` for a malformed path. @param pointer where it stands in the request. */
export function parseField(field: string, pointer: string): Field {
  const column = COLUMNS.get(field);
  if (column) return column;
  const segments = parsePath(field);
  if (!segments) throw invalidField(pointer, 'not a path: segments are separated by dots, \\. is a literal dot');
  return { kind: 'path', segments };
}

/** The field's value as jsonb; SQL's null where it is missing. In the scope of a `document` named `d`. */
export function jsonOf(field: Field): Fragment {
  if (field.kind === 'name') return sql`to_jsonb(d.${raw(field.column)})`;
  if (field.kind === 'version') return sql`to_jsonb(d.version)`;
  // `#>` takes an index and a member's name alike, but also what only looks like an index: `-1`, `01`.
  return field.segments.reduce<Fragment>(
    (inside, segment) =>
      isArrayIndex(segment) ? sql`(${inside} #> array[${segment}]::text[])` : sql`(${inside} -> ${segment}::text)`,
    raw('d.value'),
  );
}
