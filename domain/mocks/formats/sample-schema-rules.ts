import { isObject } from '../../kernel/json/json-rules.ts';

/** A schema of OpenAPI 3.0 or 3.1, as it is written: nothing of it is certain. */
type Schema = Record<string, unknown>;
/** Finds what a reference names; undefined for one that leads nowhere, or to another document. */
export type Resolve = (reference: string) => unknown;

/** How many values one sample, and all samples of a document, may have: schemas of a few lines can stand for a billion. */
const VALUES_MAX = 2_000;
const ALL_VALUES_MAX = 200_000;
const CHARS_MAX = 5 * 1024 * 1024;
const LEVELS_MAX = 12;
/** Below this level objects have only what they must have. */
const OPTIONAL_LEVELS_MAX = 5;
const ITEMS_MAX = 3;
const TEXT_MAX = 1_000;

interface Sampling {
  resolve: Resolve;
  /** Values that may still be made. */
  left: number;
  /** Characters of examples that may still be taken: one may be referred to many times. */
  charsLeft: number;
  /** References that are being followed. */
  open: Set<string>;
}

/**
 * A value that a schema describes: its example or default where it has one, else a plain one of its type. Undefined where
 * nothing can be said, such as for a schema that contains itself.
 */
export type SampleOf = (schema: unknown) => unknown;

/** Makes the samples of one document. They throw `TooManyValuesError`. */
export function createSampling(resolve: Resolve): SampleOf {
  let left = ALL_VALUES_MAX;
  return (schema) => {
    const sampling: Sampling = { resolve, left: VALUES_MAX, charsLeft: CHARS_MAX, open: new Set() };
    const value = sample(schema, sampling, 0);
    left -= VALUES_MAX - Math.max(0, sampling.left);
    if (left < 0) throw new TooManyValuesError(`Its schemas stand for more than ${ALL_VALUES_MAX} values`);
    return value;
  };
}

export class TooManyValuesError extends Error {}

function sample(given: unknown, sampling: Sampling, level: number): unknown {
  if (!isObject(given) || level > LEVELS_MAX || --sampling.left < 0) return given === true ? {} : undefined;
  if (typeof given.$ref === 'string') return ofReference(given.$ref, sampling, level);
  const told = toldOf(given);
  if (told !== undefined) {
    if (sampling.charsLeft >= 0) sampling.charsLeft -= JSON.stringify(told).length;
    return sampling.charsLeft < 0 ? undefined : told;
  }
  if (Array.isArray(given.allOf)) return ofAll(given, given.allOf, sampling, level);
  const choices = Array.isArray(given.oneOf) ? given.oneOf : given.anyOf;
  if (Array.isArray(choices)) return ofChoices(given, choices, sampling, level);
  switch (typeOf(given)) {
    case 'object':
      return ofObject(given, sampling, level);
    case 'array':
      return ofArray(given, sampling, level);
    case 'string':
      return ofString(given);
    case 'integer':
    case 'number':
      return ofNumber(given);
    case 'boolean':
      return true;
    case 'null':
      return null;
    case undefined:
    default:
      return undefined;
  }
}

/** What the schema itself says that a value may be. */
function toldOf({ example, examples, default: byDefault, const: constant, enum: values }: Schema): unknown {
  if (constant !== undefined) return constant;
  if (example !== undefined) return example;
  if (Array.isArray(examples) && examples.length > 0) return examples[0];
  if (byDefault !== undefined && byDefault !== null) return byDefault;
  return Array.isArray(values) ? (values.find((value) => value !== null) ?? values[0]) : undefined;
}

function ofReference(reference: string, sampling: Sampling, level: number): unknown {
  if (sampling.open.has(reference)) return undefined;
  sampling.open.add(reference);
  const value = sample(sampling.resolve(reference), sampling, level + 1);
  sampling.open.delete(reference);
  return value;
}

function ofAll(schema: Schema, parts: unknown[], sampling: Sampling, level: number): unknown {
  const { allOf: _allOf, ...rest } = schema;
  const values = [...parts, ...(typeOf(rest) === undefined ? [] : [rest])].map((part) =>
    sample(part, sampling, level + 1),
  );
  const known = values.filter((value) => value !== undefined);
  return known.every(isObject) && known.length > 0 ? Object.assign({}, ...known) : known.at(0);
}

/** The first that is not null, with what the schema says beside its choices. */
function ofChoices(schema: Schema, choices: unknown[], sampling: Sampling, level: number): unknown {
  const { oneOf: _oneOf, anyOf: _anyOf, ...rest } = schema;
  const choice = choices.find((one) => isObject(one) && one.type !== 'null') ?? choices[0];
  const chosen = sample(choice, sampling, level + 1);
  const beside = typeOf(rest) === 'object' ? ofObject(rest, sampling, level) : undefined;
  if (chosen === undefined) return beside;
  return isObject(chosen) && isObject(beside) ? { ...beside, ...chosen } : chosen;
}

function ofObject(schema: Schema, sampling: Sampling, level: number): unknown {
  const required = new Set(Array.isArray(schema.required) ? schema.required : []);
  const properties = isObject(schema.properties) ? Object.entries(schema.properties) : [];
  const members: [string, unknown][] = [];
  for (const [name, property] of properties) {
    if (level > OPTIONAL_LEVELS_MAX && !required.has(name)) continue;
    if (isObject(property) && property.writeOnly === true) continue;
    const value = sample(property, sampling, level + 1);
    if (value !== undefined) members.push([name, value]);
  }
  if (properties.length === 0 && isObject(schema.additionalProperties) && level <= OPTIONAL_LEVELS_MAX) {
    const value = sample(schema.additionalProperties, sampling, level + 1);
    if (value !== undefined) members.push(['name', value]);
  }
  return Object.fromEntries(members);
}

function ofArray({ items, prefixItems, minItems }: Schema, sampling: Sampling, level: number): unknown[] {
  if (Array.isArray(prefixItems))
    return prefixItems.slice(0, ITEMS_MAX).map((item) => sample(item, sampling, level + 1) ?? null);
  const value = sample(items, sampling, level + 1);
  const count = Math.min(Math.max(1, Number(minItems) || 0), ITEMS_MAX);
  return value === undefined ? [] : Array.from({ length: count }, () => value);
}

const BY_FORMAT: Record<string, string> = {
  'date-time': '2026-01-01T00:00:00Z',
  date: '2026-01-01',
  time: '00:00:00Z',
  duration: 'P1D',
  email: 'user@example.com',
  'idn-email': 'user@example.com',
  hostname: 'example.com',
  ipv4: '192.0.2.1',
  ipv6: '2001:db8::1',
  uri: 'https://example.com/',
  url: 'https://example.com/',
  'uri-reference': '/',
  iri: 'https://example.com/',
  'uri-template': 'https://example.com/{id}',
  uuid: '00000000-0000-4000-8000-000000000000',
  byte: 'c3RyaW5n',
  'json-pointer': '/name',
  regex: '.*',
};

function ofString({ format, minLength, maxLength }: Schema): string {
  const text = (typeof format === 'string' ? BY_FORMAT[format] : undefined) ?? 'string';
  const atLeast = Math.min(Number(minLength) || 0, TEXT_MAX);
  const atMost = typeof maxLength === 'number' ? Math.max(maxLength, atLeast) : TEXT_MAX;
  return text.padEnd(atLeast, text).slice(0, atMost);
}

function ofNumber({ minimum, maximum, exclusiveMinimum, exclusiveMaximum, multipleOf }: Schema): number {
  const lowest = numberIn(minimum, 1, exclusiveMinimum);
  const highest = numberIn(maximum, -1, exclusiveMaximum);
  const step = typeof multipleOf === 'number' && multipleOf > 0 ? multipleOf : 1;
  if (lowest !== undefined && lowest > 0) return Math.ceil(lowest / step) * step;
  return highest !== undefined && highest < step ? highest : step;
}

/** A bound, by its form of OpenAPI 3.0 (`exclusiveMinimum: true`) or of 3.1 (`exclusiveMinimum: 3`). */
function numberIn(bound: unknown, beyond: number, exclusive: unknown): number | undefined {
  if (typeof exclusive === 'number') return exclusive + beyond;
  if (typeof bound !== 'number') return undefined;
  return exclusive === true ? bound + beyond : bound;
}

function typeOf({ type, properties, additionalProperties, items, prefixItems }: Schema): string | undefined {
  const found: unknown = Array.isArray(type) ? (type.find((one) => one !== 'null') ?? type[0]) : type;
  if (typeof found === 'string') return found;
  if (isObject(properties) || isObject(additionalProperties)) return 'object';
  return items === undefined && prefixItems === undefined ? undefined : 'array';
}
