import { isObject } from '../../kernel/json/json-rules.ts';
import type { RequestCheck } from '../scenarios/step-rules.ts';
import type { StepDraft } from './imported.ts';
import { bodyChecks, valueChecks } from './wiremock-checks.ts';
import { bodyCriterion, NotTakenError, valueCriterion, withPlace } from './wiremock-criteria.ts';
import { addressOf } from './wiremock-paths.ts';

type Part = Record<string, unknown>;
/** Names a part of a mapping that is not taken, or not as it was written. */
export type Skip = (path: readonly (string | number)[], reason: string) => void;

/** Criteria of the address, which is that of the scenario here. */
const NOT_COMPARED: readonly string[] = ['scheme', 'host', 'port'];
const ADDRESSES: readonly string[] = ['url', 'urlPath', 'urlPattern', 'urlPathPattern', 'urlPathTemplate'];
const CRITERIA = new Set([
  ...NOT_COMPARED,
  ...ADDRESSES,
  'method',
  'pathParameters',
  'queryParameters',
  'headers',
  'cookies',
  'bodyPatterns',
  'formParameters',
]);

/** What a mapping asks of a request. Throws `NotTakenError`. */
export function requestOf(request: Part, skip: Skip): NonNullable<StepDraft['request']> {
  for (const name of Object.keys(request))
    if (!CRITERIA.has(name)) throw new NotTakenError(['request', name], 'has no counterpart');
  const [, second] = ADDRESSES.filter((name) => request[name] !== undefined);
  if (second !== undefined) throw new NotTakenError(['request', second], 'stands beside another address');
  for (const name of NOT_COMPARED)
    if (request[name] !== undefined) skip([name], 'is not compared: requests reach the scenario by its own address');
  return withPlace('request', () => {
    const address = addressOf(request);
    const body = bodyOf(request);
    const headers = valuesOf(request.headers, 'headers');
    const parameters = valuesOf(request.queryParameters, 'queryParameters');
    const cookies = valuesOf(request.cookies, 'cookies');
    const query = { ...address.query, ...parameters.values };
    const exact = [...(address.isExact ? (['query'] as const) : []), ...(body.isExact ? (['body'] as const) : [])];
    const checks = [...(address.checks ?? []), ...[parameters, headers, cookies, body].flatMap((part) => part.checks)];
    return {
      method: methodOf(request.method),
      path: address.path,
      ...(Object.keys(query).length > 0 && { query }),
      ...(Object.keys(headers.values).length > 0 && { headers: headers.values }),
      ...('body' in body && { body: body.body }),
      ...(exact.length > 0 && { exact }),
      ...(checks.length > 0 && { checks }),
    };
  });
}

function methodOf(given: unknown): string {
  if (given === undefined || given === 'ANY') return '*';
  if (typeof given === 'string') return given;
  throw new NotTakenError(['method'], 'only one method or ANY has a counterpart');
}

/** What is asked of values by name: as values and operators where these say the same, else as checks. */
function valuesOf(given: unknown, member: 'queryParameters' | 'headers' | 'cookies') {
  const values: Record<string, unknown> = {};
  const checks: RequestCheck[] = [];
  if (given !== undefined && !isObject(given)) throw new NotTakenError([member], 'is no object');
  const of = member === 'queryParameters' ? 'query' : member;
  for (const [key, matcher] of Object.entries(given ?? {})) {
    const value = of === 'cookies' ? undefined : orUndefined(() => valueCriterion(matcher, [member, key]));
    if (value !== undefined) values[key] = value;
    else checks.push(...valueChecks(of, of === 'headers' ? key.toLowerCase() : key, matcher, [member, key]));
  }
  return { values, checks };
}

/** Undefined where there is no counterpart of this kind. */
function orUndefined<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch (error) {
    if (error instanceof NotTakenError) return undefined;
    throw error;
  }
}

interface BodyPart {
  body?: unknown;
  isExact: boolean;
  checks: RequestCheck[];
}

/** What is asked of the body: as JSON of which it has a subset where that says the same, else as checks. */
function bodyOf({ bodyPatterns = [], formParameters }: Part): BodyPart {
  const path = ['bodyPatterns'];
  if (!Array.isArray(bodyPatterns)) throw new NotTakenError(path, 'is no list');
  if (formParameters === undefined) {
    const subset = orUndefined(() => bodyCriterion(bodyPatterns, path));
    return subset ? { ...subset, checks: [] } : { isExact: false, checks: bodyChecks(bodyPatterns, path) };
  }
  if (!isObject(formParameters)) throw new NotTakenError(['formParameters'], 'is no object');
  const fields = Object.entries(formParameters).map(([key, matcher]): [string, unknown] => [
    key,
    valueCriterion(matcher, ['formParameters', key]),
  ]);
  return { body: Object.fromEntries(fields), isExact: false, checks: bodyChecks(bodyPatterns, path) };
}
