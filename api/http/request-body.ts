import type { IncomingMessage } from 'node:http';
import rawBody from 'raw-body';
import { DomainError, escapePointer, invalidField } from '../../domain/shared/errors.ts';
import { inexactNumber } from '../../domain/shared/number-rules.ts';
import type { AnyRoute } from './define-route.ts';

const BODY_LIMIT_BYTES = 5 * 1024 * 1024;
/** For routes that anybody may call without a credential, because the body has it. */
const CREDENTIAL_LIMIT_BYTES = 16 * 1024;

/** The size up to which a body of this route is read. */
export const bodyLimitBytes = (route: Pick<AnyRoute, 'bodyLimitBytes' | 'takesCredential'>): number =>
  route.bodyLimitBytes ?? (route.takesCredential ? CREDENTIAL_LIMIT_BYTES : BODY_LIMIT_BYTES);

/** Deeper JSON could exhaust the stack of recursive functions. */
const MAX_DEPTH = 128;
const JSON_TYPE = /^application\/(?:[\w.+-]+\+)?json\s*(?:;|$)/i;
const utf8 = new TextDecoder('utf-8', { fatal: true });

export interface ParsedBody {
  text: string;
  value: unknown;
}

export const FORM_TYPE = 'application/x-www-form-urlencoded';

/** Reads the fields of an HTML form; if a field is repeated, the last value wins. */
export async function readFormBody(request: IncomingMessage, limitBytes: number): Promise<ParsedBody> {
  const { 'content-length': length, 'content-type': type = '' } = request.headers;
  if (type.split(';')[0]?.trim().toLowerCase() !== FORM_TYPE) {
    throw new DomainError('unsupported_media_type', `The body must be ${FORM_TYPE}`);
  }
  const text = decode(await read(request, length, limitBytes));
  const value = Object.fromEntries(new URLSearchParams(text));
  assertStorable(value, '#/body');
  return { text, value };
}

/**
 * Reads a JSON body; undefined if the request has none. Throws for other media types (415), a body that is too large
 * (413), invalid UTF-8 or JSON, and for what PostgreSQL cannot store: U+0000 and unpaired surrogates (400 with a pointer).
 */
export async function readJsonBody(request: IncomingMessage, limitBytes: number): Promise<ParsedBody | undefined> {
  const { 'content-length': length, 'transfer-encoding': encoding, 'content-type': type = '' } = request.headers;
  if (encoding === undefined && (length === undefined || length === '0')) return undefined;
  const contentEncoding = request.headers['content-encoding'] ?? 'identity';
  if (contentEncoding !== 'identity') {
    throw new DomainError('unsupported_media_type', `Content-Encoding ${contentEncoding} is not supported`);
  }
  const bytes = await read(request, length, limitBytes);
  if (bytes.length === 0) return undefined;
  if (!JSON_TYPE.test(type)) {
    throw new DomainError('unsupported_media_type', 'The body must be application/json');
  }
  const text = decode(bytes);
  if (isTooDeep(text)) throw invalidField('#/body', `nested deeper than ${MAX_DEPTH} levels`);
  const value = parse(text);
  // Such escapes are rare, so the value is only searched if the text has one.
  if (/\\u(?:0000|d[89a-f])/i.test(text)) assertStorable(value, '#/body');
  return { text, value };
}

async function read(request: IncomingMessage, length: string | undefined, limit: number): Promise<Buffer> {
  try {
    return await rawBody(request, { limit, length: length ?? null });
  } catch (error) {
    const { type } = error as { type?: string };
    if (type === 'entity.too.large') {
      throw new DomainError('payload_too_large', `The body is larger than ${limit} bytes`, {
        headers: { Connection: 'close' },
      });
    }
    throw new DomainError('invalid_request', 'The request ended before its body was complete');
  }
}

function decode(bytes: Buffer): string {
  try {
    return utf8.decode(bytes);
  } catch {
    throw invalidField('#/body', 'not valid UTF-8');
  }
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw invalidField('#/body', `not valid JSON: ${(error as Error).message}`);
  }
}

function isTooDeep(text: string): boolean {
  let depth = 0;
  let isInString = false;
  for (let at = 0; at < text.length; at++) {
    const char = text.charCodeAt(at);
    if (isInString) {
      if (char === 0x5c) at++;
      else if (char === 0x22) isInString = false;
    } else if (char === 0x22) isInString = true;
    else if (char === 0x5b || char === 0x7b) {
      if (++depth > MAX_DEPTH) return true;
    } else if (char === 0x5d || char === 0x7d) depth--;
  }
  return false;
}

/** Throws if a number in a JSON text would change when it is parsed and serialized. */
export function assertExactNumbers(text: string): void {
  const number = inexactNumber(text);
  if (number !== undefined)
    throw invalidField('#/body', `the number ${number.slice(0, 40)} cannot be represented exactly`);
}

/** Throws if a string or a member name cannot be stored as text. */
export function assertStorable(value: unknown, pointer: string): void {
  if (typeof value === 'string') {
    if (value.includes('\0')) throw invalidField(pointer, 'contains U+0000');
    if (!value.isWellFormed()) throw invalidField(pointer, 'contains an unpaired surrogate');
    return;
  }
  if (value === null || typeof value !== 'object') return;
  for (const [key, member] of Object.entries(value)) {
    const at = `${pointer}/${escapePointer(key)}`;
    assertStorable(key, at.toWellFormed().replaceAll('\0', ''));
    assertStorable(member, at);
  }
}
