import { isObject } from '../../kernel/json/json-rules.ts';
import { lookUp, MISSING, parsePath } from '../../kernel/json/json-path-rules.ts';
import { compileTemplate, type RenderBody, TemplateError } from '../../events/webhooks/body-template.ts';
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
import { compileCheck } from './compile-check.ts';
import { judged, keptValue, type Unjudged, UnjudgedError } from '../serving/judged-text.ts';
import type { MockBody, MockRequest } from '../serving/mock-request.ts';
import { compilePath } from './path-template-rules.ts';
import {
  ECHO_MAX_BYTES,
  type RequestCheck,
  type RequestSchemas,
  type Step,
  type StepRequest,
  type StepResponse,
} from './step-rules.ts';
import { assertSize, compileSchemas, type ValidateRequest } from '../validate-request.ts';

export type Variables = Readonly<Record<string, unknown>>;

/** One condition of a step. */
interface Condition {
  criterion: 'method' | 'path' | 'query' | 'headers' | 'body' | 'state';
  wanted: unknown;
  /** Whether a request meets it, or why that is not known. */
  judge: (request: MockRequest, variables: Variables) => boolean | Unjudged;
  found: (request: MockRequest, variables: Variables) => unknown;
}

/** A step without the body of its response, prepared for many calls. */
export interface CompiledStep {
  seq: number;
  request: StepRequest;
  response: Omit<StepResponse, 'body' | 'bodyBase64'>;
  times: number | null;
  /** What of the path is literal, for a look-up; undefined where a part of it is variable. */
  literalPath: string | undefined;
  /** Higher for steps that say more of the requests that they answer. */
  specificity: number;
  conditions: readonly Condition[];
  matches: (request: MockRequest, variables: Variables) => boolean;
  /** As `matches`, or why that is not known: no condition fails, but some cannot be judged. */
  judge: (request: MockRequest, variables: Variables) => boolean | Unjudged;
  /** Compiles, the first time, what tells what is wrong with a request that matches; undefined where nothing can be. */
  validation: (() => ValidateRequest) | undefined;
  /** Segments of a path by their names. */
  parameters: (path: string) => Record<string, string>;
  /** Variables that a request sets. */
  captured: (request: MockRequest) => Record<string, unknown>;
  /** Texts of headers and variables as templates. */
  texts: ReadonlyMap<string, RenderBody>;
}

export type StoredStepParts = Pick<Step, 'seq' | 'times'> & {
  request: StepRequest;
  response: Omit<StepResponse, 'body' | 'bodyBase64'>;
};

/** Throws `FilterError` and `TemplateError` for what `problem` refuses. */
export function compileStep({ seq, request, response, times }: StoredStepParts): CompiledStep {
  const path = compilePath(request.path);
  const conditions = conditionsOf(request, path.matches);
  const judges = conditions.map(({ judge }) => judge);
  const captures = Object.entries(request.captures ?? {}).map(([name, text]) => [name, parsePath(text) ?? []] as const);
  return {
    seq,
    request,
    response,
    times,
    literalPath: path.literal,
    specificity: path.specificity * 1_000 + criteriaOf(request),
    conditions,
    matches(called, variables) {
      for (const judge of judges) if (judge(called, variables) !== true) return false;
      return true;
    },
    judge(called, variables) {
      let known: boolean | Unjudged = true;
      for (const judge of judges) {
        const verdict = judge(called, variables);
        if (verdict === false) return false;
        if (known === true) known = verdict;
      }
      return known;
    },
    validation: response.validates && memoized(response.validates),
    parameters: path.parameters,
    captured(called) {
      if (captures.length === 0) return {};
      const root = rootOf(called, path);
      const found = captures.map(([name, segments]) => [name, lookUp(root, segments)] as const);
      return Object.fromEntries(found.filter(([, value]) => value !== MISSING));
    },
    texts: response.template ? templatesOf(response) : new Map<string, RenderBody>(),
  };
}

/** Few of the steps of a scenario may ever be asked. */
function memoized(schemas: RequestSchemas): () => ValidateRequest {
  let validate: ValidateRequest | undefined;
  return () => (validate ??= compileSchemas(schemas));
}

/**
 * Why a step cannot be used: the field and the reason. Its schemas are not compiled, since those of many steps would take
 * seconds; see `compileSchemas`.
 */
compileStep.problem = (step: Step): { field: string; detail: string } | undefined => {
  try {
    compileStep(step);
    if (step.response.validates) assertSize(step.response.validates);
    if (step.response.echo) assertEcho(step.response);
    if (step.response.template === true && step.response.bodyBase64 === undefined) {
      const { body } = step.response;
      if (body !== undefined) compileTemplate(typeof body === 'string' ? body : JSON.stringify(body));
    }
    return undefined;
  } catch (error) {
    if (error instanceof FilterError) return { field: error.path, detail: error.message };
    if (error instanceof TemplateError) return { field: 'response', detail: `template: ${error.message}` };
    throw error;
  }
};

function assertEcho({ body }: StepResponse): void {
  if (!isObject(body) || Buffer.byteLength(JSON.stringify(body)) > ECHO_MAX_BYTES)
    throw new FilterError('response/echo', `needs a body that is an object of at most ${ECHO_MAX_BYTES / 1024} KB`);
}

/** What captures and templates read of a request. */
export const rootOf = (called: MockRequest, { parameters }: Pick<CompiledStep, 'parameters'>) => ({
  method: called.method,
  url: called.target,
  path: parameters(called.path),
  query: called.query,
  headers: called.headers,
  body: called.body.map ? called.body.map.value : (called.body.text ?? null),
});

function conditionsOf(
  { method, path, query, headers, body, exact = [], checks = [], requires }: StepRequest,
  matchesPath: (path: string) => boolean,
): Condition[] {
  const conditions: Condition[] = [];
  if (method !== '*')
    conditions.push({
      criterion: 'method',
      wanted: method,
      judge: (called) => called.method === method,
      found: (called) => called.method,
    });
  conditions.push({
    criterion: 'path',
    wanted: path,
    judge: (called) => matchesPath(called.path),
    found: (called) => called.path,
  });
  if (query !== undefined || exact.includes('query')) {
    const wanted = query ?? {};
    const names = new Set(Object.keys(wanted));
    const tests = Object.entries(wanted).map(
      ([name, value]) => [name, textTest(`request/query/${name}`, value)] as const,
    );
    conditions.push({
      criterion: 'query',
      wanted,
      judge: (called) =>
        judged(
          () =>
            (!exact.includes('query') || Object.keys(called.query).every((name) => names.has(name))) &&
            tests.every(([name, test]) => test(memberOf(called.query, name))),
        ),
      found: (called) => (exact.includes('query') ? called.query : pick(called.query, names)),
    });
  }
  if (headers !== undefined) {
    const names = new Set(Object.keys(headers));
    const tests = Object.entries(headers).map(
      ([name, value]) => [name, textTest(`request/headers/${name}`, value)] as const,
    );
    conditions.push({
      criterion: 'headers',
      wanted: headers,
      judge: (called) => judged(() => tests.every(([name, test]) => test(memberOf(called.headers, name)))),
      found: (called) => pick(called.headers, names),
    });
  }
  if (body !== undefined) {
    const test = bodyTest(body, exact.includes('body'));
    conditions.push({
      criterion: 'body',
      wanted: body,
      judge: ({ body: given }) => judged(() => test(given)),
      found: ({ body: given }) => shownBody(given),
    });
  }
  for (const [index, check] of checks.entries())
    conditions.push({
      criterion: CRITERION_OF[check.of],
      wanted: check,
      judge: compileCheck(check, `request/checks/${index}`),
      found: (called) => partOf(called, check),
    });
  if (requires !== undefined) {
    const tests = Object.entries(requires).map(
      ([name, value]) => [name, subsetTest(`request/requires/${name}`, value, true)] as const,
    );
    conditions.push({
      criterion: 'state',
      wanted: requires,
      judge: (_, variables) => tests.every(([name, test]) => test(memberOf(variables, name))),
      found: (_, variables) => pick(variables, new Set(Object.keys(requires))),
    });
  }
  return conditions;
}

const CRITERION_OF: Record<RequestCheck['of'], Condition['criterion']> = {
  body: 'body',
  url: 'path',
  path: 'path',
  query: 'query',
  headers: 'headers',
  cookies: 'headers',
};

const SHOWN_WHOLE_MAX = 10_000;

/** Of a long body its text, of which a report shows the beginning: writing all of its JSON takes long. */
const shownBody = ({ text, map }: MockBody): unknown =>
  map === undefined || (text?.length ?? 0) > SHOWN_WHOLE_MAX ? text : map.value;

/** What a report shows of the part that a check is about; of cookies none, since they hold credentials. */
function partOf({ target, query, headers, body }: MockRequest, { of, name = '' }: RequestCheck): unknown {
  if (of === 'body') return shownBody(body);
  if (of === 'query' || of === 'headers') return pick(of === 'query' ? query : headers, new Set([name]));
  return of === 'cookies' ? undefined : target;
}

const memberOf = (map: Readonly<Record<string, unknown>>, name: string): unknown =>
  Object.hasOwn(map, name) ? keptValue(map[name]) : MISSING;

const pick = (map: Readonly<Record<string, unknown>>, names: ReadonlySet<string>): Record<string, unknown> =>
  Object.fromEntries(Object.entries(map).filter(([name]) => names.has(name)));

/** How many things a step says of its requests beside the path. */
function criteriaOf({ method, query, headers, body, checks = [], requires }: StepRequest): number {
  const maps = [query, headers, requires, isObject(body) ? body : undefined];
  const members = maps.reduce((sum, map) => sum + Object.keys(map ?? {}).length, 0);
  return Math.min(999, members + checks.length + (method === '*' ? 0 : 1) + (body === undefined ? 0 : 1));
}

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
function textTest(path: string, wanted: unknown): ValueTest {
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
function subsetTest(path: string, wanted: unknown, isExact: boolean, level = 0): ValueTest {
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
function bodyTest(wanted: unknown, isExact: boolean): (body: MockBody) => boolean {
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

function templatesOf({ headers = {}, sets = {} }: Pick<StepResponse, 'headers' | 'sets'>): Map<string, RenderBody> {
  const texts = [...Object.values(headers).flat(), ...Object.values(sets)];
  return new Map(texts.flatMap((text) => (typeof text === 'string' ? [[text, compileTemplate(text)] as const] : [])));
}
