import { parsedJson } from '../../kernel/json/json-rules.ts';
import { measureJson } from '../../kernel/json/json-size-rules.ts';
import { cutPatternWork, usePatternWork } from '../../events/webhooks/pattern-work.ts';
import { decodedPath } from '../scenarios/path-template-rules.ts';

/** A call of the mock server, as steps are matched with it. */
export interface MockRequest {
  method: string;
  /** Behind the key of the workspace, without percent-encoding; begins with a slash. */
  path: string;
  /** Path and query as they were sent, for passing the request on. */
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
  /** JSON, or the fields of a form; of a call that is served it is read when a test asks for it. */
  readonly map: { value: unknown } | undefined;
  /** False for a noted call of whose body the text is not known, or nothing but its JSON or fields. */
  isTextKept?: false;
}

/** What is read in one go, which takes some 10 ms. */
const JSON_LIMITS = { levels: 100, members: 50_000 };
/** Fields of a form; with more it is only a text. */
const FIELDS_MAX = 10_000;
const [FORM_BYTE_UNITS, FIELD_UNITS] = [0.2, 30];
const AMPERSAND = '&'.charCodeAt(0);
/** Whether a content type is that of a form. */
export const isFormType = (contentType: string): boolean =>
  /^\s*application\/x-www-form-urlencoded\b/i.test(contentType);

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
    /** Read when a test asks for it first, which uses the work of patterns. */
    get body() {
      return (body ??= bodyOf(bytes, headers['content-type'] ?? ''));
    },
  };
}

const utf8 = new TextDecoder('utf-8', { fatal: true });

function bodyOf(bytes: Buffer | undefined, contentType: string): MockBody {
  if (bytes === undefined || bytes.length === 0) return { text: undefined, map: undefined };
  usePatternWork(BYTE_UNITS * bytes.length);
  let text: string;
  try {
    text = utf8.decode(bytes);
  } catch {
    return { text: undefined, map: undefined };
  }
  let read: Pick<MockBody, 'map'> | undefined;
  return {
    text,
    get map() {
      read ??= { map: isFormType(contentType) ? fieldsOf(text, bytes) : boundedJson(text, bytes) };
      return read.map;
    },
  };
}

function fieldsOf(text: string, bytes: Buffer): MockBody['map'] {
  usePatternWork(FORM_BYTE_UNITS * bytes.length);
  let fields = 1;
  for (const byte of bytes) if (byte === AMPERSAND) fields++;
  if (fields > FIELDS_MAX) return undefined;
  usePatternWork(FIELD_UNITS * fields);
  return { value: valuesByName(new URLSearchParams(text)) };
}

/** Which step a request is for is not known where its JSON is too large to be read; without a test it is a text then. */
function boundedJson(text: string, bytes: Buffer): MockBody['map'] {
  const json = jsonOf(text, bytes);
  if (json !== 'too_large') return json;
  const { levels, members } = JSON_LIMITS;
  cutPatternWork(`the JSON of its body has more than ${members.toLocaleString('en')} values or ${levels} levels`);
  return undefined;
}

/** Units of pattern work for a byte that is read as UTF-8, and again as JSON, and for counting and for reading a value of arrays and objects. */
const [BYTE_UNITS, COUNTED_UNITS, READ_UNITS] = [0.1, 2.4, 5];

/** JSON and the number of its values; where there are more than may be, too many to be read; undefined for another text. */
export type ReadJson = { value: unknown; values: number } | 'too_large' | undefined;

function jsonOf(text: string, bytes: Uint8Array, valuesMax = JSON_LIMITS.members): ReadJson {
  if (!/^\s*[[{"\d\-tfn]/.test(text)) return undefined;
  usePatternWork(BYTE_UNITS * bytes.length);
  const { exceeded, members } = measureJson(bytes, { ...JSON_LIMITS, members: valuesMax });
  // Apart from reading them: who may not have them read has used what it took to find that out.
  usePatternWork(COUNTED_UNITS * members);
  if (exceeded !== undefined) return 'too_large';
  usePatternWork(READ_UNITS * members);
  const json = parsedJson(text);
  return json && { value: json.value, values: members + 1 };
}

/** The JSON that a text is, of so many values at most. Uses the work of patterns. */
export const readJson = (text: string, valuesMax: number): ReadJson => jsonOf(text, Buffer.from(text), valuesMax);

/** Values by name; a name that is repeated has a list. */
export function valuesByName(parameters: Iterable<readonly [string, string]>): Record<string, string | string[]> {
  const values = new Map<string, string | string[]>();
  for (const [name, value] of parameters) {
    const before = values.get(name);
    if (Array.isArray(before)) before.push(value);
    else values.set(name, before === undefined ? value : [before, value]);
  }
  return Object.fromEntries(values);
}
