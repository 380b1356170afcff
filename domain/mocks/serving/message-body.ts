import { FILTER_OPERATORS } from '../../events/webhooks/filter-rules.ts';
import { parsedJson } from '../../kernel/json/json-rules.ts';
import { exceededLimit } from '../../kernel/json/json-size-rules.ts';
import { isFormType, valuesByName } from './mock-request.ts';
import {
  secretsOfValue,
  type StandInOf,
  textWithStandIns,
  withoutKnown,
  withoutSecrets,
  withStandIns,
} from '../recording/secret-fields.ts';

/** The body of a step's answer: at most one of the two. */
export interface StepBody {
  /** A string goes verbatim, anything else as JSON. */
  body?: unknown;
  /** Bytes that are no text. */
  bodyBase64?: string;
}

/** Nested deeper, or with more members, JSON stays a text. */
const JSON_LIMITS = { levels: 100, members: 250_000 };
/** Numbers that JavaScript may not hold exactly: such JSON stays a text, so that it is replayed as it was. */
const INEXACT_NUMBER = /\d{16}|\d[eE][+-]?\d/;

const JSON_TEXT = /"(?:[^"\\]|\\.)*"/g;

const isJsonType = (contentType: string): boolean => /^\s*[\w.-]+\/(?:[\w.-]+\+)?json\b/i.test(contentType);

/** Text that PostgreSQL stores and UTF-8 writes as it is; undefined for anything else. */
export function textOf(bytes: Uint8Array, contentType: string): string | undefined {
  const [, charset = 'utf-8'] = /;\s*charset\s*=\s*"?([\w-]+)/i.exec(contentType) ?? [];
  if (!/^(utf-?8|us-ascii|ascii)$/i.test(charset)) return undefined;
  try {
    const text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
    return text.includes('\0') ? undefined : text;
  } catch {
    return undefined;
  }
}

/** JSON of a text, undefined where it is none or would not survive being parsed and written. */
function jsonOf(text: string, contentType: string): { value: unknown } | undefined {
  if (
    !isJsonType(contentType) ||
    INEXACT_NUMBER.test(text.replaceAll(JSON_TEXT, '""')) ||
    /\\u(0000|[dD][89abAB])/.test(text)
  )
    return undefined;
  if (exceededLimit(Buffer.from(text), JSON_LIMITS)) return undefined;
  const json = parsedJson(text);
  // A string as JSON would be served without its quotes.
  return typeof json?.value === 'string' ? undefined : json;
}

/**
 * The body of an answer as a step keeps it, with stand-ins for its secrets.
 * @param known secrets that the request carried.
 */
export function answerBody(
  bytes: Uint8Array,
  contentType: string,
  standInOf: StandInOf,
  known: readonly string[] = [],
): StepBody {
  if (bytes.length === 0) return {};
  const text = textOf(bytes, contentType);
  if (text === undefined) return { bodyBase64: Buffer.from(bytes).toString('base64') };
  const clean = withoutKnown(text, known, standInOf);
  const json = jsonOf(clean, contentType);
  return { body: json ? withStandIns(json.value, standInOf) : textWithStandIns(clean, standInOf) };
}

/**
 * What a recorded request's body is compared by: JSON and forms without their secrets, since clients bring their own;
 * a text with stand-ins. Undefined where there is nothing to compare, and for bytes, which cannot be compared.
 */
export function requestCriterion(
  bytes: Uint8Array,
  contentType: string,
  standInOf: StandInOf,
  known: readonly string[] = [],
): unknown {
  if (bytes.length === 0 || /^\s*multipart\//i.test(contentType)) return undefined;
  const text = textOf(bytes, contentType);
  if (text === undefined) return undefined;
  if (isFormType(contentType)) return ifAny(withoutSecrets(valuesByName(new URLSearchParams(text))));
  const clean = withoutKnown(text, known, standInOf);
  const json = jsonOf(clean, contentType);
  if (json) return ifAny(withoutOperators(withoutSecrets(json.value)));
  return textWithStandIns(clean, standInOf);
}

/** The secrets that the fields of a body carry, as JSON or as a form. */
export function secretsOfBody(bytes: Uint8Array, contentType: string): string[] {
  const text = bytes.length === 0 ? undefined : textOf(bytes, contentType);
  if (text === undefined) return [];
  if (isFormType(contentType)) return secretsOfValue(valuesByName(new URLSearchParams(text)));
  return secretsOfValue(jsonOf(text, contentType)?.value);
}

const OPERATORS: ReadonlySet<string> = new Set(FILTER_OPERATORS);

/** Without objects that steps would read as operators: `{in: [1]}`. */
function withoutOperators(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map(withoutOperators);
  const names = Object.keys(value);
  if (names.length > 0 && names.every((name) => OPERATORS.has(name))) return {};
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, withoutOperators(member)]));
}

function ifAny(value: unknown): unknown {
  return typeof value === 'object' && value !== null && Object.keys(value).length === 0 ? undefined : value;
}

/** Headers of an answer that belong to one connection, or that the service sets itself: a step keeps none of them. */
const NOT_KEPT = new Set([
  'alt-svc',
  'connection',
  'content-encoding',
  'content-length',
  'content-security-policy',
  'content-security-policy-report-only',
  'date',
  'keep-alive',
  'nel',
  'proxy-authenticate',
  'proxy-connection',
  'report-to',
  'strict-transport-security',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
]);

/** Whether a step keeps a header of a recorded answer. HTTP/2's `:status` is none. */
export const isKeptHeader = (name: string): boolean => !name.startsWith(':') && !NOT_KEPT.has(name.toLowerCase());
