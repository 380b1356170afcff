import type { z } from 'zod';
import { escapePointer, type FieldError } from './errors.ts';
import { fieldsOf } from '../overrides/zod-fields.ts';
import { didYouMean } from '../text/suggestion-rules.ts';

type Issue = z.core.$ZodIssue;
type RawIssue = z.core.$ZodRawIssue;

/** The longest name in a pointer, and the longest word that a message repeats. */
const SHOWN_MAX = 200;
/** Unknown fields of one object for which the nearest known one is looked for. */
const SUGGESTED_MAX = 10;

const TYPES: Readonly<Record<string, string>> = {
  string: 'a string',
  number: 'a number',
  int: 'an integer',
  boolean: 'true or false',
  array: 'an array',
  tuple: 'an array',
  object: 'an object',
  record: 'an object',
  date: 'a time',
  null: 'null',
};

const FORMATS: Readonly<Record<string, string>> = {
  email: 'an e-mail address',
  url: 'a URL',
  uuid: 'a UUID',
  datetime: 'a time in ISO 8601 with an offset, such as 2026-03-02T09:30:00Z',
  date: 'a day, such as 2026-03-02',
  duration: 'a duration in ISO 8601, such as P7D',
  base64: 'text in base64',
};

const UNITS: Readonly<Record<string, string>> = { string: 'characters', array: 'elements', map: 'members' };

/** Makes all messages of Zod plain, and lets each say what would be right. For `safeParse` of what clients send. */
export const PARSING = { error: messageOf, reportInput: true } as const satisfies z.core.ParseContext<Issue>;

function messageOf(issue: RawIssue): string | undefined {
  switch (issue.code) {
    case 'invalid_type':
      return `must be ${TYPES[issue.expected] ?? issue.expected}, not ${typeOf(issue.input)}`;
    case 'invalid_value':
      return oneOf(issue.values.map(String), issue.input);
    case 'too_small':
    case 'too_big':
      return sizeMessage(issue);
    case 'not_multiple_of':
      return `must be a multiple of ${issue.divisor}`;
    case 'invalid_format':
      return issue.format === 'regex'
        ? `must match ${issue.pattern}`
        : `must be ${FORMATS[issue.format] ?? issue.format}`;
    case 'unrecognized_keys':
      return unknownFields(issue);
    case 'invalid_union':
      return 'has none of the forms that are possible here';
    // These carry a message, or that of a part.
    case 'custom':
    case 'invalid_key':
    case 'invalid_element':
      return undefined;
  }
}

function typeOf(input: unknown): string {
  if (input === null) return 'null';
  return Array.isArray(input) ? 'an array' : (TYPES[typeof input] ?? typeof input);
}

/** Why a word is none of those that are possible, and which of them is nearest. */
export function oneOf(known: readonly string[], given: unknown): string {
  const must = known.length === 1 ? `must be ${known[0]}` : `must be one of ${known.join(', ')}`;
  return typeof given === 'string' ? `${must}${didYouMean(given, known)}` : must;
}

function sizeMessage(issue: RawIssue & { code: 'too_small' | 'too_big' }): string {
  const { origin, inclusive, exact } = issue;
  const limit = Number(issue.code === 'too_small' ? issue.minimum : issue.maximum);
  const isTooSmall = issue.code === 'too_small';
  const unit = UNITS[origin];
  if (unit !== undefined && isTooSmall && limit === 1) return 'must not be empty';
  const bound = exact
    ? 'exactly'
    : isTooSmall
      ? inclusive
        ? 'at least'
        : 'more than'
      : inclusive
        ? 'at most'
        : 'less than';
  return unit === undefined ? `must be ${bound} ${limit}` : `must have ${bound} ${limit} ${unit}`;
}

/** One line for each field, as `fieldErrors` reads it. */
function unknownFields({ keys, inst }: RawIssue & { code: 'unrecognized_keys' }): string {
  const known = fieldsOf(inst);
  const lines = keys.slice(0, SUGGESTED_MAX).map((key) => `unknown field${didYouMean(key, known)}`);
  return lines.join('\n');
}

/**
 * Violations of a schema as field errors.
 * @param place what the pointers begin with: `#/body`, `payload`, or nothing.
 */
export function* fieldErrors(place: string, issues: readonly Issue[]): Generator<FieldError> {
  for (const issue of issues) {
    const path = issue.path.map((segment) => pointerSegment(String(segment)));
    const pointer = [...(place === '' ? [] : [place]), ...path].join('/');
    if (issue.code === 'unrecognized_keys') {
      const lines = issue.message.split('\n');
      for (const [index, key] of issue.keys.entries())
        yield { detail: lines[index] ?? 'unknown field', pointer: `${pointer}/${pointerSegment(key)}` };
    } else if (issue.input === undefined && MISSING.has(issue.code)) yield { detail: 'is required', pointer };
    else if (issue.code === 'invalid_union') yield* unionErrors(pointer, issue);
    else yield { detail: issue.message, pointer };
  }
}

/** With these codes a value that is undefined was not given. */
const MISSING = new Set<Issue['code']>(['invalid_type', 'invalid_value', 'invalid_union', 'invalid_format']);

/** What is wrong with the one form of a union that a value was probably meant to have: it has at least its type. */
function* unionErrors(pointer: string, { errors, message }: z.core.$ZodIssueInvalidUnion): Generator<FieldError> {
  const meant = errors.filter(
    (issues) => !issues.some(({ code, path }) => code === 'invalid_type' && path.length === 0),
  );
  const [only] = meant;
  if (meant.length === 1 && only) yield* fieldErrors(pointer, only);
  else yield { detail: message, pointer };
}

/** Names are chosen by the client, and repeated in each reply. */
const pointerSegment = (name: string): string =>
  escapePointer(name.length <= SHOWN_MAX ? name : `${name.slice(0, SHOWN_MAX).toWellFormed()}…`);
