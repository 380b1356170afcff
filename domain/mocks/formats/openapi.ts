import { RE2JS } from 're2js';
import { z } from 'zod';
import { isObject } from '../../kernel/json/json-rules.ts';
import { isParameter, parameterNames } from '../scenarios/path-template-rules.ts';
import { type RequestCheck, type RequestSchemas, STEPS_MAX } from '../scenarios/step-rules.ts';
import { readYaml } from './bounded-yaml.ts';
import { checked, collectSteps, FormatError, type Imported, readJson, type StepDraft } from './imported.ts';
import { partOf, resolverOf } from './openapi-references.ts';
import { bodyMembersOf, NotCheckedError, requestSchemasOf } from './openapi-requests.ts';
import { type Answer, answerOf, type DocumentReading, statusesOf } from './openapi-responses.ts';
import { createSampling, type Resolve, TooManyValuesError } from './sample-schema-rules.ts';

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

interface Reading extends DocumentReading {
  /** Requests that break the document are refused. */
  validates: boolean;
  steps: number;
  /** What clients may ask for by `Prefer`, which is added when all operations have their step. */
  preferred: (() => void)[];
  /** Responses that no step gives. */
  others: number;
}

/**
 * Reads a description of an interface, OpenAPI 3.0 or 3.1 as JSON or YAML: a step for each operation, with its success
 * as example or as sampled from its schema, and one for each answer that clients may ask for by `Prefer` (RFC 7240) as of
 * Prism (https://docs.stoplight.io/docs/prism). References to other documents are not followed. Throws `FormatError`.
 */
export function importOpenApi(
  content: string,
  { validates = true }: { validates?: boolean | undefined } = {},
): Imported {
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
  const sampleOf = createSampling(resolve);
  const reading: Reading = { collected, resolve, sampleOf, validates, steps: 0, preferred: [], others: 0 };
  for (const [template, given] of Object.entries(document.paths)) {
    const path = ['paths', template];
    if (!template.startsWith('/')) continue;
    const item = partOf(given, resolve);
    if (!item) collected.skip(path, 'is no path item that could be read');
    else
      for (const method of METHODS.filter((name) => isObject(item[name])))
        addOperation(reading, { method, template, item, operation: item[method] as Part }, [...path, method]);
  }
  addPreferred(reading);
  if (isObject(document.webhooks)) collected.skip(['webhooks'], 'are requests that the described service sends');
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
  item: Part;
  operation: Part;
}

function addOperation(reading: Reading, given: Operation, path: Path): void {
  const { collected, resolve } = reading;
  const responses = isObject(given.operation.responses) ? given.operation.responses : {};
  const [status, ...others] = statusesOf(given.operation);
  if (status === undefined) return collected.skip(path, 'has no responses');
  const responsePath = (name: string) => [...path, 'responses', name];
  const response = partOf(responses[status], resolve);
  if (!response) return collected.skip(responsePath(status), 'refers to nothing that could be read');
  const validates = schemasOf(reading, given, path);
  const repeatable = repeatableOf(given, resolve);
  const answer = answerOf(status, response, reading, responsePath(status));
  const add = (sent: StepDraft['response'], preferences: readonly Preference[], schemas?: RequestSchemas) =>
    addStep(reading, given, sent, { preferences, validates: schemas, repeatable, path });
  add(answer.response, [], validates);
  reading.preferred.push(() => {
    addVariants(answer, [], (sent, preferences) => add(sent, preferences, validates));
    for (const other of others) {
      const part = partOf(responses[other], resolve);
      if (!part || !/^[2-5]\d\d$/.test(other)) reading.others++;
      else {
        const code: Preference = ['code', other];
        const asked = answerOf(other, part, reading, responsePath(other));
        add(asked.response, [code]);
        addVariants(asked, [code], (sent, preferences) => add(sent, preferences));
      }
    }
  });
}

function schemasOf(
  { validates, collected, resolve }: Reading,
  given: Operation,
  path: Path,
): RequestSchemas | undefined {
  if (!validates) return undefined;
  try {
    return requestSchemasOf(given, resolve);
  } catch (error) {
    if (!(error instanceof NotCheckedError)) throw error;
    collected.skip(path, `its requests are not checked: ${error.message}`);
    return undefined;
  }
}

/** What `Prefer` asks for: `code=404`, `example=name`, `dynamic=true`. */
type Preference = readonly ['code' | 'example' | 'dynamic', string];

function addVariants(
  { examples, sampled }: Answer,
  before: readonly Preference[],
  add: (sent: StepDraft['response'], preferences: readonly Preference[]) => void,
): void {
  for (const [name, sent] of examples) add(sent, [...before, ['example', name]]);
  const made = sampled?.();
  if (made) add(made, [...before, ['dynamic', 'true']]);
}

/** Adds what clients may ask for, as far as a scenario has room for it. */
function addPreferred(reading: Reading): void {
  const { collected, preferred } = reading;
  try {
    for (const add of preferred) add();
  } catch (error) {
    if (!(error instanceof TooManyValuesError)) throw error;
    collected.skip(['paths'], `not all answers are taken for which Prefer asks: ${error.message}`);
  }
  if (reading.others > 0)
    collected.skip(
      ['paths'],
      `${reading.others} responses are not answered: those without a status of their own, and those beyond ${STEPS_MAX} steps`,
    );
}

function addStep(
  reading: Reading,
  { method, template }: Operation,
  sent: StepDraft['response'],
  {
    preferences,
    validates,
    repeatable,
    path,
  }: {
    preferences: readonly Preference[];
    validates: RequestSchemas | undefined;
    repeatable: ReadonlyMap<string, string>;
    path: Path;
  },
): void {
  if (preferences.length > 0 && reading.steps >= STEPS_MAX) {
    reading.others++;
    return;
  }
  const echo = echoOf(sent.body, repeatable);
  const isTaken = reading.collected.add(
    {
      request: {
        method,
        path: pathOf(template),
        ...(preferences.length > 0 && { checks: preferences.map(preferenceCheck) }),
      },
      response: { ...sent, ...(echo && { echo }), ...(validates && { validates }) },
      times: null,
    },
    path,
  );
  if (isTaken) reading.steps++;
}

/** A preference among others: `Prefer: code=404, example="not there"`. */
const preferenceCheck = ([name, value]: Preference): RequestCheck => ({
  of: 'headers',
  name: 'prefer',
  is: { matches: `(?:.*[,;])?\\s*${name}\\s*=\\s*"?${RE2JS.quote(value)}"?\\s*(?:[,;].*)?` },
});

/** What answers can repeat of a request, by name: segments of the path, and members of the body that no segment is named as. */
const repeatableOf = ({ template, operation }: Operation, resolve: Resolve): ReadonlyMap<string, string> =>
  new Map([
    ...[...bodyMembersOf(operation, resolve)].map((name) => [name, `body.${name}`] as const),
    ...[...parameterNames(template)].map((name) => [name, `path.${name}`] as const),
  ]);

/** Members of an answer that repeat the request's. */
function echoOf(body: unknown, repeatable: ReadonlyMap<string, string>): Record<string, string> | undefined {
  if (!isObject(body)) return undefined;
  const echo = Object.keys(body).flatMap((name): [string, string][] => {
    const path = /^[\w-]{1,100}$/.test(name) ? repeatable.get(name) : undefined;
    return path === undefined ? [] : [[name, path]];
  });
  return echo.length === 0 ? undefined : Object.fromEntries(echo.slice(0, ECHO_MAX));
}

const ECHO_MAX = 100;

/** `/compare/{base}...{head}` as a step writes it: what is not a whole segment by name is any. */
const pathOf = (template: string): string =>
  (template.split(/[?#]/, 1)[0] ?? '/')
    .split('/')
    .map((segment) => {
      if (isParameter(segment)) return segment;
      return segment
        .replaceAll(/\{[^{}]*\}/g, '*')
        .replaceAll(/\*+/g, '*')
        .replaceAll(/[{}\s]/g, encodeURIComponent);
    })
    .join('/');

function upstreamOf(servers: readonly unknown[] | undefined): string | undefined {
  const [server] = servers ?? [];
  if (!isObject(server) || typeof server.url !== 'string') return undefined;
  const variables = isObject(server.variables) ? server.variables : {};
  const url = URL.parse(
    server.url.replaceAll(/\{([^{}]*)\}/g, (_all, name: string) => {
      const variable = variables[name];
      return isObject(variable) ? String(variable.default) : '';
    }),
  );
  return url && /^https?:$/.test(url.protocol) ? url.href.replace(/\/$/, '') : undefined;
}
