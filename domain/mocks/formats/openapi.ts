import { z } from 'zod';
import { readYaml } from './bounded-yaml.ts';
import {
  checked,
  collectSteps,
  FormatError,
  type Imported,
  type ImportedSteps,
  readJson,
  type StepDraft,
} from './imported.ts';
import { createSampling, type Resolve, type SampleOf } from './sample-schema-rules.ts';

type Part = Record<string, unknown>;
type Path = (string | number)[];

const Document = z.looseObject({
  openapi: z.string().optional(),
  swagger: z.string().optional(),
  info: z.looseObject({ title: z.string().optional(), version: z.string().optional() }).optional(),
  servers: z.array(z.unknown()).optional(),
  paths: z.record(z.string(), z.unknown()).default({}),
});
const METHODS = ['get', 'put', 'post', 'delete', 'options', 'head', 'patch', 'trace', 'query'];

interface Reading {
  collected: ImportedSteps;
  resolve: Resolve;
  sampleOf: SampleOf;
  /** Responses that no step gives. */
  others: number;
}

/**
 * Reads a description of an interface, OpenAPI 3.0 or 3.1 as JSON or YAML: a step for each operation, with its success
 * as example or as sampled from its schema. References to other documents are not followed. Throws `FormatError`.
 */
export function importOpenApi(content: string): Imported {
  const parsed = /^\s*\{/.test(content) ? readJson(content, 'The description') : readYaml(content);
  const document = checked(Document, parsed, 'The description');
  if (!document.openapi?.startsWith('3.'))
    throw new FormatError(
      document.swagger === undefined
        ? 'The description has no openapi: 3.…'
        : `The description is of Swagger ${document.swagger}: convert it to OpenAPI 3 first`,
    );
  const collected = collectSteps();
  const resolve = resolverOf(document);
  const reading: Reading = { collected, resolve, sampleOf: createSampling(resolve), others: 0 };
  for (const [template, given] of Object.entries(document.paths)) {
    const path = ['paths', template];
    if (!template.startsWith('/')) continue;
    const item = partOf(given, reading);
    if (!item) collected.skip(path, 'is no path item that could be read');
    else
      for (const method of METHODS.filter((name) => isPart(item[name])))
        addOperation(reading, { method, template, operation: item[method] as Part }, [...path, method]);
  }
  if (reading.others > 0)
    collected.skip(
      ['paths'],
      `operations answer with their success; ${reading.others} other responses are not answered`,
    );
  if (isPart(document.webhooks)) collected.skip(['webhooks'], 'are requests that the described service sends');
  const { info } = document;
  return collected.imported({
    description: [info?.title, info?.version].filter(Boolean).join(' ').slice(0, 2_000),
    mode: 'any',
    upstream: upstreamOf(document.servers),
  });
}

interface Operation {
  method: string;
  template: string;
  operation: Part;
}

function addOperation(reading: Reading, { method, template, operation }: Operation, path: Path): void {
  const { collected } = reading;
  const responses = isPart(operation.responses) ? operation.responses : {};
  const [status, ...others] = Object.keys(responses)
    .filter((name) => !name.startsWith('x-'))
    .toSorted((a, b) => rankOf(a) - rankOf(b));
  if (status === undefined) return collected.skip(path, 'has no responses');
  const response = partOf(responses[status], reading);
  if (!response) return collected.skip([...path, 'responses', status], 'refers to nothing that could be read');
  reading.others += others.length;
  collected.add(
    {
      request: { method, path: pathOf(template) },
      response: {
        status: numberOfStatus(status),
        ...answerOf(response, reading, [...path, 'responses', status]),
      },
      times: null,
    },
    path,
  );
}

/** Successes first, then the default, redirections and errors. */
function rankOf(status: string): number {
  if (/^2\d\d$/.test(status)) return Number(status);
  if (/^2xx$/i.test(status)) return 300;
  if (status === 'default') return 301;
  return 400 + (Number.parseInt(status, 10) || 600);
}

function numberOfStatus(status: string): number {
  if (/^[2-5]\d\d$/.test(status)) return Number(status);
  return /^[2-5]xx$/i.test(status) ? Number(status[0]) * 100 : 200;
}

/** Headers and body of a response. */
function answerOf(response: Part, reading: Reading, path: Path): Partial<StepDraft['response']> {
  const headers = Object.fromEntries(
    Object.entries(isPart(response.headers) ? response.headers : {}).flatMap(([name, given]): [string, string][] => {
      const header = partOf(given, reading);
      const value = header && exampleOf(header, reading);
      return !/^content-type$/i.test(name) && isScalar(value) ? [[name.toLowerCase(), String(value)]] : [];
    }),
  );
  const content = isPart(response.content) ? response.content : {};
  const type = Object.keys(content).toSorted((a, b) => rankOfType(a) - rankOfType(b))[0];
  const media = type === undefined ? undefined : partOf(content[type], reading);
  if (type === undefined || !media) return { headers };
  const withType = {
    ...headers,
    'content-type': type.replace(/\*\/\*|\*$/, (all) => (all === '*/*' ? 'application/json' : 'plain')),
  };
  const example = exampleOf(media, reading);
  if (example !== undefined) return { headers: withType, body: sentBody(type, example) };
  if (!isJson(type) && !/^text\/(plain|html|csv|\*)/i.test(type)) {
    reading.collected.skip([...path, 'content', type], 'has no example, and is not sampled; the answer is empty');
    return { headers: withType };
  }
  const sampled = reading.sampleOf(media.schema);
  if (sampled === undefined) {
    if (media.schema !== undefined)
      reading.collected.skip([...path, 'content', type], 'has a schema that cannot be sampled; the answer is empty');
    return { headers: withType };
  }
  return { headers: withType, body: sentBody(type, sampled) };
}

/** A text is sent as it is: where JSON is expected it needs quotes, unless it is JSON as examples often write it. */
function sentBody(type: string, value: unknown): unknown {
  if (typeof value !== 'string' || !isJson(type)) return value;
  try {
    JSON.parse(value);
    return value;
  } catch {
    return JSON.stringify(value);
  }
}

const isJson = (type: string): boolean => /^(\*\/\*|application\/([\w.-]+\+)?json)\b/i.test(type);
const rankOfType = (type: string): number => (/^application\/json\b/i.test(type) ? 0 : isJson(type) ? 1 : 2);

/** The example that a media type or a header has beside its schema. */
function exampleOf(part: Part, reading: Reading): unknown {
  if (part.example !== undefined) return part.example;
  if (!isPart(part.examples)) return undefined;
  for (const given of Object.values(part.examples)) {
    const example = partOf(given, reading);
    if (example?.value !== undefined) return example.value;
  }
  return undefined;
}

/** `/compare/{base}...{head}` as a step writes it: what is not a whole segment by name is any. */
const pathOf = (template: string): string =>
  (template.split(/[?#]/, 1)[0] ?? '/')
    .split('/')
    .map((segment) => {
      if (/^\{[A-Za-z_]\w{0,99}\}$/.test(segment)) return segment;
      return segment
        .replaceAll(/\{[^{}]*\}/g, '*')
        .replaceAll(/\*+/g, '*')
        .replaceAll(/[{}\s]/g, encodeURIComponent);
    })
    .join('/');

function upstreamOf(servers: readonly unknown[] | undefined): string | undefined {
  const [server] = servers ?? [];
  if (!isPart(server) || typeof server.url !== 'string') return undefined;
  const variables = isPart(server.variables) ? server.variables : {};
  const url = URL.parse(
    server.url.replaceAll(/\{([^{}]*)\}/g, (_all, name: string) => {
      const variable = variables[name];
      return isPart(variable) ? String(variable.default) : '';
    }),
  );
  return url && /^https?:$/.test(url.protocol) ? url.href.replace(/\/$/, '') : undefined;
}

/** Follows references within the document, and no others. */
const resolverOf =
  (document: unknown): Resolve =>
  (reference) => {
    if (!reference.startsWith('#/')) return undefined;
    let found: unknown = document;
    for (const segment of reference.slice(2).split('/')) {
      const name = unescaped(segment);
      if (typeof found !== 'object' || found === null || !Object.hasOwn(found, name)) return undefined;
      found = (found as Part)[name];
    }
    return found;
  };

function unescaped(segment: string): string {
  try {
    return decodeURIComponent(segment).replaceAll('~1', '/').replaceAll('~0', '~');
  } catch {
    return segment;
  }
}

/** References to references; more would go round. */
const REFERENCES_MAX = 10;

function partOf(given: unknown, { resolve }: Reading): Part | undefined {
  let found = given;
  for (let step = 0; step < REFERENCES_MAX; step++) {
    if (!isPart(found)) return undefined;
    if (typeof found.$ref !== 'string') return found;
    found = resolve(found.$ref);
  }
  return undefined;
}

const isPart = (value: unknown): value is Part => typeof value === 'object' && value !== null && !Array.isArray(value);
const isScalar = (value: unknown): value is string | number | boolean =>
  typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean';
