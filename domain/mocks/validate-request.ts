import { isIP } from 'node:net';
import type { FormatDefinition, Options, ValidateFunction } from 'ajv';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { escapePointer } from '../kernel/shared/errors.ts';
import { isObject } from '../kernel/json/json-rules.ts';
import { schemaErrorDetail } from '../kernel/text/schema-error.ts';
import { FilterError } from '../events/webhooks/filter-rules.ts';
import { compileLinearRegex, SEARCHED_MAX } from '../events/webhooks/linear-regex.ts';
import { PatternWorkError, usePatternWork } from '../events/webhooks/pattern-work.ts';
import type { MockRequest } from './serving/mock-request.ts';
import { type JsonSchema, type RequestSchemas, SCHEMAS_MAX_BYTES } from './scenarios/step-rules.ts';

/** What is wrong with a request, and where: `/query/limit`. */
export interface RequestFault {
  pointer: string;
  detail: string;
}

/** @param parameters segments of the path by name. Uses the work of patterns; throws `PatternWorkError`. */
export type ValidateRequest = (called: MockRequest, parameters: Record<string, string>) => RequestFault | undefined;

/** Units of pattern work: for a byte of schemas that are compiled, for each schema of which a value is asked, and for comparing. */
const [COMPILE_UNITS, SCHEMA_UNITS, PAIR_UNITS] = [150, 12, 0.2];

/**
 * Compiles what requests must be like, which uses the work of patterns, too. Throws `FilterError` for schemas that cannot be
 * used.
 */
export function compileSchemas(schemas: RequestSchemas): ValidateRequest {
  const { path, query, headers, body, definitions = {}, requiresBody = false, contentTypes } = schemas;
  usePatternWork(COMPILE_UNITS * assertSize(schemas));
  const ofTexts = Object.entries({ path, query, headers }).flatMap(([name, schema]): [string, JsonSchema][] =>
    schema === undefined ? [] : [[name, schema]],
  );
  const parameters = ofTexts.length === 0 ? undefined : compiled(Object.fromEntries(ofTexts), definitions, true);
  const isOfForm = contentTypes?.includes(FORM_TYPE) === true && !contentTypes.some(isJsonType);
  const ofBody = body === undefined ? undefined : compiled({ body }, definitions, isOfForm);
  return (called, segments) => {
    // What texts are read as is written into what is asked.
    const texts = { path: segments, query: called.query, headers: called.headers };
    const fault = parameters && faultOf(parameters, structuredClone(texts));
    if (fault) return fault;
    if (called.bytes.length === 0) return requiresBody ? { pointer: '/body', detail: 'is required' } : undefined;
    const type = mediaType(called.headers['content-type']);
    if (contentTypes && !contentTypes.some((wanted) => isOfType(type, wanted)))
      return { pointer: '/headers/content-type', detail: `must be ${contentTypes.join(' or ')}` };
    const { map, text } = called.body;
    if (!ofBody || text === undefined) return undefined;
    if (map) return faultOf(ofBody, { body: isOfForm ? structuredClone(map.value) : map.value });
    return isJsonType(type) ? { pointer: '/body', detail: 'is not JSON' } : undefined;
  };
}

/** Answers the bytes of schemas. Throws `FilterError` for too many. */
export function assertSize(schemas: RequestSchemas): number {
  const bytes = Buffer.byteLength(JSON.stringify(schemas));
  if (bytes > SCHEMAS_MAX_BYTES)
    throw new FilterError('response/validates', `must be at most ${SCHEMAS_MAX_BYTES / 1024} KB of JSON`);
  return bytes;
}

const FORM_TYPE = 'application/x-www-form-urlencoded';
const mediaType = (header = ''): string => (header.split(';')[0] ?? '').trim().toLowerCase();
const isJsonType = (type: string): boolean => /^[\w.-]+\/(?:[\w.-]+\+)?json$/.test(type);

/** @param wanted may be a range: `text/*`. */
const isOfType = (type: string, wanted: string): boolean =>
  wanted === '*/*' || (wanted.endsWith('/*') ? type.startsWith(wanted.slice(0, -1)) : type === wanted);

function faultOf(validate: ValidateFunction, value: unknown): RequestFault | undefined {
  try {
    if (validate(value)) return undefined;
  } catch (error) {
    // A schema that refers to itself for the same value.
    if (error instanceof RangeError)
      throw new PatternWorkError('the schemas of the step refer to themselves without end');
    throw error;
  }
  const [error] = validate.errors ?? [];
  if (error?.keyword !== 'required')
    return { pointer: error?.instancePath ?? '', detail: error ? schemaErrorDetail(error) : 'is not valid' };
  const { missingProperty } = error.params as { missingProperty: string };
  return { pointer: `${error.instancePath}/${escapePointer(missingProperty)}`, detail: 'is required' };
}

/** Patterns run in linear time. Of a longer text only a part would be searched, so that it passes. */
const regExp = Object.assign(
  (pattern: string) => {
    const matches = compileLinearRegex(pattern);
    return { test: (text: string) => text.length > SEARCHED_MAX || matches(text) };
  },
  { code: '' },
);

const DATE_TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,9})?(?:Z|[+-]\d\d:\d\d)$/i;
const FORMATS: Record<string, FormatDefinition<string> | FormatDefinition<number>> = {
  'date-time': textFormat((text) => DATE_TIME.test(text) && !Number.isNaN(Date.parse(text))),
  date: textFormat((text) => /^\d{4}-\d\d-\d\d$/.test(text) && !Number.isNaN(Date.parse(text))),
  uuid: textFormat((text) => /^[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}$/i.test(text)),
  email: textFormat((text) => /^[^\s@]+@[^\s@]+$/.test(text)),
  ipv4: textFormat((text) => isIP(text) === 4),
  ipv6: textFormat((text) => isIP(text) === 6),
  uri: textFormat((text) => URL.canParse(text)),
  int32: { type: 'number', validate: (value) => Number.isInteger(value) && Math.abs(value) <= 2 ** 31 },
  int64: { type: 'number', validate: (value) => Number.isInteger(value) },
};

function textFormat(validate: (text: string) => boolean): FormatDefinition<string> {
  return { type: 'string', validate: (text) => text.length > SEARCHED_MAX || validate(text) };
}

/** A keyword that stands in every schema that is compiled: it uses what asking a value of it takes. */
const WORK = 'work-of-schema';
/** What asking takes: of any value, for each member or element that it has, and for each of these with a character of all. */
type Work = [units: number, unitsForEach: number, unitsForPairs: number];

const OPTIONS: Options = {
  strict: false,
  // Schemas are not asked whether they are schemas: a keyword of another form is refused when it is compiled.
  meta: false,
  validateSchema: false,
  addUsedSchema: false,
  inlineRefs: false,
  ownProperties: true,
  logger: false,
  code: { regExp, optimize: false },
  formats: FORMATS,
  keywords: [
    {
      keyword: WORK,
      // The first of all: behind a keyword that refuses the value none is asked.
      before: '$ref',
      errors: false,
      validate: ([units, each, pairs]: Work, value: unknown): boolean => {
        const size = typeof value === 'object' && value !== null ? Object.keys(value).length : 0;
        usePatternWork(units + each * size + (pairs === 0 ? 0 : pairs * size * JSON.stringify(value).length));
        return true;
      },
    },
  ],
};

/** One of each kind for all schemas: it takes some milliseconds to make one. */
const compilers = new Map<boolean, Ajv2020>();

/** @param isOfTexts values are texts, which are read as the types that the schema wants. */
function compiled(
  properties: Record<string, JsonSchema>,
  definitions: Record<string, JsonSchema>,
  isOfTexts: boolean,
): ValidateFunction {
  let ajv = compilers.get(isOfTexts);
  if (!ajv) compilers.set(isOfTexts, (ajv = new Ajv2020({ ...OPTIONS, coerceTypes: isOfTexts ? 'array' : false })));
  const schema = mapSchemas({ properties, $defs: definitions }, (one) => withWork(one));
  try {
    return ajv.compile(schema);
  } catch (error) {
    if (error instanceof PatternWorkError) throw error;
    throw new FilterError('response/validates', `cannot be used: ${(error as Error).message}`);
  } finally {
    ajv.removeSchema(schema);
  }
}

const SCHEMA_KEYWORDS = new Set([
  'items',
  'contains',
  'additionalProperties',
  'propertyNames',
  'not',
  'if',
  'then',
  'else',
  'unevaluatedItems',
  'unevaluatedProperties',
]);
const LIST_KEYWORDS = new Set(['allOf', 'anyOf', 'oneOf', 'prefixItems']);
const MAP_KEYWORDS = new Set(['properties', 'patternProperties', 'dependentSchemas', '$defs']);
const LEVELS_MAX = 100;

/** Applies to each schema within a schema, by the keywords that have some. */
export function mapSchemas(schema: Record<string, unknown>, map: (inner: JsonSchema) => JsonSchema) {
  const isMapped = (value: unknown): value is JsonSchema => typeof value === 'boolean' || isObject(value);
  const mapped = (value: unknown): unknown => (isMapped(value) ? map(value) : value);
  return Object.fromEntries(
    Object.entries(schema).map(([keyword, value]) => {
      if (SCHEMA_KEYWORDS.has(keyword)) return [keyword, mapped(value)];
      if (LIST_KEYWORDS.has(keyword) && Array.isArray(value)) return [keyword, value.map(mapped)];
      if (MAP_KEYWORDS.has(keyword) && isObject(value))
        return [keyword, Object.fromEntries(Object.entries(value).map(([name, one]) => [name, mapped(one)]))];
      return [keyword, value];
    }),
  );
}

function withWork(schema: JsonSchema, level = 0): JsonSchema {
  if (typeof schema === 'boolean') return schema;
  if (level > LEVELS_MAX) throw new FilterError('response/validates', `must not be deeper than ${LEVELS_MAX} levels`);
  return { ...mapSchemas(schema, (inner) => withWork(inner, level + 1)), [WORK]: workOf(schema) };
}

function workOf(schema: Record<string, unknown>): Work {
  const { enum: values, const: constant, properties, patternProperties, required, uniqueItems } = schema;
  const names = [properties, patternProperties, required].map((one) => Object.keys(one ?? {}).length);
  const compared = values === undefined && constant === undefined ? 0 : JSON.stringify([values, constant]).length;
  return [
    SCHEMA_UNITS * (1 + Math.max(0, ...names)) + compared,
    SCHEMA_UNITS / 3,
    uniqueItems === true ? PAIR_UNITS : 0,
  ];
}
