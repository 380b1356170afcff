import { type RawBuilder, sql } from 'kysely';
import { lookUp, MISSING } from '../kernel/json/json-path-rules.ts';
import { type Field, jsonOf, NAME_COLUMNS, parseField } from './compile-field.ts';

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
  expression: RawBuilder<unknown>;
  type: keyof typeof CASTS;
  direction: DocumentSort['direction'];
}

const CASTS = {
  int: (value: unknown) => sql`${value}::int`,
  jsonb: (value: unknown) => sql`${value}::jsonb`,
  text: (value: unknown) => sql`${value}::text`,
} as const;
const DIRECTIONS = { asc: sql`asc`, desc: sql`desc` } as const;

/** A total order of documents. */
export interface Order {
  /** What comes after `order by`. */
  by: RawBuilder<unknown>;
  /** The condition for all documents behind a position. */
  after: (position: Position) => RawBuilder<boolean>;
  /** The position of a document. */
  positionOf: (document: { collection: string; key: string; version: number; value: unknown }) => Position;
}

/** The types in their order; a missing value comes last. */
const TYPES = ['null', 'boolean', 'number', 'string', 'array', 'object'];
const RANKS = sql.join(
  TYPES.map((type, rank) => sql`when ${sql.lit(type)} then ${sql.lit(rank)}`),
  sql` `,
);

/** Sorts, then collection and key, both ascending. Throws `invalid_request` for a malformed field. */
export function compileOrder(sorts: readonly DocumentSort[]): Order {
  const fields = sorts.map(({ field }, index) => parseField(field, `sort/${index}/field`));
  const keys = sorts.flatMap(({ direction }, index) =>
    sortKeys(fields[index] as Field).map((key) => ({ ...key, direction })),
  );
  return {
    by: sql.join([
      ...keys.map(({ expression, direction }) => sql`${expression} ${DIRECTIONS[direction]}`),
      NAME_COLUMNS.collection,
      NAME_COLUMNS.key,
    ]),
    after: ({ values, collection, key }) =>
      keys.reduceRight<RawBuilder<boolean>>(
        (rest, sortKey, index) => behind(sortKey, values[index], rest),
        sql`(d.collection, d.key) > (${collection}, ${key})`,
      ),
    positionOf: (document) => ({
      values: fields.flatMap((field) => valuesOf(field, document)),
      collection: document.collection,
      key: document.key,
    }),
  };
}

function behind(
  { expression, type, direction }: SortKey,
  value: unknown,
  rest: RawBuilder<boolean>,
): RawBuilder<boolean> {
  const limit = CASTS[type](value);
  const isBehind = direction === 'asc' ? sql`${expression} > ${limit}` : sql`${expression} < ${limit}`;
  return sql`(${isBehind} or (${expression} = ${limit} and ${rest}))`;
}

/** The database orders JSON in another way: here a value is ordered by its type, then within the type. */
function sortKeys(field: Field): Omit<SortKey, 'direction'>[] {
  if (field.kind === 'name') return [{ expression: NAME_COLUMNS[field.column], type: 'text' }];
  if (field.kind === 'version') return [{ expression: sql`d.version`, type: 'int' }];
  const value = jsonOf(field);
  return [
    { expression: sql`(case jsonb_typeof(${value}) ${RANKS} else ${sql.lit(TYPES.length)} end)`, type: 'int' },
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
