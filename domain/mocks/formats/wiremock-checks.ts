import { isObject } from '../../kernel/json/json-rules.ts';
import { FilterError } from '../../events/webhooks/filter-rules.ts';
import { compileCheck, type TextTest } from '../scenarios/compile-check.ts';
import type { RequestCheck } from '../scenarios/step-rules.ts';
import { NotTakenError, wantedJson } from './wiremock-criteria.ts';

type Path = readonly (string | number)[];
type Part = Record<string, unknown>;

/** Members of matchers of dates that say how they compare, and what ours are called. */
const DATE_MEMBERS = {
  actualFormat: 'format',
  truncateExpected: 'truncate',
  truncateActual: 'truncateActual',
  applyTruncationLast: 'truncateLast',
} as const;
const DATE_MODIFIERS = [...Object.keys(DATE_MEMBERS), 'expectedOffset', 'expectedOffsetUnit'];

/** What changes how a matcher compares, by the matcher that it belongs to. Any other member has no counterpart. */
const MODIFIERS: Readonly<Record<string, readonly string[]>> = {
  before: DATE_MODIFIERS,
  after: DATE_MODIFIERS,
  equalToDateTime: DATE_MODIFIERS,
  equalTo: ['caseInsensitive'],
  equalToJson: ['ignoreExtraElements', 'ignoreArrayOrder'],
  // Without placeholders, which are refused, it changes nothing.
  equalToXml: ['enablePlaceholders', 'ignoreOrderOfSameNode'],
};

/** The one matcher of an object. Throws `NotTakenError` for what is none, and for members without a counterpart. */
function matcherOf(matcher: unknown, path: Path): { name: string; given: unknown; matcher: Part } {
  if (!isObject(matcher)) throw new NotTakenError(path, 'is no matcher');
  const modifiers = new Set(Object.values(MODIFIERS).flat());
  const names = Object.keys(matcher).filter((name) => !modifiers.has(name));
  const [name = ''] = names;
  if (names.length !== 1) throw new NotTakenError(path, 'is not one matcher');
  for (const other of Object.keys(matcher))
    if (other !== name && matcher[other] !== false && !(MODIFIERS[name] ?? []).includes(other))
      throw new NotTakenError([...path, other], `has no counterpart beside ${name}`);
  return { name, given: matcher[name], matcher };
}

/** A matcher of a text as a test of ours. Throws `NotTakenError` for one that has no counterpart. */
function textTest(matcher: unknown, path: Path): TextTest {
  const { name, given, matcher: whole } = matcherOf(matcher, path);
  const at = [...path, name];
  switch (name) {
    case 'equalTo':
      return { eq: String(given), ...(whole.caseInsensitive === true && { ignoreCase: true }) };
    case 'contains':
      return { contains: String(given) };
    case 'doesNotContain':
      return { not: { contains: String(given) } };
    case 'matches':
      return { matches: String(given) };
    case 'doesNotMatch':
      return { not: { matches: String(given) } };
    case 'not':
      return { not: textTest(given, at) };
    case 'and':
    case 'or': {
      if (!Array.isArray(given)) throw new NotTakenError(at, 'is no list');
      const tests = given.map((one, index) => textTest(one, [...at, index]));
      return name === 'and' ? { all: tests } : { any: tests };
    }
    case 'before':
    case 'after':
      return dateTest(name, whole, path);
    case 'equalToDateTime':
      return dateTest('sameTime', { ...whole, sameTime: given }, path);
    case 'equalToJson':
      return jsonTest(whole, path);
    case 'equalToXml':
      return xmlTest(given, whole.ignoreOrderOfSameNode === true, at);
    case 'matchesJsonPath':
      return pathTest(given, at);
    default:
      throw new NotTakenError(at, `the matcher ${name} has no counterpart`);
  }
}

/** Checks of a value by name; several values must all be there where `hasExactly` says so. */
export function valueChecks(
  of: 'query' | 'headers' | 'cookies',
  name: string,
  matcher: unknown,
  path: Path,
): RequestCheck[] {
  if (typeof matcher === 'string') return [usable({ of, name, is: { eq: matcher } }, path)];
  const { name: kind, given } = matcherOf(matcher, path);
  if (kind === 'absent') return [{ of, name, ...(given === true ? { isAbsent: true } : {}) }];
  if (kind === 'includes' && Array.isArray(given))
    return given.map((one, index) => usable({ of, name, is: textTest(one, [...path, kind, index]) }, path));
  return [usable({ of, name, is: textTest(matcher, path) }, [...path, kind])];
}

/** All `bodyPatterns` of a request. */
export const bodyChecks = (patterns: readonly unknown[], path: Path): RequestCheck[] =>
  patterns.map((pattern, index) => {
    const at = [...path, index];
    if (isObject(pattern) && pattern.absent === true && Object.keys(pattern).length === 1)
      return { of: 'body', is: { eq: '' } };
    return usable({ of: 'body', is: textTest(pattern, at) }, at);
  });

/** A check that can be executed. Java's look-arounds and back references cannot: patterns run in linear time here. */
export function usable(check: RequestCheck, path: Path): RequestCheck {
  try {
    compileCheck(check, '');
    return check;
  } catch (error) {
    if (error instanceof FilterError) throw new NotTakenError(path, `cannot be used: ${error.message}`);
    throw error;
  }
}

/** `now`, `now +3 days`, or `3 days` from now. */
const OFFSET = /^(?:now\s+)?[+-]?\d+ [a-z]+$/i;

function dateTest(name: 'before' | 'after' | 'sameTime', matcher: Part, path: Path): TextTest {
  const { [name]: wanted, expectedOffset: offset, expectedOffsetUnit: unit } = matcher;
  const isFromNow = wanted === 'now' && typeof offset === 'number' && typeof unit === 'string';
  if (offset !== undefined && !isFromNow) throw new NotTakenError([...path, 'expectedOffset'], 'is not from now');
  const given = isFromNow ? `now ${offset} ${unit.toLowerCase()}` : String(wanted);
  const test: Record<string, unknown> = { [name]: OFFSET.test(given) ? `now ${given.replace(/^now\s+/i, '')}` : given };
  for (const [member, own] of Object.entries(DATE_MEMBERS))
    if (matcher[member] !== undefined) test[own] = matcher[member];
  return test as unknown as TextTest;
}

function jsonTest({ equalToJson, ignoreExtraElements, ignoreArrayOrder }: Part, path: Path): TextTest {
  const at = [...path, 'equalToJson'];
  const json = typeof equalToJson === 'string' ? wantedJson(equalToJson, at) : equalToJson;
  if ((JSON.stringify(json) ?? '').includes('${json-unit.'))
    throw new NotTakenError(at, 'placeholders of json-unit have no counterpart');
  return {
    json,
    ...(ignoreExtraElements === true && { extra: true }),
    ...(ignoreArrayOrder === true && { anyOrder: true }),
  };
}

/** Elements of different names may stand in any order, as WireMock compares them. */
function xmlTest(given: unknown, ignoresOrderOfSameName: boolean, path: Path): TextTest {
  if (typeof given !== 'string') throw new NotTakenError(path, 'is not XML');
  if (/\$\{\s*xmlunit\./.test(given)) throw new NotTakenError(path, 'placeholders of xmlunit have no counterpart');
  return { xml: given, anyOrder: ignoresOrderOfSameName ? 'all' : 'names' };
}

function pathTest(given: unknown, path: Path): TextTest {
  if (typeof given === 'string') return { jsonPath: given };
  if (!isObject(given) || typeof given.expression !== 'string') throw new NotTakenError(path, 'has no expression');
  const { expression, ...matcher } = given;
  if (matcher.absent === true && Object.keys(matcher).length === 1) return { jsonPath: expression, none: true };
  return { jsonPath: expression, is: textTest(matcher, path) };
}
