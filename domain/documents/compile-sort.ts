import { lookUp, MISSING } from '../shared/json-path-rules.ts';
import { type Field, jsonOf, parseField } from './compile-field.ts';
import { type Fragment, join, raw, sql } from './sql-fragment.ts';

export interface DocumentSort {
  field: string;
  direction: 'asc' | 'desc';
}

export const SORTS_MAX = 8;

/** A document's place in an order: its values of each sort, then collection and key. */
export interface Position {
  values: readonly (string | number)[];
  collection: string;
  key: string;
}

interface SortKey {
  expression: Fragment;
  type: 'int' | 'jsonb' | 'text';
  direction: DocumentSort['direction'];
}

/** A total order of documents. */
export interface Order {
  /** What stands after `order by`. */
  by: Fragment;
  /** The condition for all documents behind a position. */
  after: (position: Position) => Fragment;
  /** The position of a document. */
  positionOf: (document: { collection: string; key: string; version: number; value: unknown }) => Position;
}

/** The types in their order; a missing value comes last. */
const TYPES = ['null', 'boolean', 'number', 'string', 'array', 'object'];

/** Sorts, then collection and key, both ascending. Throws `invalid_request` for a malformed field. */
export function compileOrder(sorts: readonly DocumentSort[]): Order {
  const fields = sorts.map(({ field }, place) => parseField(field, `#/body/sort/${place}/field`));
  const keys = sorts.flatMap(({ direction }, place) =>
    sortKeys(fields[place] as Field).map((key) => ({ ...key, direction })),
  );
  const names = [raw('d.collection'), raw('d.key')];
  return {
    by: join([...keys.map(({ expression, direction }) => sql`${expression} ${raw(direction)}`), ...names], ', '),
    after: ({ values, collection, key }) => {
      const behindNames = sql`(d.collection, d.key) > (${collection}, ${key})`;
      return keys.reduceRight<Fragment>((rest, sortKey, place) => behind(sortKey, values[place], rest), behindNames);
    },
    positionOf: (document) => ({
      values: fields.flatMap((field) => valuesOf(field, document)),
      collection: document.collection,
      key: document.key,
    }),
  };
}

function behind({ expression, type, direction }: SortKey, value: unknown, rest: Fragment): Fragment {
  const limit = sql`${value}::${raw(type)}`;
  return sql`(${expression} ${raw(direction === 'asc' ? '>' : '<')} ${limit} or (${expression} = ${limit} and ${rest}))`;
}

/** JSON's own order in the database is another one: a value is ordered by its type, then within the type. */
function sortKeys(field: Field): Omit<SortKey, 'direction'>[] {
  if (field.kind === 'name') return [{ expression: raw(`d.${field.column}`), type: 'text' }];
  if (field.kind === 'version') return [{ expression: raw('d.version'), type: 'int' }];
  const value = jsonOf(field);
  const ranks = TYPES.map((type, rank) => `when '${type}' then ${rank}`).join(' ');
  return [
    { expression: sql`(case jsonb_typeof(${value}) ${raw(ranks)} else ${raw(String(TYPES.length))} end)`, type: 'int' },
    { expression: sql`(case when jsonb_typeof(${value}) <> 'string' then ${value} else 'null' end)`, type: 'jsonb' },
    {
      expression: sql`(case when jsonb_typeof(${value}) = 'string' then ${value} #>> '{}' else '' end) collate "C"`,
      type: 'text',
    },
  ];
}

function valuesOf(field: Field, document: Parameters<Order['positionOf']>[0]): (string | number)[] {
  if (field.kind === 'name') return [document[field.column]];
  if (field.kind === 'version') return [document.version];
  const value = lookUp(document.value, field.segments);
  if (value === MISSING) return [TYPES.length, 'null', ''];
  const rank = TYPES.indexOf(value === null ? 'null' : Array.isArray(value) ? 'array' : typeof value);
  return typeof value === 'string' ? [rank, 'null', value] : [rank, JSON.stringify(value), ''];
}
