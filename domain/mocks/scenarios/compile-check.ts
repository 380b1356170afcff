import { isObject } from '../../kernel/json/json-rules.ts';
import { FilterError, isEqual } from '../../events/webhooks/filter-rules.ts';
import { compileLinearRegex } from '../../events/webhooks/linear-regex.ts';
import { PatternWorkError, usePatternWork } from '../../events/webhooks/pattern-work.ts';
import { DATE_MEMBERS, type DateTest, dateTest } from '../date-test.ts';
import { judged, JudgedText, keptValue, NOT_KEPT, type Unjudged } from '../serving/judged-text.ts';
import { isFormType, type MockRequest } from '../serving/mock-request.ts';
import { compileJsonPath } from './json-path.ts';
import type { RequestCheck } from './step-rules.ts';
import { canonicalXml, XML_ORDERS, type XmlOrder } from './xml-equality.ts';

/** A test of a text, as other mock servers have them. All are bounded in the length of the text. */
export type TextTest =
  | { eq: string; ignoreCase?: boolean }
  | { contains: string }
  /** A pattern for the whole text. */
  | { matches: string }
  | DateTest
  /** The text is JSON that is equal. `extra`: objects may have more; `anyOrder`: lists have the same elements. */
  | { json: unknown; extra?: boolean; anyOrder?: boolean }
  /** The text is XML that is equal but for white space between elements, the order of attributes, and that of `anyOrder`. */
  | { xml: string; anyOrder?: XmlOrder }
  /** The text is JSON of which this JSONPath (RFC 9535) finds a value that passes `is`, any value, or none. */
  | { jsonPath: string; is?: TextTest; none?: true }
  | { not: TextTest }
  | { all: TextTest[] }
  | { any: TextTest[] };

const LEVELS_MAX = 20;
const TESTS_MAX = 100;

/**
 * Whether a request passes a check, or why that is not known. The texts of a request are read once, however many checks
 * ask for them; reading and searching uses the work of patterns. Throws `FilterError` for a test that is none, and for one
 * that may take long.
 */
export function compileCheck(
  { of, name, is, isAbsent }: RequestCheck,
  path: string,
): (called: MockRequest) => boolean | Unjudged {
  const values = (called: MockRequest) => readOnce(called, of, name ?? '');
  if (isAbsent === true) return (called) => values(called).length === 0;
  if (is === undefined) return (called) => values(called).length > 0;
  const test = compileTest(is, `${path}/is`, 0);
  return (called) => judged(() => values(called).some(test));
}

const texts = new WeakMap<MockRequest, Map<string, JudgedText[]>>();

function readOnce(called: MockRequest, of: RequestCheck['of'], name: string): JudgedText[] {
  let known = texts.get(called);
  if (!known) texts.set(called, (known = new Map()));
  const key = `${of} ${name}`;
  let values = known.get(key);
  if (!values) known.set(key, (values = textsOf(called, of, name)));
  return values;
}

/** Members of the JSON of a noted call, which is short. */
const KEPT_VALUES_MAX = 4_096;

function textsOf(called: MockRequest, of: RequestCheck['of'], name: string): JudgedText[] {
  const { map, isTextKept } = called.body;
  if (of === 'body' && isTextKept === false) {
    const isForm = isFormType(called.headers['content-type'] ?? '');
    return [new JudgedText(undefined, map && !isForm ? { value: map.value, values: KEPT_VALUES_MAX } : undefined)];
  }
  return valuesOf(called, of, name).map((text) => new JudgedText((text as unknown) === NOT_KEPT ? undefined : text));
}

function valuesOf(
  { body, bytes, target, query, headers }: MockRequest,
  of: RequestCheck['of'],
  name: string,
): string[] {
  switch (of) {
    case 'body':
      return body.text !== undefined ? [body.text] : bytes.length === 0 ? [''] : [];
    case 'url':
      return [target];
    case 'path':
      return [target.split('?', 1)[0] ?? ''];
    case 'query':
      return Object.hasOwn(query, name) ? [query[name] ?? ''].flat() : [];
    case 'headers':
      return Object.hasOwn(headers, name) ? [headers[name] ?? ''] : [];
    case 'cookies':
      return (headers.cookie ?? '').split(';').flatMap((pair) => {
        const at = pair.indexOf('=');
        return at > 0 && pair.slice(0, at).trim() === name ? [pair.slice(at + 1).trim()] : [];
      });
  }
}

type Test = (text: JudgedText) => boolean;
type Part = Record<string, unknown>;

/** Which members each test has; the first one names it. */
const MEMBERS: Readonly<Record<string, readonly string[]>> = {
  eq: ['ignoreCase'],
  contains: [],
  matches: [],
  before: DATE_MEMBERS,
  after: DATE_MEMBERS,
  sameTime: DATE_MEMBERS,
  json: ['extra', 'anyOrder'],
  xml: ['anyOrder'],
  jsonPath: ['is', 'none'],
  not: [],
  all: [],
  any: [],
};

function compileTest(given: unknown, path: string, level: number): Test {
  if (level > LEVELS_MAX) throw new FilterError(path, `must not be nested deeper than ${LEVELS_MAX} levels`);
  const names = isObject(given) ? Object.keys(given) : [];
  const kind = names.find((name) => Object.hasOwn(MEMBERS, name));
  if (!isObject(given) || kind === undefined || names.some((name) => name !== kind && !MEMBERS[kind]?.includes(name)))
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
      return dateOf(kind, given, at);
    case 'json':
      return jsonTest(value, { extra: given.extra === true, anyOrder: given.anyOrder === true });
    case 'jsonPath':
      return pathTest(value, given, at, level);
    case 'xml':
      return xmlTest(value, given.anyOrder, at);
    default:
      return plainTest(kind, value, given.ignoreCase === true, at);
  }
}

function plainTest(kind: string, value: unknown, ignoreCase: boolean, path: string): Test {
  if (typeof value !== 'string') throw new FilterError(path, 'must be a string');
  switch (kind) {
    case 'eq': {
      if (!ignoreCase) return (text) => text.equals(value);
      const lower = value.toLowerCase();
      return (text) => text.equalsInLowerCase(lower);
    }
    case 'contains':
      return (text) => text.contains(value);
    case 'matches':
    default:
      return patternTest(value, path);
  }
}

function xmlTest(value: unknown, order: unknown, path: string): Test {
  const anyOrder = XML_ORDERS.find((one) => one === order);
  if (order !== undefined && anyOrder === undefined)
    throw new FilterError(path, `must have an anyOrder of ${XML_ORDERS.join(' or ')}`);
  const wanted = typeof value === 'string' ? canonicalXml(value, anyOrder) : undefined;
  if (wanted === undefined) throw new FilterError(path, 'is not XML');
  return (text) => text.xml(anyOrder) === wanted;
}

function patternTest(pattern: string, path: string): Test {
  try {
    const matches = compileLinearRegex(`^(?:${pattern})$`);
    return (text) => text.matches(matches);
  } catch (error) {
    if (error instanceof PatternWorkError) throw error;
    throw new FilterError(path, (error as Error).message);
  }
}

function dateOf(kind: Parameters<typeof dateTest>[0], given: Part, path: string): Test {
  const test = dateTest(kind, given, path);
  return (text) => text.isDate(test);
}

/** Units of pattern work for a member whose name is counted, and for an element of a list that is moved. */
const [MEMBER_UNITS, MOVED_UNITS] = [1, 0.1];

function jsonTest(wanted: unknown, { extra, anyOrder }: { extra: boolean; anyOrder: boolean }): Test {
  const matches = (a: unknown, b: unknown): boolean => {
    usePatternWork(1);
    keptValue(b);
    if (Array.isArray(a)) {
      if (!Array.isArray(b) || a.length !== b.length) return false;
      if (!anyOrder) return a.every((one, index) => matches(one, b[index]));
      const rest = [...(b as unknown[])];
      return a.every((one) => {
        const place = rest.findIndex((other) => matches(one, other));
        usePatternWork(MOVED_UNITS * rest.length);
        if (place !== -1) rest.splice(place, 1);
        return place !== -1;
      });
    }
    if (!isObject(a)) return isEqual(a, b);
    if (!extra && isObject(b)) usePatternWork(MEMBER_UNITS * Object.keys(b).length);
    return (
      isObject(b) &&
      (extra || Object.keys(a).length === Object.keys(b).length) &&
      Object.entries(a).every(([name, value]) => Object.hasOwn(b, name) && matches(value, b[name]))
    );
  };
  return (text) => {
    const json = text.json();
    return json !== undefined && matches(wanted, json.value);
  };
}

function pathTest(value: unknown, { is, none }: Part, path: string, level: number): Test {
  const find = compileJsonPath(value, path);
  const test = is === undefined ? undefined : compileTest(is, `${path}/is`, level + 1);
  return (text) => {
    const json = text.json();
    if (json === undefined) return false;
    const found = find(json).filter((one) => one !== null);
    if (none === true) return found.length === 0;
    return test ? found.some((one) => test(new JudgedText(textOf(one)))) : found.length > 0;
  };
}

function textOf(value: unknown): string {
  keptValue(value);
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  usePatternWork(FOUND_UNITS + (typeof value === 'string' ? 0 : WRITTEN_UNITS * text.length));
  return text;
}

/** Units of pattern work for a value that a path finds, and for a character of one that is written as JSON. */
const [FOUND_UNITS, WRITTEN_UNITS] = [5, 0.5];
