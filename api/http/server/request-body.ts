import { setImmediate } from 'node:timers/promises';
import type { Context } from 'koa';
import { DomainError, escapePointer, invalidField } from '../../../domain/kernel/shared/errors.ts';
import { exceededLimit, type JsonLimits } from '../../../domain/kernel/json/json-size-rules.ts';
import { unstorable } from '../../../domain/kernel/json/storable-json-rules.ts';
import { parseJson } from '../../../domain/kernel/json/parse-json.ts';
import { doubtfulNumbers, isExact, pointerAt } from '../../../domain/kernel/text/number-rules.ts';
import type { AnyRoute } from '../define-route.ts';
import type { ReadBytes } from './read-bytes.ts';

const BODY_LIMIT_BYTES = 5 * 1024 * 1024;
/** For routes that anybody may call without a credential, because the body has it. */
const CREDENTIAL_LIMIT_BYTES = 16 * 1024;

/** The size up to which a body of this route is read. */
export const bodyLimitBytes = (route: Pick<AnyRoute, 'bodyLimitBytes' | 'takesCredential'>): number =>
  route.bodyLimitBytes ?? (route.takesCredential ? CREDENTIAL_LIMIT_BYTES : BODY_LIMIT_BYTES);

const JSON_LIMITS: JsonLimits = { levels: 100, members: 50_000 };
/** A document may have 100 levels, and three are around it in a batch. */
const DOCUMENT_LIMITS: JsonLimits = { levels: 103, members: 250_000 };
/** Parsing more than this goes in steps between which other requests are served. */
const STEP_BYTES = 128 * 1024;
const NUMBERS_PER_STEP = 10_000;

export const FORM_TYPE = 'application/x-www-form-urlencoded';
export const BYTES_TYPE = 'application/octet-stream';
const JSON_TYPE = /^application\/(?:[\w.+-]+\+)?json$/i;
const UTF_8 = /^"?utf-?8"?$/i;
const utf8 = new TextDecoder('utf-8', { fatal: true });

export interface ParsedBody {
  bytes: Buffer;
  text: string;
  value: unknown;
}

/** Reads the fields of an HTML form; if a field is repeated, the last value wins, or the route takes all. */
export async function readFormBody(route: AnyRoute, ctx: Context, readBytes: ReadBytes): Promise<ParsedBody> {
  assertEncoding(ctx);
  if (mediaType(ctx).toLowerCase() !== FORM_TYPE)
    throw new DomainError('unsupported_media_type', `The body must be ${FORM_TYPE}`);
  const bytes = await readBytes(ctx.req, ctx.res, bodyLimitBytes(route));
  const text = decode(bytes);
  const fields = new URLSearchParams(text);
  const value = route.takesRepeatedFields
    ? Object.fromEntries([...new Set(fields.keys())].map((name) => [name, fields.getAll(name)]))
    : Object.fromEntries(fields);
  assertStorable(value, '#/body');
  return { bytes, text, value };
}

/** Reads a body that is stored as it is, whatever its bytes mean. */
export async function readBytesBody(route: AnyRoute, ctx: Context, readBytes: ReadBytes): Promise<ParsedBody> {
  if (mediaType(ctx).toLowerCase() !== BYTES_TYPE)
    throw new DomainError('unsupported_media_type', `The body must be ${BYTES_TYPE}`);
  const encoding = ctx.get('content-encoding').trim();
  if (!/^(identity)?$/i.test(encoding))
    throw new DomainError('unsupported_media_type', `Content-Encoding ${encoding.slice(0, 40)} is not supported`);
  const bytes = await readBytes(ctx.req, ctx.res, bodyLimitBytes(route));
  return { bytes, text: '', value: bytes };
}

/** Whether a request says that it has no body (RFC 9112, 6.3). */
export const hasNoBody = ({ req: { headers } }: Context): boolean =>
  headers['transfer-encoding'] === undefined && Number(headers['content-length'] ?? 0) === 0;

/**
 * Reads a JSON body; undefined if the request has none. Throws for other media types and encodings (415), a body that is
 * too large (413), invalid UTF-8 or JSON, JSON with too many levels or members, and for what PostgreSQL cannot store:
 * U+0000 and unpaired surrogates (400 with a pointer).
 */
export async function readJsonBody(
  route: AnyRoute,
  ctx: Context,
  readBytes: ReadBytes,
): Promise<ParsedBody | undefined> {
  if (hasNoBody(ctx)) return undefined;
  assertEncoding(ctx);
  if (ctx.req.headers['content-length'] !== undefined) assertJsonType(ctx);
  const bytes = await readBytes(ctx.req, ctx.res, bodyLimitBytes(route));
  if (bytes.length === 0) return undefined;
  assertJsonType(ctx);
  const { compactLimitBytes: compactBytes } = route;
  assertWithinLimits(bytes, {
    ...(route.takesDocuments ? DOCUMENT_LIMITS : JSON_LIMITS),
    ...(route.jsonMembersMax !== undefined && { members: route.jsonMembersMax }),
    ...(compactBytes !== undefined && { compactBytes }),
  });
  const pause = async () => {
    if (bytes.length > STEP_BYTES) await setImmediate();
  };
  await pause();
  const text = decode(bytes);
  const value = await parse(text);
  await pause();
  // Such escapes are rare, so the value is only searched if the text has one.
  if (/\\u(?:0000|d[89a-f])/i.test(text)) assertStorable(value, '#/body');
  if (route.takesExactNumbers) await assertExactNumbers(text);
  await pause();
  return { bytes, text, value };
}

/** What stands for no body in clients that always send one. */
const NO_BODY = /^\s*(\{\s*\})?\s*$/;
const NO_BODY_BYTES = 1_024;

/** Refuses a body that the route has no use for: what its caller meant by it would be ignored. Throws `invalid_request`. */
export async function assertNoBody(ctx: Context, readBytes: ReadBytes): Promise<void> {
  if (hasNoBody(ctx)) return;
  const refusal = invalidField('#/body', 'The route takes no body');
  if (Number(ctx.req.headers['content-length'] ?? 0) > NO_BODY_BYTES) throw refusal;
  const bytes = await readBytes(ctx.req, ctx.res, NO_BODY_BYTES).catch((error: unknown) => {
    throw error instanceof DomainError && error.code === 'payload_too_large' ? refusal : error;
  });
  if (!NO_BODY.test(bytes.toString('latin1'))) throw refusal;
}

const mediaType = (ctx: Context): string => ctx.get('content-type').split(';')[0]?.trim() ?? '';

export function assertJsonType(ctx: Context): void {
  if (!JSON_TYPE.test(mediaType(ctx)))
    throw new DomainError('unsupported_media_type', 'The body must be application/json');
}

/** Bodies are not compressed, and JSON is UTF-8 (RFC 8259, 8.1). */
function assertEncoding(ctx: Context): void {
  const encoding = ctx.get('content-encoding').trim();
  if (!/^(identity)?$/i.test(encoding))
    throw new DomainError('unsupported_media_type', `Content-Encoding ${encoding.slice(0, 40)} is not supported`);
  const charset = /;\s*charset\s*=\s*([^;]*)/i.exec(ctx.get('content-type'))?.[1]?.trim() ?? 'utf-8';
  if (!UTF_8.test(charset))
    throw new DomainError('unsupported_media_type', `The charset ${charset.slice(0, 40)} is not supported; use UTF-8`);
}

function assertWithinLimits(bytes: Buffer, limits: JsonLimits): void {
  switch (exceededLimit(bytes, limits)) {
    case 'levels':
      throw invalidField('#/body', `nested deeper than ${limits.levels} levels`);
    case 'members':
      throw invalidField('#/body', `more than ${limits.members.toLocaleString('en')} members and elements in all`);
    case 'compactBytes':
      throw new DomainError(
        'payload_too_large',
        `The body is larger than ${limits.compactBytes} bytes without white space`,
      );
    case undefined:
  }
}

function decode(bytes: Buffer): string {
  try {
    return utf8.decode(bytes);
  } catch {
    throw invalidField('#/body', 'not valid UTF-8');
  }
}

async function parse(text: string): Promise<unknown> {
  try {
    return await parseJson(text);
  } catch (error) {
    throw invalidField('#/body', `not valid JSON: ${(error as Error).message}`);
  }
}

/** Throws if a number in a JSON text would change when it is parsed and serialized. */
async function assertExactNumbers(text: string): Promise<void> {
  let checked = 0;
  for (const { source, index } of doubtfulNumbers(text)) {
    if (!isExact(source))
      throw invalidField(
        `#/body${pointerAt(text, index)}`,
        `the number ${source.slice(0, 40)} cannot be represented exactly`,
      );
    if (++checked % NUMBERS_PER_STEP === 0) await setImmediate();
  }
}

/** Throws if a string or a member name cannot be stored as text. */
export function assertStorable(value: unknown, pointer: string): void {
  const found = unstorable(value);
  if (found) throw invalidField([pointer, ...found.path.map(escapePointer)].join('/'), found.problem);
}
