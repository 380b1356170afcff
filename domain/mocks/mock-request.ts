import { exceededLimit } from '../shared/json-size-rules.ts';
import { decodedPath } from './path-template-rules.ts';

/** A call of the mock server, as steps are matched with it. */
export interface MockRequest {
  method: string;
  /** Behind the key of the workspace, without percent-encoding; begins with a slash. */
  path: string;
  /** As it was sent, for passing it on: path and query. */
  target: string;
  query: Record<string, string | string[]>;
  /** By names in lower case; several values are joined by commas. */
  headers: Record<string, string>;
  /** Unpacked. */
  bytes: Buffer;
  body: MockBody;
}

/** What a body is, whatever its content type says. */
export interface MockBody {
  /** Undefined for none, and for bytes that are no text. */
  text: string | undefined;
  /** JSON, or the fields of a form. */
  map: { value: unknown } | undefined;
}

const JSON_LIMITS = { levels: 100, members: 250_000 };
const FORM_TYPE = /^\s*application\/x-www-form-urlencoded\b/i;

/**
 * @param target path and query behind the key, percent-encoded.
 * @param bytes of the body, unpacked; undefined where they cannot be.
 */
export function mockRequest(
  method: string,
  target: string,
  headers: Record<string, string>,
  bytes: Buffer | undefined,
): MockRequest {
  const mark = target.indexOf('?');
  const path = mark === -1 ? target : target.slice(0, mark);
  let body: MockBody | undefined;
  return {
    method,
    path: decodedPath(path === '' ? '/' : path),
    target,
    query: mark === -1 ? {} : valuesByName(new URLSearchParams(target.slice(mark + 1))),
    headers,
    bytes: bytes ?? Buffer.alloc(0),
    get body() {
      return (body ??= bodyOf(bytes, headers['content-type'] ?? ''));
    },
  };
}

const utf8 = new TextDecoder('utf-8', { fatal: true });

function bodyOf(bytes: Buffer | undefined, contentType: string): MockBody {
  if (bytes === undefined || bytes.length === 0) return { text: undefined, map: undefined };
  let text: string;
  try {
    text = utf8.decode(bytes);
  } catch {
    return { text: undefined, map: undefined };
  }
  if (FORM_TYPE.test(contentType)) return { text, map: { value: valuesByName(new URLSearchParams(text)) } };
  return { text, map: jsonOf(text, bytes) };
}

function jsonOf(text: string, bytes: Buffer): { value: unknown } | undefined {
  if (!/^\s*[[{"\d\-tfn]/.test(text) || exceededLimit(bytes, JSON_LIMITS)) return undefined;
  try {
    return { value: JSON.parse(text) as unknown };
  } catch {
    return undefined;
  }
}

/** The value of a text that is JSON; undefined for what is none. */
export function jsonWithin(text: string, valuesMax: number): { value: unknown } | 'too_large' | undefined {
  const bytes = Buffer.from(text);
  return exceededLimit(bytes, { ...JSON_LIMITS, members: valuesMax }) ? 'too_large' : jsonOf(text, bytes);
}

/** Values by name; a name that is repeated has a list. */
export function valuesByName(parameters: Iterable<readonly [string, string]>): Record<string, string | string[]> {
  const values = new Map<string, string | string[]>();
  for (const [name, value] of parameters) {
    const before = values.get(name);
    values.set(name, before === undefined ? value : [before, value].flat());
  }
  return Object.fromEntries(values);
}
