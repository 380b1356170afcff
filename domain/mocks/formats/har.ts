import { literalPath } from '../scenarios/path-template-rules.ts';
import { z } from 'zod';
import { answerBody, isKeptHeader, requestCriterion, secretsOfBody } from '../serving/message-body.ts';
import { valuesByName } from '../serving/mock-request.ts';
import { headerWithStandIns, isSecretName, secretsOfHeaders, type StandInOf } from '../recording/secret-fields.ts';
import { checked, collectSteps, FormatError, type Imported, type ImportedSteps, readJson } from './imported.ts';

const Named = z.array(z.object({ name: z.string(), value: z.string() }));

/** What is read of an entry, after HAR 1.2 (http://www.softwareishard.com/blog/har-12-spec/); more may be there. */
const Entry = z.object({
  request: z.object({
    method: z.string(),
    url: z.string(),
    headers: Named.default([]),
    postData: z
      .object({
        mimeType: z.string().default(''),
        text: z.string().optional(),
        params: z.array(z.object({ name: z.string(), value: z.string().optional() })).optional(),
        /** How Chromium wrote `text`: `base64`, or absent. */
        encoding: z.string().optional(),
      })
      .nullish(),
  }),
  response: z.object({
    status: z.number(),
    headers: Named.default([]),
    content: z
      .object({
        size: z.number().optional(),
        mimeType: z.string().default(''),
        text: z.string().optional(),
        encoding: z.string().optional(),
      })
      .prefault({}),
  }),
});
type HarEntry = z.output<typeof Entry>;

const Har = z.object({ log: z.object({ version: z.string().optional(), entries: z.array(z.unknown()).max(50_000) }) });

/**
 * Reads an HTTP archive: one step for each exchange with one origin, in their order, each answering once. Requests are
 * compared by method, path, query and body, never by credentials; secrets of answers become stand-ins. Throws `FormatError`.
 * @param origin of the exchanges that are taken. Default: that of the most.
 */
export function importHar(content: string, standInOf: StandInOf, origin?: string): Imported {
  const { log } = checked(Har, readJson(content, 'The archive'), 'The archive');
  const collected = collectSteps();
  const read = log.entries.map((entry) => Entry.safeParse(entry));
  const wanted = origin ?? mostFrequent(read.flatMap(({ data }) => originOf(data?.request.url ?? '') ?? []));
  if (log.entries.length > 0 && wanted === undefined) throw new FormatError('The archive has no exchange by HTTP');
  const known = secretsIn(read.flatMap(({ data }) => (data ? [data] : [])));
  for (const [index, { data, error }] of read.entries()) {
    const path = ['log', 'entries', index];
    if (!data) {
      const [issue] = error?.issues ?? [];
      collected.skip([...path, ...(issue?.path ?? []).map(String)], issue?.message ?? 'is not an entry');
    } else addEntry(collected, data, path, { standInOf, origin: wanted, known });
  }
  return collected.imported({ mode: 'perEndpoint', upstream: wanted });
}

interface HarReading {
  standInOf: StandInOf;
  origin: string | undefined;
  /** Secrets of all exchanges: what one hands out may stand anywhere in others. */
  known: readonly string[];
}

/** Each is looked for in every text. */
const KNOWN_MAX = 100;

function secretsIn(entries: readonly HarEntry[]): string[] {
  const secrets = new Set<string>();
  for (const { request, response } of entries) {
    for (const secret of [
      ...secretsOfHeaders(request.headers.map(({ name, value }) => [name, value])),
      ...secretsOfBody(bytesOf(request.postData), request.postData?.mimeType ?? ''),
      ...secretsOfBody(bytesOf(response.content), response.content.mimeType),
    ])
      secrets.add(secret);
    if (secrets.size >= KNOWN_MAX) break;
  }
  return [...secrets].slice(0, KNOWN_MAX);
}

const bytesOf = (content: { text?: string | undefined; encoding?: string | undefined } | null | undefined): Buffer =>
  Buffer.from(content?.text ?? '', content?.encoding === 'base64' ? 'base64' : 'utf8');

function addEntry(collected: ImportedSteps, entry: HarEntry, path: (string | number)[], reading: HarReading): void {
  const { request, response } = entry;
  const url = URL.parse(request.url);
  const from = originOf(request.url);
  if (!url || from === undefined) return collected.skip([...path, 'request', 'url'], 'is not an address of HTTP');
  if (from !== reading.origin)
    return collected.skip([...path, 'request', 'url'], `is of ${from}, the scenario is of ${reading.origin}`);
  const { status } = response;
  if (status < 200 || status > 599) {
    return collected.skip([...path, 'response', 'status'], `${status} is not the end of an exchange`);
  }
  const { known } = reading;
  const query = valuesByName([...url.searchParams].filter(([name]) => !isSecretName(name)));
  const criterion = postedCriterion(collected, request.postData, [...path, 'request', 'postData'], reading);
  const bytes = contentOf(collected, entry, [...path, 'response', 'content']);
  collected.add(
    {
      request: {
        method: request.method,
        path: literalPath(url.pathname),
        ...(Object.keys(query).length > 0 && { query }),
        ...(criterion !== undefined && { body: criterion }),
      },
      response: {
        status,
        headers: answerHeaders(response, reading.standInOf),
        ...answerBody(bytes, response.content.mimeType, reading.standInOf, known),
      },
      times: 1,
    },
    path,
  );
}

function answerHeaders({ headers, content }: HarEntry['response'], standInOf: StandInOf) {
  const kept = headers.filter(({ name }) => isKeptHeader(name));
  const values = valuesByName(
    kept.flatMap(({ name, value }): [string, string][] =>
      // Several cookies are parted by lines, as HTTP/2 has them in Chromium.
      value.split('\n').map((line) => [name.toLowerCase(), headerWithStandIns(name, line.trim(), standInOf)]),
    ),
  );
  return {
    ...(content.mimeType !== '' && !('content-type' in values) && { 'content-type': content.mimeType }),
    ...values,
  };
}

/** What the request's body is compared by, from its text or its fields. */
function postedCriterion(
  collected: ImportedSteps,
  posted: HarEntry['request']['postData'],
  path: (string | number)[],
  { standInOf, known }: HarReading,
): unknown {
  if (!posted) return undefined;
  const { mimeType, text, params } = posted;
  if (text === undefined || text === '') {
    const fields = (params ?? []).map(({ name, value = '' }): [string, string] => [name, value]);
    if (fields.length === 0 || /^multipart\//i.test(mimeType)) return undefined;
    const form = new URLSearchParams(fields).toString();
    return requestCriterion(Buffer.from(form), 'application/x-www-form-urlencoded', standInOf, known);
  }
  const criterion = requestCriterion(bytesOf(posted), mimeType, standInOf, known);
  if (criterion === undefined && !/^application\/(json|x-www-form-urlencoded)/i.test(mimeType))
    collected.skip(path, `a body of ${mimeType.split(';')[0] || 'unknown type'} is not compared`);
  return criterion;
}

function contentOf(collected: ImportedSteps, { request, response }: HarEntry, path: (string | number)[]): Buffer {
  const { text, size = 0 } = response.content;
  if (text === undefined) {
    if (size > 0 && request.method.toUpperCase() !== 'HEAD')
      collected.skip([...path, 'text'], `the archive does not have the body of ${size} bytes; the answer is empty`);
    return Buffer.alloc(0);
  }
  return bytesOf(response.content);
}

const originOf = (url: string): string | undefined => {
  const parsed = URL.parse(url);
  return parsed && /^https?:$/.test(parsed.protocol) ? parsed.origin : undefined;
};

function mostFrequent(values: readonly string[]): string | undefined {
  const counts = new Map<string, number>();
  for (const value of values) counts.set(value, (counts.get(value) ?? 0) + 1);
  return [...counts].toSorted(([, a], [, b]) => b - a)[0]?.[0];
}
