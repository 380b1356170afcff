import { isObject } from '../../kernel/json/json-rules.ts';
import { MISSING } from '../../kernel/json/json-path-rules.ts';
import {
  type CompileRegex,
  FILTER_OPERATORS,
  FilterError,
  isEqual,
  type ValueTest,
  valueTests,
} from '../../events/webhooks/filter-rules.ts';
import { compileLinearRegex, SEARCHED_MAX } from '../../events/webhooks/linear-regex.ts';
import { usePatternWork } from '../../events/webhooks/pattern-work.ts';
import { keptValue, UnjudgedError } from '../serving/judged-text.ts';
import type { MockBody } from '../serving/mock-request.ts';

const OPERATORS: ReadonlySet<string> = new Set(FILTER_OPERATORS);

/** Whether a value is `{operator: value}` of webhook filters, not an object that is wanted as it is. */
const isOperators = (value: unknown): value is Record<string, unknown> => {
  if (!isObject(value)) return false;
  const names = Object.keys(value);
  return names.length > 0 && names.every((name) => OPERATORS.has(name));
};

/** Patterns of all steps in a scenario are compiled anew with each version: the same text once. */
const linear: CompileRegex = (pattern) => compileLinearRegex(pattern);

/** For values of queries and headers, which are texts: a number or flag is compared as it is written. */
export function textTest(path: string, wanted: unknown): ValueTest {
  if (isOperators(wanted)) {
    const tests = valueTests(path, wanted, linear);
    const isNumeric = Object.values(wanted)
      .flat()
      .some((operand) => typeof operand === 'number');
    const valueOf = (found: unknown) =>
      isNumeric && typeof found === 'string' && found.trim() !== '' && Number.isFinite(Number(found))
        ? Number(found)
        : found;
    return (found) => tests.every((test) => test(valueOf(found)));
  }
  if (Array.isArray(wanted)) {
    const texts = wanted.map(String);
    return (found) => isEqual(typeof found === 'string' ? [found] : found, texts);
  }
  if (isObject(wanted))
    throw new FilterError(path, `must be a scalar, a list, or one of ${FILTER_OPERATORS.join(', ')}`);
  const text = String(wanted);
  const test = equalText(text);
  return (found) => typeof found === 'string' && test(found);
}

/** Whether a text is equal; white space of SOQL does not count. */
function equalText(wanted: string): (found: string) => boolean {
  const isSame = (found: string): boolean => {
    usePatternWork(TEST_UNITS + (found.length === wanted.length ? COMPARED_UNITS * found.length : 0));
    return found === wanted;
  };
  if (!IS_SOQL.test(wanted)) return isSame;
  const query = withoutSpace(wanted);
  return (found) => {
    if (isSame(found)) return true;
    usePatternWork(NORMALIZED_UNITS * found.length);
    return IS_SOQL.test(found) && withoutSpace(found) === query;
  };
}

/** Units of pattern work of a test, and for each character that is compared, or normalized before that. */
const [TEST_UNITS, COMPARED_UNITS, NORMALIZED_UNITS] = [2, 0.1, 3];

const IS_SOQL = /^\s*select\s/i;
const withoutSpace = (query: string): string =>
  query.replace(/'(?:[^'\\]|\\.)*'|\s+/g, (part) => (part.startsWith("'") ? part : ''));

const LEVELS_MAX = 100;

/** JSON as a subset: named members, arrays element by element. @param isExact no members beside those that are named. */
export function subsetTest(path: string, wanted: unknown, isExact: boolean, level = 0): ValueTest {
  if (level > LEVELS_MAX) throw new FilterError(path, `must not be nested deeper than ${LEVELS_MAX} levels`);
  if (isOperators(wanted)) {
    const tests = valueTests(path, wanted, linear);
    return (found) => tests.every((test) => test(found));
  }
  if (Array.isArray(wanted)) {
    const tests = wanted.map((one, index) => subsetTest(`${path}/${index}`, one, isExact, level + 1));
    return (found) =>
      Array.isArray(found) && found.length === tests.length && tests.every((test, index) => test(found[index]));
  }
  if (isObject(wanted)) {
    const tests = Object.entries(wanted).map(
      ([name, value]) => [name, subsetTest(`${path}/${name}`, value, isExact, level + 1)] as const,
    );
    return (found) =>
      isObject(found) &&
      (!isExact || hasOnly(found, wanted)) &&
      tests.every(([name, test]) => test(memberOf(found, name)));
  }
  if (typeof wanted === 'string') {
    const test = equalText(wanted);
    return (found) => typeof found === 'string' && test(found);
  }
  return (found) => {
    usePatternWork(TEST_UNITS);
    return found === wanted;
  };
}

function hasOnly(found: object, wanted: object): boolean {
  const names = Object.keys(found);
  usePatternWork(names.length);
  return names.every((name) => Object.hasOwn(wanted, name));
}

/**
 * A string is the whole text of a body; anything else is compared with its JSON or its fields. Operators alone are of the
 * text of a body that has neither, and `regex` of any text.
 */
export function bodyTest(wanted: unknown, isExact: boolean): (body: MockBody) => boolean {
  if (isOperators(wanted)) {
    const tests = Object.entries(wanted).map(
      ([name, value]) => [name === 'regex', subsetTest('request/body', { [name]: value }, true)] as const,
    );
    return (body) =>
      tests.every(([isPattern, test]) =>
        test(isPattern ? searchedText(body) : body.map ? body.map.value : (keptText(body) ?? MISSING)),
      );
  }
  const test = subsetTest('request/body', wanted, isExact);
  if (typeof wanted !== 'string') return (body) => hasFields(body) && test(body.map?.value);
  return (body) => (body.map !== undefined && test(body.map.value)) || test(keptText(body));
}

function keptText({ text, isTextKept }: MockBody): string | undefined {
  if (isTextKept === false) throw new UnjudgedError('NOT_KEPT');
  return text;
}

/** Only a part of a longer text would be searched. */
function searchedText(body: MockBody): string {
  const text = keptText(body) ?? '';
  if (text.length > SEARCHED_MAX) throw new UnjudgedError('TOO_LARGE');
  return text;
}

/** Whether a body is JSON or a form. */
function hasFields(body: MockBody): boolean {
  if (body.map === undefined) keptText(body);
  return body.map !== undefined;
}

/** A member as tests of values take it. Throws `UnjudgedError` for one that was not kept. */
export const memberOf = (map: Readonly<Record<string, unknown>>, name: string): unknown =>
  Object.hasOwn(map, name) ? keptValue(map[name]) : MISSING;
