import type { IncomingMessage, ServerResponse } from 'node:http';
import { pipeline, Readable } from 'node:stream';
import { createGunzip } from 'node:zlib';
import type { Context } from 'koa';
import { DomainError, invalidField } from '../../../domain/kernel/shared/errors.ts';
import type { AnyRoute } from '../define-route.ts';
import { awaitsContinue, type Bodies, type CountBytes, tooLarge } from './read-bytes.ts';
import { assertJsonType, bodyLimitBytes, hasNoBody, type ParsedBody } from './request-body.ts';

const NO_BYTES = Buffer.alloc(0);
const GZIP = /^(x-)?gzip$/i;

/**
 * A JSON body that its handler reads while it arrives, unpacked where it is sent as gzip. It throws `unavailable` when those
 * of its tenant, or of all, take too much memory. With an `Idempotency-Key` it
 * is received first, because the key holds for the bytes.
 */
export async function readStreamedBody(
  route: AnyRoute,
  ctx: Context,
  { readBytes, counted }: Bodies,
): Promise<ParsedBody | undefined> {
  if (hasNoBody(ctx)) return undefined;
  assertJsonType(ctx);
  const encoding = ctx.get('content-encoding').trim();
  const isPacked = GZIP.test(encoding);
  if (!isPacked && !/^(identity)?$/i.test(encoding))
    throw new DomainError('unsupported_media_type', `Content-Encoding ${encoding.slice(0, 40)} is not supported`);
  const limitBytes = bodyLimitBytes(route);
  const sentLimitBytes = isPacked ? (route.packedLimitBytes ?? limitBytes) : limitBytes;
  if (Number(ctx.req.headers['content-length'] ?? 0) > sentLimitBytes) throw tooLarge(sentLimitBytes);
  const bytes = ctx.get('idempotency-key') === '' ? NO_BYTES : await readBytes(ctx.req, ctx.res, sentLimitBytes);
  const sent = bytes.length > 0 ? Readable.from([bytes]) : Readable.from(received(ctx.req, ctx.res, sentLimitBytes));
  const body = isPacked ? unpacked(sent, limitBytes) : sent;
  return { bytes, text: '', value: Readable.from(countedChunks(body, counted(ctx.res))) };
}

/** The bytes of a request. It is left open when nobody reads on, so that its sender gets the reply. */
async function* received(
  request: IncomingMessage,
  response: ServerResponse,
  limitBytes: number,
): AsyncGenerator<Buffer> {
  if (awaitsContinue(request)) response.writeContinue();
  let length = 0;
  try {
    for await (const chunk of request.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
      length += chunk.length;
      if (length > limitBytes) throw tooLarge(limitBytes);
      yield chunk;
    }
  } catch (error) {
    if (error instanceof DomainError) throw error;
    throw new DomainError('invalid_request', 'The request ended before its body was complete');
  }
}

async function* countedChunks(chunks: AsyncIterable<Buffer>, count: CountBytes): AsyncGenerator<Buffer> {
  for await (const chunk of chunks) {
    count(chunk.length);
    yield chunk;
  }
}

async function* unpacked(sent: Readable, limitBytes: number): AsyncGenerator<Buffer> {
  const gunzip = pipeline(sent, createGunzip(), () => undefined);
  let length = 0;
  try {
    for await (const chunk of gunzip as AsyncIterable<Buffer>) {
      length += chunk.length;
      if (length > limitBytes) throw tooLarge(limitBytes);
      yield chunk;
    }
  } catch (error) {
    throw error instanceof DomainError ? error : invalidField('#/body', 'not valid gzip');
  }
}
