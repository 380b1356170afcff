import { compile, JSONPathRecursionLimitError } from 'json-p3';
import { FilterError, isEqual } from '../webhooks/filter-rules.ts';
import { compileLinearRegex, SEARCHED_MAX } from '../webhooks/linear-regex.ts';
import { DATE_MEMBERS, type DateTest, dateTest } from './date-test.ts';
import { jsonWithin, type MockRequest } from './mock-request.ts';
import type { RequestCheck } from './step-rules.ts';
import { canonicalXml } from './xml-equality.ts';

/** A test of a text, as other mock servers have them. All are bounded in the length of the text. */
export type TextTest =
  | { eq: string; ignoreCase?: boolean }
  | { contains: string }
  /** A pattern for the whole text. */
  | { matches: string }
  | DateTest
  /** The text is JSON that is equal. `extra`: objects may have more; `anyOrder`: lists have the same elements. */
  | { json: unknown; extra?: boolean; anyOrder?: boolean }
  /** The text is XML that is equal but for white space between elements, and the order of attributes. */
  | { xml: string }
  /** The text is JSON of which this JSONPath (RFC 9535) finds a value that passes `is`, any value, or none. */
  | { jsonPath: string; is?: TextTest; none?: true }
  | { not: TextTest }
  | { all: TextTest[] }
  | { any: TextTest[] };

const LEVELS_MAX = 20;
const TESTS_MAX = 100;
/** Values of a JSON text in which paths are looked up. */
const JSON_VALUES_MAX = 20_000;

/** Throws `FilterError` for a test that is none, and for one that may take long. */
export function compileCheck({ of, name, is, isAbsent }: RequestCheck, path: string): (called: MockRequest) => boolean {
  const values = valuesOf(of, name ?? '');
  if (isAbsent === true) return (called) => values(called).length === 0;
  if (is === undefined) return (called) => values(called).length > 0;
  const test = compileTest(is, `${path}/is`, 0);
  return (called) => values(called).some((value) => isMet(test, value));
}

/** What is too large to be judged passes no test, nor the opposite of one. */
class TooLarge extends Error {}

function isMet(test: Test, value: string): boolean {
  try {
    return test(value);
  } catch (error) {
    if (error instanceof TooLarge) return false;
    throw error;
  }
}

function jsonIn(text: string): { value: unknown } | undefined {
  const json = jsonWithin(text, JSON_VALUES_MAX);
  if (json === 'too_large') throw new TooLarge();
  return json;
}

function valuesOf(of: RequestCheck['of'], name: string): (called: MockRequest) => string[] {
  switch (of) {
    case 'body':
      return ({ body, bytes }) => (body.text !== undefined ? [body.text] : bytes.length === 0 ? [''] : []);
    case 'url':
      return ({ target }) => [target];
    case 'path':
      return ({ target }) => [target.split('?', 1)[0] ?? ''];
    case 'query':
      return ({ query }) => (Object.hasOwn(query, name) ? [query[name] ?? ''].flat() : []);
    case 'headers':
      return ({ headers }) => (Object.hasOwn(headers, name) ? [headers[name] ?? ''] : []);
    case 'cookies':
      return ({ headers }) =>
        (headers.cookie ?? '').split(';').flatMap((pair) => {
          const at = pair.indexOf('=');
          return at > 0 && pair.slice(0, at).trim() === name ? [pair.slice(at + 1).trim()] : [];
        });
  }
}

type Test = (text: string) => boolean;
type Part = Record<string, unknown>;

const isPart = (value: unknown): value is Part => typeof value === 'object' && value !== null && !Array.isArray(value);

/** Which members each test has; the first one names it. */
const MEMBERS: Readonly<Record<string, readonly string[]>> = {
  eq: ['ignoreCase'],
  contains: [],
  matches: [],
  before: DATE_MEMBERS,
  after: DATE_MEMBERS,
  sameTime: DATE_MEMBERS,
  json: ['extra', 'anyOrder'],
  xml: [],
  jsonPath: ['is', 'none'],
  not: [],
  all: [],
  any: [],
};

function compileTest(given: unknown, path: string, level: number): Test {
  if (level > LEVELS_MAX) throw new FilterError(path, `must not be nested deeper than ${LEVELS_MAX} levels`);
  const names = isPart(given) ? Object.keys(given) : [];
  const kind = names.find((name) => Object.hasOwn(MEMBERS, name));
  if (!isPart(given) || kind === undefined || names.some((name) => name !== kind && !MEMBERS[kind]?.includes(name)))
    throw new FilterError(path, `must be one of ${Object.keys(MEMBERS).join(', ')}`);
  const value = given[kind];
  const at = `${path}/${kind}`;
  switch (kind) {
    case 'not': {
      const test = compileTest(value, at, level + 1);
      return (text) => !test(text);
    }
    case 'all':
    case 'any': {
      if (!Array.isArray(value) || value.length === 0 || value.length > TESTS_MAX)
        throw new FilterError(at, `must be a list of 1 to ${TESTS_MAX} tests`);
      const tests = value.map((one, index) => compileTest(one, `${at}/${index}`, level + 1));
      return kind === 'all' ? (text) => tests.every((test) => test(text)) : (text) => tests.some((test) => test(text));
    }
    case 'before':
    case 'after':
    case 'sameTime':
      return dateTest(kind, given, at);
    case 'json':
      return jsonTest(value, { extra: given.extra === true, anyOrder: given.anyOrder === true });
    case 'jsonPath':
      return pathTest(value, given, at, level);
    default:
      return plainTest(kind, value, given.ignoreCase === true, at);
  }
}

function plainTest(kind: string, value: unknown, ignoreCase: boolean, path: string): Test {
  if (typeof value !== 'string') throw new FilterError(path, 'must be a string');
  switch (kind) {
    case 'eq': {
      if (!ignoreCase) return (text) => text === value;
      const lower = value.toLowerCase();
      return (text) => text.toLowerCase() === lower;
    }
    case 'contains':
      return (text) => text.includes(value);
    case 'matches':
      return patternTest(value, path);
    case 'xml':
    default: {
      const wanted = canonicalXml(value);
      if (wanted === undefined) throw new FilterError(path, 'is not XML');
      return (text) => canonicalXml(text) === wanted;
    }
  }
}

function patternTest(pattern: string, path: string): Test {
  try {
    const matches = compileLinearRegex(`^(?:${pattern})$`);
    return (text) => {
      if (text.length > SEARCHED_MAX) throw new TooLarge();
      return matches(text);
    };
  } catch (error) {
    throw new FilterError(path, (error as Error).message);
  }
}

function jsonTest(wanted: unknown, { extra, anyOrder }: { extra: boolean; anyOrder: boolean }): Test {
  const matches = (a: unknown, b: unknown): boolean => {
    if (Array.isArray(a)) {
      if (!Array.isArray(b) || a.length !== b.length) return false;
      if (!anyOrder) return a.every((one, index) => matches(one, b[index]));
      const rest = [...(b as unknown[])];
      return a.every((one) => {
        const place = rest.findIndex((other) => matches(one, other));
        if (place !== -1) rest.splice(place, 1);
        return place !== -1;
      });
    }
    if (!isPart(a)) return isEqual(a, b);
    return (
      isPart(b) &&
      (extra || Object.keys(a).length === Object.keys(b).length) &&
      Object.entries(a).every(([name, value]) => Object.hasOwn(b, name) && matches(value, b[name]))
    );
  };
  return (text) => {
    const json = jsonIn(text);
    return json !== undefined && matches(wanted, json.value);
  };
}

const PATH_MAX = 300;
/** Each multiplies what a path finds, also the same value (`[*,*][*,*]`). */
const COMMAS_MAX = 3;

/** A JSONPath looks at each value a few times at most: one descent, no descent within a filter, and no patterns. */
function pathTest(value: unknown, { is, none }: Part, path: string, level: number): Test {
  if (typeof value !== 'string' || value.length > PATH_MAX)
    throw new FilterError(path, `must be a JSONPath of at most ${PATH_MAX} characters`);
  const isPlain = value.split('..').length <= 2 && !/\?.*\.\.|\b(?:match|search)\s*\(/.test(value);
  if (!isPlain || value.split('?').length > 3)
    throw new FilterError(path, 'descends (..) once, outside of filters, and has at most two filters without patterns');
  if (value.split(',').length > COMMAS_MAX + 1) throw new FilterError(path, `has at most ${COMMAS_MAX} commas`);
  const find = jsonPath(value, path);
  const test = is === undefined ? undefined : compileTest(is, `${path}/is`, level + 1);
  return (text) => {
    const json = jsonIn(text);
    if (json === undefined) return false;
    const found = foundIn(json.value, find).filter((one) => one !== null);
    if (none === true) return found.length === 0;
    return test ? found.some((one) => test(typeof one === 'string' ? one : JSON.stringify(one))) : found.length > 0;
  };
}

/** A text with more levels than a path descends is not judged. */
function foundIn(json: unknown, find: (json: unknown) => unknown[]): unknown[] {
  try {
    return find(json);
  } catch (error) {
    if (error instanceof JSONPathRecursionLimitError) throw new TooLarge();
    throw error;
  }
}

/**
 * A JSONPath as Jayway, which other mock servers use, reads it: a filter is asked of the elements of a list, and of an
 * object itself, where the standard asks it of the object's members.
 */
function jsonPath(text: string, path: string): (json: unknown) => unknown[] {
  const [first = '', ...filtered] = text.split(/(?=\[\?)/);
  const start = compiled(first.endsWith('..') ? `${first}*` : first, path);
  const steps = filtered.map((part) => compiled(`$${part}`, path));
  return (json) => {
    const begun = [...start.query(json as never).values()] as unknown[];
    if (first.endsWith('..')) begun.push(json);
    return steps.reduce<unknown[]>(
      (values, step) =>
        values.flatMap((value) =>
          Array.isArray(value) || isPart(value)
            ? [...step.query((Array.isArray(value) ? value : [value]) as never).values()]
            : [],
        ),
      first.endsWith('..') ? begun.filter((value) => isPart(value)) : begun,
    );
  };
}

function compiled(path: string, at: string) {
  try {
    return compile(path);
  } catch (error) {
    throw new FilterError(at, `is not a JSONPath (RFC 9535): ${(error as Error).message}`);
  }
}
