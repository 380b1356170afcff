import { posix } from 'node:path';
import { isObject } from '../../kernel/json/json-rules.ts';
import { textOf } from '../serving/message-body.ts';
import { type StepDraft, sizeOfBody } from './imported.ts';
import { NotTakenError, withPlace } from './wiremock-criteria.ts';
import type { Skip } from './wiremock-requests.ts';
import { templateOf } from './wiremock-templates.ts';

type Part = Record<string, unknown>;
type Response = StepDraft['response'];

const FAULTS = {
  CONNECTION_RESET_BY_PEER: 'reset',
  EMPTY_RESPONSE: 'empty',
  MALFORMED_RESPONSE_CHUNK: 'malformed',
  RANDOM_DATA_THEN_CLOSE: 'malformed',
} as const;

/** Contents of files by their names in `__files`; undefined for a document without files. */
export type BodyFiles = ReadonlyMap<string, Buffer> | undefined;

/**
 * What a mapping answers, and the path with names for what templates insert of it. Throws `NotTakenError`.
 * @param path of the request, as steps write it.
 */
export function responseOf(
  given: Part,
  path: string,
  files: BodyFiles,
  skip: Skip,
): { response: Response; path: string } {
  if (given.proxyBaseUrl !== undefined)
    throw new NotTakenError(['response', 'proxyBaseUrl'], 'requests are passed on by the scenario, not by a step');
  const fault = typeof given.fault === 'string' ? FAULTS[given.fault as keyof typeof FAULTS] : undefined;
  if (given.fault !== undefined && fault === undefined)
    throw new NotTakenError(['response', 'fault'], 'is no fault that has a counterpart');
  const body = withPlace('response', () => answerOf(given, files));
  const plain: Response = {
    status: typeof given.status === 'number' ? given.status : 200,
    ...(isObject(given.headers) && { headers: headersOf(given.headers) }),
    ...body,
    ...delayOf(given, sizeOfBody(body), skip),
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

function answerOf({ body, jsonBody, base64Body, bodyFileName }: Part, files: BodyFiles): Partial<Response> {
  if (bodyFileName !== undefined) return bodyOfFile(bodyFileName, files);
  if (jsonBody !== undefined) return { body: typeof jsonBody === 'string' ? JSON.stringify(jsonBody) : jsonBody };
  if (typeof base64Body === 'string') return { bodyBase64: base64Body };
  return typeof body === 'string' ? { body } : {};
}

function bodyOfFile(name: unknown, files: BodyFiles): Partial<Response> {
  const refused = (reason: string) => new NotTakenError(['bodyFileName'], reason);
  if (typeof name !== 'string') throw refused('is no name of a file');
  if (name.includes('{{')) throw refused('is a template: which file a request needs is not known before it comes');
  if (!files) throw refused('names a file, which the document does not have: send a zip of mappings and __files');
  const bytes = files.get(posix.normalize(`/${name}`).slice(1));
  if (!bytes) throw refused(`names ${name.slice(0, 200)}, which is not in __files`);
  const text = textOf(bytes, '');
  return text === undefined ? { bodyBase64: bytes.toString('base64') } : { body: text };
}

function delayOf(
  { fixedDelayMilliseconds: fixed, delayDistribution: spread, chunkedDribbleDelay: dribble }: Part,
  bytes: number,
  skip: Skip,
): Partial<Response> {
  if (isObject(dribble))
    return { throttle: Math.max(1, Math.ceil((bytes * 1000) / Math.max(1, Number(dribble.totalDuration) || 1))) };
  if (isObject(spread)) {
    const bounds = boundsOf(spread);
    if (spread.type !== 'uniform')
      skip(['delayDistribution'], `is taken as evenly spread between ${bounds.min} and ${bounds.max} ms`);
    return { delayMs: bounds };
  }
  return typeof fixed === 'number' ? { delayMs: Math.round(fixed) } : {};
}

/** The bounds of a spread; of a log-normal one: where two thirds of it are, a factor of e to sigma around the median. */
function boundsOf({ lower, upper, median, sigma }: Part): { min: number; max: number } {
  const [from, to] =
    typeof median === 'number'
      ? [median / Math.exp(Number(sigma) || 0), median * Math.exp(Number(sigma) || 0)]
      : [Number(lower) || 0, Number(upper) || 0];
  return { min: Math.round(Math.min(from, to)), max: Math.round(Math.max(from, to)) };
}
