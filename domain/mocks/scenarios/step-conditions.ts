import { compileCheck } from './compile-check.ts';
import { judged, type Unjudged } from '../serving/judged-text.ts';
import type { MockBody, MockRequest } from '../serving/mock-request.ts';
import type { RequestCheck, StepRequest } from './step-rules.ts';
import { bodyTest, memberOf, subsetTest, textTest } from './wanted-values.ts';

export type Variables = Readonly<Record<string, unknown>>;

/** One condition of a step. */
export interface Condition {
  criterion: 'method' | 'path' | 'query' | 'headers' | 'body' | 'state';
  wanted: unknown;
  /** Whether a request meets it, or why that is not known. */
  judge: (request: MockRequest, variables: Variables) => boolean | Unjudged;
  found: (request: MockRequest, variables: Variables) => unknown;
}

/**
 * What a step asks of its requests, in the order in which it is judged. Throws `FilterError`.
 * @param matchesPath see `compilePath`.
 */
export function conditionsOf(
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

/** What a report shows of a body: of a long one its text, since writing all of its JSON takes long. */
function shownBody(body: MockBody): unknown {
  const { text = '' } = body;
  return text.length > SHOWN_WHOLE_MAX || body.map === undefined ? body.text : body.map.value;
}

/** What a report shows of the part that a check is about; of cookies none, since they hold credentials. */
function partOf({ target, query, headers, body }: MockRequest, { of, name = '' }: RequestCheck): unknown {
  if (of === 'body') return shownBody(body);
  if (of === 'query' || of === 'headers') return pick(of === 'query' ? query : headers, new Set([name]));
  return of === 'cookies' ? undefined : target;
}

const pick = (map: Readonly<Record<string, unknown>>, names: ReadonlySet<string>): Record<string, unknown> =>
  Object.fromEntries(Object.entries(map).filter(([name]) => names.has(name)));
