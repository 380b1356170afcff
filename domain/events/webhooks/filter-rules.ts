import { lookUp, MISSING, parsePath } from '../../kernel/json/json-path-rules.ts';
import { didYouMean } from '../../kernel/text/suggestion-rules.ts';
import { PatternWorkError, usePatternWork } from './pattern-work.ts';

/** The operators of the document store's queries. */
export const FILTER_OPERATORS = ['eq', 'ne', 'gt', 'gte', 'lt', 'lte', 'in', 'nin', 'regex'] as const;
export type FilterOperator = (typeof FILTER_OPERATORS)[number];

/** Maps paths to what their value must match: a scalar, any of an array, or all of `{operator: value}`. */
export type WebhookFilter = Record<string, unknown>;
export type PayloadTest = (envelope: unknown) => boolean;

/** Compiles a regular expression that matches in linear time; throws an error with the reason for an invalid one. */
export type CompileRegex = (pattern: string) => (text: string) => boolean;

/** An invalid filter; `path` is the key that is at fault, empty for the filter as a whole. */
export class FilterError extends Error {
  readonly path: string;

  constructor(path: string, message: string) {
    super(message);
    this.path = path;
  }
}

export const FILTER_CONDITIONS_MAX = 20;
export const FILTER_VALUES_MAX = 100;

/** Compiles a filter; all of its conditions must match. Throws `FilterError`. */
export function compileFilter(filter: WebhookFilter, compileRegex: CompileRegex): PayloadTest {
  const conditions = Object.entries(filter);
  if (conditions.length > FILTER_CONDITIONS_MAX)
    throw new FilterError('', `at most ${FILTER_CONDITIONS_MAX} conditions`);
  const tests = conditions.flatMap(([path, wanted]) => {
    const segments = parsePath(path);
    if (!segments) throw new FilterError(path, 'not a path');
    return valueTests(path, wanted, compileRegex).map(
      (test): PayloadTest =>
        (envelope) =>
          test(lookUp(envelope, segments)),
    );
  });
  return (envelope) => tests.every((test) => test(envelope));
}

export type ValueTest = (found: unknown) => boolean;

/** What a value must match: a scalar, any of an array, or all of `{operator: value}`. Throws `FilterError`. */
export function valueTests(path: string, wanted: unknown, compileRegex: CompileRegex): ValueTest[] {
  if (Array.isArray(wanted)) return [operatorTest(path, 'in', wanted, compileRegex)];
  if (wanted === null || typeof wanted !== 'object') return [operatorTest(path, 'eq', wanted, compileRegex)];
  const operators = Object.entries(wanted);
  if (operators.length === 0) throw new FilterError(path, 'has no operator');
  return operators.map(([operator, value]) => operatorTest(path, operator as FilterOperator, value, compileRegex));
}

function operatorTest(path: string, operator: FilterOperator, value: unknown, compileRegex: CompileRegex): ValueTest {
  switch (operator) {
    case 'eq':
      return (found) => found !== MISSING && isEqual(found, value);
    case 'ne':
      return (found) => found === MISSING || !isEqual(found, value);
    case 'gt':
    case 'gte':
    case 'lt':
    case 'lte':
      if (typeof value !== 'number' && typeof value !== 'string')
        throw new FilterError(path, `${operator} takes a number or a string`);
      return orderTest(operator, value);
    case 'in':
    case 'nin': {
      if (!Array.isArray(value) || value.length > FILTER_VALUES_MAX) {
        throw new FilterError(path, `${operator} takes an array of at most ${FILTER_VALUES_MAX} values`);
      }
      const isAmong = (found: unknown) => found !== MISSING && value.some((one) => isEqual(found, one));
      return operator === 'in' ? isAmong : (found) => !isAmong(found);
    }
    case 'regex':
      return regexTest(path, value, compileRegex);
    default:
      throw new FilterError(
        path,
        `${String(operator)} is not one of ${FILTER_OPERATORS.join(', ')}${didYouMean(String(operator), FILTER_OPERATORS)}`,
      );
  }
}

function regexTest(path: string, pattern: unknown, compileRegex: CompileRegex): ValueTest {
  if (typeof pattern !== 'string') throw new FilterError(path, 'regex takes a string');
  try {
    const matches = compileRegex(pattern);
    return (found) => typeof found === 'string' && matches(found);
  } catch (error) {
    if (error instanceof PatternWorkError) throw error;
    throw new FilterError(path, `regex: ${(error as Error).message}`);
  }
}

/** Numbers are compared with numbers, strings with strings by code point; other types never match. */
function orderTest(operator: 'gt' | 'gte' | 'lt' | 'lte', value: number | string): ValueTest {
  return (found) => {
    if (typeof found !== typeof value) return false;
    const order =
      typeof value === 'number' ? Math.sign((found as number) - value) : compareCodePoints(found as string, value);
    switch (operator) {
      case 'gt':
        return order > 0;
      case 'gte':
        return order >= 0;
      case 'lt':
        return order < 0;
      case 'lte':
        return order <= 0;
    }
  };
}

/** Units of pattern work for each character that two texts have in common. */
const COMPARED_UNITS = 0.1;

/** JavaScript compares by UTF-16 code units, which sorts characters beyond U+FFFF before some others. */
function compareCodePoints(a: string, b: string): number {
  usePatternWork(COMPARED_UNITS * Math.min(a.length, b.length));
  let at = 0;
  while (at < a.length && at < b.length && a[at] === b[at]) at++;
  // Not from the middle of a surrogate pair.
  if (at > 0 && /[\uD800-\uDBFF]/.test(a[at - 1] ?? '')) at--;
  return (a.codePointAt(at) ?? -1) - (b.codePointAt(at) ?? -1);
}

/** Equality of JSON values, regardless of the order of members. Uses the work of patterns. */
export function isEqual(a: unknown, b: unknown): boolean {
  usePatternWork(1);
  if (a === b) return true;
  if (a === null || b === null || typeof a !== 'object' || typeof b !== 'object') return false;
  if (Array.isArray(a) || Array.isArray(b)) {
    return (
      Array.isArray(a) && Array.isArray(b) && a.length === b.length && a.every((item, index) => isEqual(item, b[index]))
    );
  }
  const keys = Object.keys(a);
  return (
    keys.length === Object.keys(b).length &&
    keys.every(
      (key) =>
        Object.hasOwn(b, key) && isEqual((a as Record<string, unknown>)[key], (b as Record<string, unknown>)[key]),
    )
  );
}
