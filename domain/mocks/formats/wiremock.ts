import { checked, collectSteps, type Imported, type ImportedSteps, readJson, type StepDraft } from './imported.ts';
import { z } from 'zod';
import type { RequestCheck } from '../step-rules.ts';
import { bodyChecks, valueChecks } from './wiremock-checks.ts';
import { bodyCriterion, isPart, NotTakenError, valueCriterion } from './wiremock-criteria.ts';
import { addressOf } from './wiremock-paths.ts';
import { templateOf } from './wiremock-templates.ts';

type Part = Record<string, unknown>;
type Path = (string | number)[];
type Response = StepDraft['response'];

const Mapping = z.looseObject({
  request: z.looseObject({}).default({}),
  response: z.looseObject({}).default({}),
  priority: z.number().optional(),
  scenarioName: z.string().optional(),
  requiredScenarioState: z.string().optional(),
  newScenarioState: z.string().optional(),
});
type WireMockMapping = z.output<typeof Mapping>;

const PRIORITY = 5;
/** The state that each scenario begins with. */
const STARTED = 'Started';
const MAPPINGS_MAX = 20_000;

interface Reading {
  collected: ImportedSteps;
  /** All states that mappings of a scenario name. */
  states: Map<string, Set<string>>;
}

/**
 * Reads mappings of WireMock: one, a list, or `{mappings: […]}`. A mapping with a criterion that has no counterpart is not
 * taken at all, since it would answer requests that it must not. Throws `FormatError`.
 */
export function importWireMock(content: string): Imported {
  const document = readJson(content, 'The document');
  const isList = isPart(document) && Array.isArray(document.mappings);
  const given = isList ? document.mappings : Array.isArray(document) ? document : [document];
  const list = checked(z.array(z.unknown()).max(MAPPINGS_MAX), given, 'The mappings');
  const collected = collectSteps();
  const placeOf = (index: number): Path => (isList ? ['mappings', index] : Array.isArray(document) ? [index] : []);
  const mappings = list.flatMap((one, index) => {
    const parsed = Mapping.safeParse(one);
    if (!parsed.success) collected.skip(placeOf(index), 'is no mapping');
    return parsed.success ? [{ mapping: parsed.data, index }] : [];
  });
  const reading = { collected, states: statesOf(mappings.map(({ mapping }) => mapping)) };
  // Of mappings of one priority WireMock asks the newest first.
  const inOrder = mappings.toSorted(
    (a, b) => (a.mapping.priority ?? PRIORITY) - (b.mapping.priority ?? PRIORITY) || b.index - a.index,
  );
  for (const { mapping, index } of inOrder) addMapping(reading, mapping, placeOf(index));
  if (new Set(mappings.map(({ mapping }) => mapping.priority ?? PRIORITY)).size > 1)
    collected.skip(
      [],
      'priorities are the order of the steps: of several that match, one with a more specific path still goes first',
    );
  return collected.imported({ mode: 'any' });
}

function addMapping({ collected, states }: Reading, mapping: WireMockMapping, path: Path): void {
  try {
    const request = requestOf(mapping.request, (at, reason) => collected.skip([...path, 'request', ...at], reason));
    const requires = requiredState(mapping, states);
    const response = responseOf(mapping.response, request.path ?? '/**', (at, reason) =>
      collected.skip([...path, 'response', ...at], reason),
    );
    const { scenarioName, newScenarioState } = mapping;
    const sets = scenarioName !== undefined &&
      newScenarioState !== undefined && { [variableOf(scenarioName)]: newScenarioState };
    for (const name of ['postServeActions', 'serveEventListeners'])
      if (mapping[name] !== undefined) collected.skip([...path, name], 'nothing is called after an answer');
    collected.add(
      {
        request: { ...request, path: response.path, ...(requires && { requires }) },
        response: { ...response.response, ...(sets && { sets }) },
        times: null,
      },
      path,
    );
  } catch (error) {
    if (!(error instanceof NotTakenError)) throw error;
    collected.skip([...path, ...error.path], error.message);
  }
}

type Skip = (path: Path, reason: string) => void;

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

function requestOf(request: Part, skip: Skip): NonNullable<StepDraft['request']> {
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

/** Errors of criteria are of the request. */
function withPlace<T>(name: string, read: () => T): T {
  try {
    return read();
  } catch (error) {
    throw error instanceof NotTakenError ? new NotTakenError([name, ...error.path], error.message) : error;
  }
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
  if (given !== undefined && !isPart(given)) throw new NotTakenError([member], 'is no object');
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
function bodyOf({ bodyPatterns, formParameters }: Part): BodyPart {
  const checksOf = () =>
    Array.isArray(bodyPatterns) ? bodyChecks(bodyPatterns, ['bodyPatterns']) : ([] satisfies RequestCheck[]);
  if (bodyPatterns !== undefined && !Array.isArray(bodyPatterns))
    throw new NotTakenError(['bodyPatterns'], 'is no list');
  if (formParameters !== undefined) {
    if (!isPart(formParameters)) throw new NotTakenError(['formParameters'], 'is no object');
    const fields = Object.entries(formParameters).map(([key, matcher]) => [
      key,
      valueCriterion(matcher, ['formParameters', key]),
    ]);
    return { body: Object.fromEntries(fields) as unknown, isExact: false, checks: checksOf() };
  }
  if (!Array.isArray(bodyPatterns)) return { isExact: false, checks: [] };
  const subset = orUndefined(() => bodyCriterion(bodyPatterns, ['bodyPatterns']));
  return subset ? { ...subset, checks: [] } : { isExact: false, checks: checksOf() };
}

const variableOf = (scenarioName: string): string => scenarioName.replaceAll(/\W+/g, '_').slice(0, 100);

function statesOf(mappings: readonly WireMockMapping[]): Map<string, Set<string>> {
  const states = new Map<string, Set<string>>();
  for (const { scenarioName, requiredScenarioState, newScenarioState } of mappings) {
    if (scenarioName === undefined) continue;
    const known = states.get(scenarioName) ?? new Set();
    for (const state of [requiredScenarioState, newScenarioState]) if (state !== undefined) known.add(state);
    states.set(scenarioName, known);
  }
  return states;
}

/** A variable that was never set is in the first state: it is none of the others. */
function requiredState(
  { scenarioName, requiredScenarioState: state }: WireMockMapping,
  states: Map<string, Set<string>>,
): Record<string, unknown> | undefined {
  if (scenarioName === undefined || state === undefined) return undefined;
  if (state !== STARTED) return { [variableOf(scenarioName)]: state };
  const others = [...(states.get(scenarioName) ?? [])].filter((one) => one !== STARTED);
  return others.length === 0 ? undefined : { [variableOf(scenarioName)]: { nin: others } };
}

const FAULTS = {
  CONNECTION_RESET_BY_PEER: 'reset',
  EMPTY_RESPONSE: 'empty',
  MALFORMED_RESPONSE_CHUNK: 'malformed',
  RANDOM_DATA_THEN_CLOSE: 'malformed',
} as const;

function responseOf(given: Part, path: string, skip: Skip): { response: Response; path: string } {
  for (const name of ['bodyFileName', 'proxyBaseUrl'])
    if (given[name] !== undefined)
      throw new NotTakenError(
        ['response', name],
        name === 'bodyFileName'
          ? 'names a file, which the document does not have'
          : 'requests are passed on by the scenario, not by a step',
      );
  const fault = typeof given.fault === 'string' ? FAULTS[given.fault as keyof typeof FAULTS] : undefined;
  if (given.fault !== undefined && fault === undefined)
    throw new NotTakenError(['response', 'fault'], 'is no fault that has a counterpart');
  const plain: Response = {
    status: typeof given.status === 'number' ? given.status : 200,
    ...(isPart(given.headers) && { headers: headersOf(given.headers) }),
    ...answerOf(given),
    ...delayOf(given, skip),
    ...(fault && { fault: { kind: fault } }),
  };
  const transformers = Array.isArray(given.transformers) ? given.transformers : [];
  for (const name of transformers)
    if (name !== 'response-template') skip(['transformers'], `${String(name)} has no counterpart`);
  if (!transformers.includes('response-template')) return { response: plain, path };
  return withPlace('response', () => templateOf(plain, path));
}

const headersOf = (headers: Part): Record<string, string | string[]> =>
  Object.fromEntries(
    Object.entries(headers)
      .filter(([name]) => !/^(content-length|transfer-encoding|connection|content-encoding)$/i.test(name))
      .map(([name, value]) => [name, Array.isArray(value) ? value.map(String) : String(value)]),
  );

function answerOf({ body, jsonBody, base64Body }: Part): Partial<Response> {
  if (jsonBody !== undefined) return { body: typeof jsonBody === 'string' ? JSON.stringify(jsonBody) : jsonBody };
  if (typeof base64Body === 'string') return { bodyBase64: base64Body };
  return typeof body === 'string' ? { body } : {};
}

function delayOf(
  { fixedDelayMilliseconds: fixed, delayDistribution: spread, chunkedDribbleDelay: dribble, ...given }: Part,
  skip: Skip,
): Partial<Response> {
  if (isPart(dribble)) {
    const bytes = Buffer.byteLength(JSON.stringify(given.jsonBody ?? given.body ?? given.base64Body ?? ''));
    return { throttle: Math.max(1, Math.ceil((bytes * 1000) / Math.max(1, Number(dribble.totalDuration) || 1))) };
  }
  if (isPart(spread)) {
    const bounds = boundsOf(spread);
    if (spread.type !== 'uniform')
      skip(['delayDistribution'], `is taken as evenly spread between ${bounds.min} and ${bounds.max} ms`);
    return { delayMs: bounds };
  }
  return typeof fixed === 'number' ? { delayMs: Math.round(fixed) } : {};
}

/** Of a log-normal spread, where two thirds of its values are: a factor of e to sigma around the median. */
function boundsOf({ lower, upper, median, sigma }: Part): { min: number; max: number } {
  const [from, to] =
    typeof median === 'number'
      ? [median / Math.exp(Number(sigma) || 0), median * Math.exp(Number(sigma) || 0)]
      : [Number(lower) || 0, Number(upper) || 0];
  return { min: Math.round(Math.min(from, to)), max: Math.round(Math.max(from, to)) };
}
