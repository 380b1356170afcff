import { isObject, parsedJson } from '../../kernel/json/json-rules.ts';
import { compileLinearRegex } from '../../events/webhooks/linear-regex.ts';

/** Why a mapping cannot be taken; `path` leads to what is at fault, from the request. */
export class NotTakenError extends Error {
  readonly path: readonly (string | number)[];

  constructor(path: readonly (string | number)[], message: string) {
    super(message);
    this.path = path;
  }
}

/** What `read` throws is of a part of the mapping. @param name of that part. */
export function withPlace<T>(name: string, read: () => T): T {
  try {
    return read();
  } catch (error) {
    throw error instanceof NotTakenError ? new NotTakenError([name, ...error.path], error.message) : error;
  }
}

/** JSON that a matcher gives as a text. Throws `NotTakenError`. */
export function wantedJson(text: string, path: Path): unknown {
  const json = parsedJson(text);
  if (!json) throw new NotTakenError(path, 'is not JSON');
  return json.value;
}

type Path = readonly (string | number)[];
type Part = Record<string, unknown>;
/** Members of a matcher that change how a value is compared, and are no comparisons themselves. */
const MODIFIERS = new Set(['caseInsensitive', 'ignoreExtraElements', 'ignoreArrayOrder', 'name', 'namespaceAwareness']);

/**
 * A matcher of a value of a query, a header or a field, as operators of steps: `{equalTo: 'a'}`, `{matches: 'a.*'}`.
 * Throws `NotTakenError` for one that has no counterpart.
 */
export function valueCriterion(matcher: unknown, path: Path): unknown {
  if (typeof matcher === 'string') return matcher;
  if (!isObject(matcher)) throw new NotTakenError(path, 'is no matcher');
  const names = Object.keys(matcher).filter((name) => !MODIFIERS.has(name));
  const [name = ''] = names;
  if (names.length !== 1) throw new NotTakenError(path, 'is not one matcher');
  const at = [...path, name];
  const given = matcher[name];
  const isLoose = matcher.caseInsensitive === true;
  switch (name) {
    case 'equalTo':
      return isLoose ? regexCriterion(`(?i)^${escaped(String(given))}$`, at) : String(given);
    case 'contains':
      return regexCriterion(escaped(String(given)), at);
    case 'matches':
      return regexCriterion(`^(?:${String(given)})$`, at);
    case 'or':
      return orCriterion(given, at);
    case 'hasExactly':
      return exactValues(given, at);
    default:
      throw new NotTakenError(at, `the matcher ${name} has no counterpart`);
  }
}

function orCriterion(given: unknown, path: Path): unknown {
  const values = Array.isArray(given) ? given.map((one, index) => valueCriterion(one, [...path, index])) : [];
  if (values.length > 0 && values.every((value) => typeof value === 'string')) return { in: values };
  throw new NotTakenError(path, 'the matcher or is taken of equalTo alone');
}

function exactValues(given: unknown, path: Path): unknown {
  const values = Array.isArray(given) ? given.map((one, index) => valueCriterion(one, [...path, index])) : [];
  if (values.length > 0 && values.every((value) => typeof value === 'string')) return values;
  throw new NotTakenError(path, 'the matcher hasExactly is taken of equalTo alone');
}

/** Java's look-arounds and back references have no counterpart: patterns run in linear time here. */
function regexCriterion(pattern: string, path: Path): { regex: string } {
  try {
    compileLinearRegex(pattern);
  } catch (error) {
    throw new NotTakenError(path, `the pattern cannot be used: ${(error as Error).message}`);
  }
  return { regex: pattern };
}

const escaped = (text: string): string => text.replaceAll(/[\\^$.*+?()[\]{}|]/g, String.raw`\$&`);

/** What patterns of a body come to. */
export interface BodyCriterion {
  body: unknown;
  isExact: boolean;
}

/** All `bodyPatterns` of a request as one criterion. Throws `NotTakenError`. */
export function bodyCriterion(patterns: readonly unknown[], path: Path): BodyCriterion | undefined {
  const parts = patterns.map((pattern, index) => patternCriterion(pattern, [...path, index]));
  const [first, ...others] = parts;
  if (!first) return undefined;
  return others.reduce((merged, part, index) => {
    const body = mergedBodies(merged.body, part.body);
    if (body === undefined || merged.isExact || part.isExact)
      throw new NotTakenError([...path, index + 1], 'cannot be compared beside the pattern before it');
    return { body, isExact: false };
  }, first);
}

function patternCriterion(pattern: unknown, path: Path): BodyCriterion {
  if (!isObject(pattern)) throw new NotTakenError(path, 'is no matcher');
  if ('equalToJson' in pattern) return jsonCriterion(pattern, path);
  if ('matchesJsonPath' in pattern)
    return { body: pathCriterion(pattern.matchesJsonPath, [...path, 'matchesJsonPath']), isExact: false };
  if (typeof pattern.equalTo === 'string' && Object.keys(pattern).length === 1)
    return { body: pattern.equalTo, isExact: false };
  throw new NotTakenError(path, 'is no subset of a body');
}

function jsonCriterion({ equalToJson, ignoreExtraElements, ignoreArrayOrder }: Part, path: Path): BodyCriterion {
  const at = [...path, 'equalToJson'];
  const body = typeof equalToJson === 'string' ? wantedJson(equalToJson, at) : equalToJson;
  const text = JSON.stringify(body) ?? '';
  if (text.includes('${json-unit.')) throw new NotTakenError(at, 'placeholders of json-unit have no counterpart');
  if (ignoreArrayOrder === true && text.includes('['))
    throw new NotTakenError([...path, 'ignoreArrayOrder'], 'lists are compared in their order');
  if (typeof body !== 'object' || body === null)
    throw new NotTakenError(at, 'only objects and lists are compared as JSON');
  return { body, isExact: ignoreExtraElements !== true };
}

const PLAIN_PATH = /^\$((?:\.[\w-]+|\['[^'\]]+'\])+)$/;
/** `$[?(@.status == 'new')]`, `$.order[?(@.id == 3)]`. */
const EQUAL_MEMBER =
  /^\$((?:\.[\w-]+)*)\[\?\(\s*@((?:\.[\w-]+)+)\s*==\s*('[^']*'|"[^"]*"|-?\d+(?:\.\d+)?|true|false|null)\s*\)\]$/;

/** A JSONPath that names one member, as the body that has it. */
function pathCriterion(given: unknown, path: Path): unknown {
  if (typeof given === 'string') {
    const [, before = '', member = '', value] = EQUAL_MEMBER.exec(given) ?? [];
    if (value === undefined)
      throw new NotTakenError(path, `${given}: only a comparison of one member has a counterpart`);
    return nested([...namesIn(before), ...namesIn(member)], wantedJson(value.replaceAll("'", '"'), path));
  }
  if (!isObject(given) || typeof given.expression !== 'string') throw new NotTakenError(path, 'has no expression');
  const { expression, ...matcher } = given;
  const [, steps] = PLAIN_PATH.exec(expression) ?? [];
  if (steps === undefined)
    throw new NotTakenError([...path, 'expression'], `${expression}: only a path to one member has a counterpart`);
  return nested(namesIn(steps), ofAnyType(valueCriterion(matcher, path)));
}

/** WireMock compares texts: `3` is equal to the number, too. */
function ofAnyType(value: unknown): unknown {
  return typeof value === 'string' && /^(-?\d{1,15}(\.\d{1,10})?|true|false|null)$/.test(value)
    ? { in: [value, JSON.parse(value) as unknown] }
    : value;
}

const namesIn = (steps: string): string[] =>
  [...steps.matchAll(/\.([\w-]+)|\['([^'\]]+)'\]/g)].map(([, a, b]) => a ?? b ?? '');
const nested = (names: readonly string[], value: unknown): unknown =>
  names.reduceRight<unknown>((inner, name) => ({ [name]: inner }), value);

/** Two objects as one; undefined where they say different things of one member. */
function mergedBodies(a: unknown, b: unknown): unknown {
  if (!isObject(a) || !isObject(b) || 'regex' in a || 'regex' in b) return undefined;
  const merged: Part = { ...a };
  for (const [name, value] of Object.entries(b)) {
    const both = Object.hasOwn(merged, name) ? mergedBodies(merged[name], value) : value;
    if (both === undefined) return undefined;
    merged[name] = both;
  }
  return merged;
}
