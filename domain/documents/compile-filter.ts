import { type RawBuilder, sql } from 'kysely';
import { invalidField } from '../kernel/shared/errors.ts';
import { isArrayIndex } from '../kernel/json/json-path-rules.ts';
import type { FilterOperator } from '../events/webhooks/filter-rules.ts';
import { type Field, jsonOf, NAME_COLUMNS, parseField } from './compile-field.ts';
import { expressionProblem } from './expression-rules.ts';

export interface DocumentFilter {
  field: string;
  operator: FilterOperator;
  value: unknown;
}

export const FILTERS_MAX = 20;
export const FILTER_VALUES_MAX = 100;
export const REGEX_MAX = 256;

const COMPARISONS = { gt: sql`>`, gte: sql`>=`, lt: sql`<`, lte: sql`<=` } as const;

/**
 * A filter as a condition on a `document` named `d`. Throws `invalid_request` when the operator does not take the value.
 * A document without the field matches only `ne` and `nin`.
 * @param index of the filter in the request's list.
 */
export function compileFilter({ field: path, operator, value }: DocumentFilter, index: number): RawBuilder<boolean> {
  const place = `filters/${index}`;
  const field = parseField(path, `${place}/field`);
  const valueMustBe = (detail: string) => invalidField(`${place}/value`, `${operator} takes ${detail}`);
  const found = jsonOf(field);
  switch (operator) {
    case 'eq':
      if (field.kind === 'name' && typeof value === 'string') return sql`${NAME_COLUMNS[field.column]} = ${value}`;
      return sql`${found} = ${JSON.stringify(value)}::jsonb`;
    case 'ne':
      return sql`${found} is distinct from ${JSON.stringify(value)}::jsonb`;
    case 'in':
    case 'nin': {
      if (!Array.isArray(value) || value.length > FILTER_VALUES_MAX)
        throw valueMustBe(`an array of at most ${FILTER_VALUES_MAX} values`);
      const isAmong = sql<boolean>`${found} = any (array(select jsonb_array_elements(${JSON.stringify(value)}::jsonb)))`;
      return operator === 'in' ? isAmong : sql`(${isAmong}) is not true`;
    }
    case 'gt':
    case 'gte':
    case 'lt':
    case 'lte':
      if (typeof value === 'string') return compareText(field, found, COMPARISONS[operator], value);
      if (value === undefined) throw valueMustBe('a value');
      // Null, booleans, arrays and objects have no order.
      if (typeof value !== 'number') return sql<boolean>`false`;
      // The type is checked second: most rows fail the comparison, and each access to the value costs.
      return sql`(${found} ${COMPARISONS[operator]} ${JSON.stringify(value)}::jsonb and jsonb_typeof(${found}) = 'number')`;
    case 'regex':
      if (typeof value !== 'string' || value.length > REGEX_MAX)
        throw valueMustBe(`a string of at most ${REGEX_MAX} characters`);
      assertExpression(value, `${place}/value`);
      return sql`(jsonb_typeof(${found}) = 'string' and (${found} #>> '{}') ~ ${value}::text)`;
  }
}

function assertExpression(expression: string, place: string): void {
  const problem = expressionProblem(expression);
  if (problem !== undefined) throw invalidField(place, `not a regular expression that is taken: ${problem}`);
}

/** By code point: columns have that collation, and the text of a value is given it. */
function compareText(
  field: Field,
  found: RawBuilder<unknown>,
  comparison: RawBuilder<unknown>,
  value: string,
): RawBuilder<boolean> {
  if (field.kind === 'name') return sql`${NAME_COLUMNS[field.column]} ${comparison} ${value}`;
  return sql`(jsonb_typeof(${found}) = 'string' and (${found} #>> '{}') collate "C" ${comparison} ${value}::text)`;
}

/**
 * What a value must contain to pass the filters for equality, as JSON: the index on content finds such values. It says
 * less than the filters do; undefined when it says nothing.
 */
export function containedIn(filters: readonly DocumentFilter[]): string | undefined {
  const content: Content = Object.create(null) as Content;
  for (const { field, operator, value } of filters) {
    const parsed = parseField(field, '');
    if (operator !== 'eq' || parsed.kind !== 'path' || !hasLeaf(value) || parsed.segments.some(isArrayIndex)) continue;
    put(content, parsed.segments, value);
  }
  return Object.keys(content).length === 0 ? undefined : JSON.stringify(content);
}

type Content = { [member: string]: unknown };

/** Empty objects and arrays have no entries in the index: a search for them would read all of it. */
const hasLeaf = (value: unknown): boolean =>
  value === null || typeof value !== 'object' || Object.values(value).some(hasLeaf);

/** Does nothing where another filter wants something else at the same place. */
function put(content: Content, segments: readonly string[], value: unknown): void {
  const [first = '', ...rest] = segments;
  const present = content[first];
  if (rest.length === 0) content[first] ??= value;
  else if (present === undefined || isContent(present)) {
    const below = present ?? (Object.create(null) as Content);
    content[first] = below;
    put(below, rest, value);
  }
}

/** Made by `put`, not part of a filter's value. */
const isContent = (value: unknown): value is Content =>
  typeof value === 'object' && value !== null && Object.getPrototypeOf(value) === null;
