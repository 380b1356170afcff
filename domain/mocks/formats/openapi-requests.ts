import { isObject } from '../../kernel/json/json-rules.ts';
import { compileLinearRegex } from '../../events/webhooks/linear-regex.ts';
import { parameterNames } from '../scenarios/path-template-rules.ts';
import { type JsonSchema, type RequestSchemas, SCHEMAS_MAX_BYTES } from '../scenarios/step-rules.ts';
import { mapSchemas } from '../validate-request.ts';
import { partOf } from './openapi-references.ts';
import { rankOfType } from './openapi-responses.ts';
import type { Resolve } from './sample-schema-rules.ts';

type Part = Record<string, unknown>;

/** Why requests of an operation are not checked. */
export class NotCheckedError extends Error {}

/** OpenAPI 3.1, 4.8.12.1: parameters of these names say nothing. */
const NO_PARAMETERS = new Set(['accept', 'content-type', 'authorization']);
const MEMBER_OF = { path: 'path', query: 'query', header: 'headers' } as const;

interface Operation {
  template: string;
  /** Parameters of all operations of the path. */
  item: Part;
  operation: Part;
}

/**
 * What requests of an operation must be like; undefined where the document does not say. Cookies, and parameters of other
 * forms than OpenAPI's own defaults, are not checked. Throws `NotCheckedError`.
 */
export function requestSchemasOf(
  { template, item, operation }: Operation,
  resolve: Resolve,
): RequestSchemas | undefined {
  const cleaning = createCleaning(resolve);
  const schemas: RequestSchemas = {
    ...parametersOf([item.parameters, operation.parameters], template, resolve, cleaning.clean),
    ...bodyOf(operation.requestBody, resolve, cleaning.clean),
  };
  if (Object.keys(schemas).length === 0) return undefined;
  const { definitions } = cleaning;
  const whole: RequestSchemas = withoutAbsent({
    ...schemas,
    ...(definitions.size > 0 && { definitions: Object.fromEntries(definitions) }),
    status: isObject(operation.responses) && '422' in operation.responses ? 422 : 400,
  });
  if (Buffer.byteLength(JSON.stringify(whole)) > SCHEMAS_MAX_BYTES)
    throw new NotCheckedError(`its schemas are larger than ${SCHEMAS_MAX_BYTES / 1024} KB`);
  return whole;
}

/** Members that were taken away are left undefined. */
const withoutAbsent = (schemas: RequestSchemas): RequestSchemas =>
  JSON.parse(JSON.stringify(schemas)) as RequestSchemas;

type Clean = (schema: unknown) => JsonSchema;

function parametersOf(lists: readonly unknown[], template: string, resolve: Resolve, clean: Clean): RequestSchemas {
  const segments = parameterNames(template);
  const known = new Map<string, { of: 'path' | 'query' | 'headers'; name: string; parameter: Part }>();
  for (const given of lists.flatMap((list) => (Array.isArray(list) ? (list as unknown[]) : []))) {
    const parameter = partOf(given, resolve);
    if (typeof parameter?.name !== 'string' || typeof parameter.in !== 'string') continue;
    const of = Object.hasOwn(MEMBER_OF, parameter.in) ? MEMBER_OF[parameter.in as keyof typeof MEMBER_OF] : undefined;
    const name = of === 'headers' ? parameter.name.toLowerCase() : parameter.name;
    const isNone = (of === 'headers' && NO_PARAMETERS.has(name)) || (of === 'path' && !segments.has(name));
    if (of !== undefined && !isNone) known.set(`${of} ${name}`, { of, name, parameter });
  }
  const schemas: Record<string, { type: string; properties: Part; required: string[] }> = {};
  for (const { of, name, parameter } of known.values()) {
    const schema = (schemas[of] ??= { type: 'object', properties: {}, required: [] });
    if (parameter.required === true && isWritten(parameter, resolve)) schema.required.push(name);
    if (isReadable(of, parameter, resolve)) schema.properties[name] = clean(parameter.schema);
  }
  return schemas;
}

/** Whether a value of the parameter stands under its name: members of a `deepObject`, or of an object, do not. */
const isWritten = ({ style, schema }: Part, resolve: Resolve): boolean =>
  style !== 'deepObject' && typeOf(schema, resolve) !== 'object';

/** Whether the value that stands under its name is what the schema is about. */
function isReadable(of: string, { style, explode, schema }: Part, resolve: Resolve): boolean {
  const type = typeOf(schema, resolve);
  if (schema === undefined || type === 'object') return false;
  if (of === 'query') return (style === undefined || style === 'form') && (explode !== false || type !== 'array');
  return (style === undefined || style === 'simple') && type !== 'array';
}

function typeOf(schema: unknown, resolve: Resolve): unknown {
  const { type, properties } = partOf(schema, resolve) ?? {};
  return type ?? (properties === undefined ? undefined : 'object');
}

function bodyOf(given: unknown, resolve: Resolve, clean: Clean): RequestSchemas {
  const body = partOf(given, resolve);
  if (!isObject(body?.content)) return {};
  const { content } = body;
  const types = Object.keys(content).map((type) => (type.split(';')[0] ?? '').trim().toLowerCase());
  const [type] = Object.keys(content).toSorted((a, b) => rankOfType(a) - rankOfType(b));
  const isRead = type !== undefined && (rankOfType(type) < 2 || /^application\/x-www-form-urlencoded\b/i.test(type));
  const schema = isRead ? partOf(content[type], resolve)?.schema : undefined;
  return {
    ...(schema !== undefined && { body: clean(schema) }),
    ...(body.required === true && { requiresBody: true }),
    ...(types.length > 0 && { contentTypes: types }),
  };
}

/** Names of the members that the body of an operation may have. */
export function bodyMembersOf({ requestBody }: Part, resolve: Resolve): Set<string> {
  const content = partOf(requestBody, resolve)?.content;
  const [type] = Object.keys(content ?? {}).toSorted((a, b) => rankOfType(a) - rankOfType(b));
  const media = isObject(content) && type !== undefined ? partOf(content[type], resolve) : undefined;
  return new Set(membersOf(media?.schema, resolve, 0));
}

const NESTED_MAX = 3;

function membersOf(given: unknown, resolve: Resolve, level: number): string[] {
  const { properties, allOf } = partOf(given, resolve) ?? {};
  const inner = Array.isArray(allOf) && level < NESTED_MAX ? (allOf as unknown[]) : [];
  return [...Object.keys(properties ?? {}), ...inner.flatMap((one) => membersOf(one, resolve, level + 1))];
}

const isNumber = (value: unknown): boolean => typeof value === 'number';
const isText = (value: unknown): boolean => typeof value === 'string';
const isFlag = (value: unknown): boolean => typeof value === 'boolean';
const isList = (value: unknown): boolean => Array.isArray(value) && value.length > 0;
const isNames = (value: unknown): boolean => Array.isArray(value) && value.every(isText);
const isAny = (): boolean => true;
const TYPES = new Set<unknown>(['string', 'number', 'integer', 'boolean', 'array', 'object', 'null']);
const isType = (value: unknown): boolean =>
  isList(value) || isText(value) ? [value].flat().every((one) => TYPES.has(one)) : false;

/** What of a schema says which values are valid, and in which form; the rest is for readers and for answers. */
const KEYWORDS = new Map<string, (value: unknown) => boolean>([
  ['type', isType],
  ['enum', isList],
  ['const', isAny],
  ['format', isText],
  ['pattern', isText],
  ['uniqueItems', isFlag],
  ['required', isNames],
  ['$ref', isText],
  ...named(
    isNumber,
    'multipleOf maximum minimum exclusiveMaximum exclusiveMinimum maxLength minLength maxItems minItems',
  ),
  ...named(isNumber, 'maxContains minContains maxProperties minProperties'),
  ...named(isList, 'allOf anyOf oneOf prefixItems'),
  ...named(isObject, 'properties patternProperties dependentSchemas dependentRequired'),
  ...named(
    isAny,
    'items contains additionalProperties propertyNames not if then else unevaluatedItems unevaluatedProperties',
  ),
]);

function named(form: (value: unknown) => boolean, names: string): [string, (value: unknown) => boolean][] {
  return names.split(' ').map((name) => [name, form]);
}

/** Schemas of one operation; more of them take more than 12 KB. */
const SCHEMAS_MAX = 2_000;
const LEVELS_MAX = 50;

/** Schemas as JSON Schema that stands alone: what they refer to is in `definitions`. Throws `NotCheckedError`. */
function createCleaning(resolve: Resolve): { clean: Clean; definitions: ReadonlyMap<string, JsonSchema> } {
  const definitions = new Map<string, JsonSchema>();
  const names = new Map<string, string>();
  let left = SCHEMAS_MAX;
  const cleaned = (given: unknown, level: number): JsonSchema => {
    if (typeof given === 'boolean') return given;
    if (!isObject(given)) throw new NotCheckedError('a schema is not one');
    if (--left < 0 || level > LEVELS_MAX) throw new NotCheckedError('its schemas are too many, or nested too deeply');
    for (const keyword of ['$dynamicRef', '$recursiveRef', '$id', '$anchor'])
      if (keyword in given) throw new NotCheckedError(`the keyword ${keyword} has no counterpart`);
    const kept = Object.fromEntries(Object.entries(given).filter(([keyword]) => KEYWORDS.has(keyword)));
    const inner = mapSchemas(kept, (one) => cleaned(one, level + 1));
    const whole = {
      ...inner,
      ...corrected(given, resolve),
      ...(typeof given.$ref === 'string' && referred(given.$ref)),
    };
    for (const [keyword, value] of Object.entries(whole))
      if (value !== undefined && !KEYWORDS.get(keyword)?.(value))
        throw new NotCheckedError(`the keyword ${keyword} has a form that it must not have`);
    const patterns = isObject(given.patternProperties) ? Object.keys(given.patternProperties) : [];
    if (!patterns.every(isUsable)) throw new NotCheckedError('a pattern of names cannot be used');
    return whole;
  };
  const referred = (reference: string): Part => {
    let name = names.get(reference);
    if (name === undefined) {
      name = `s${names.size + 1}`;
      names.set(reference, name);
      const schema = resolve(reference);
      if (schema === undefined)
        throw new NotCheckedError(`${reference.slice(0, 200)} leads to nothing that could be read`);
      definitions.set(name, cleaned(schema, 0));
    }
    return { $ref: `#/$defs/${name}` };
  };
  return { clean: (schema) => cleaned(schema, 0), definitions };
}

/** What OpenAPI 3.0 writes otherwise, what requests need not have, and patterns that cannot be used. */
function corrected(schema: Part, resolve: Resolve): Part {
  const { type, nullable, enum: values, minimum, maximum, exclusiveMinimum, exclusiveMaximum, pattern } = schema;
  const { required, properties } = schema;
  const isReadOnly = (name: unknown) =>
    isObject(properties) && partOf(properties[String(name)], resolve)?.readOnly === true;
  return {
    ...(nullable === true && typeof type === 'string' && { type: [type, 'null'] }),
    ...(nullable === true && Array.isArray(values) && !values.includes(null) && { enum: [...values, null] }),
    ...(exclusiveMinimum === true && { minimum: undefined, exclusiveMinimum: minimum }),
    ...(exclusiveMinimum === false && { exclusiveMinimum: undefined }),
    ...(exclusiveMaximum === true && { maximum: undefined, exclusiveMaximum: maximum }),
    ...(exclusiveMaximum === false && { exclusiveMaximum: undefined }),
    ...(Array.isArray(required) && { required: required.filter((name) => !isReadOnly(name)) }),
    ...(typeof pattern === 'string' && !isUsable(pattern) && { pattern: undefined }),
  };
}

function isUsable(pattern: string): boolean {
  try {
    compileLinearRegex(pattern);
    return true;
  } catch {
    return false;
  }
}
