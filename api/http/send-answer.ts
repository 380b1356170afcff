import { createHash } from 'node:crypto';
import type { Context } from 'koa';
import { type CompressBody, compressible } from './server/compression.ts';
import type { AnyRoute } from './define-route.ts';
import { type Answer, JsonText, RawReply, Reply, type ReplyParts } from './replies.ts';

export function answerOf(route: AnyRoute, output: unknown): Answer {
  const parts: ReplyParts<unknown> = output instanceof Reply ? output.parts : { body: output };
  const { body, status = route.status, headers = {}, cookies = [] } = parts;
  if (body instanceof RawReply || status === 204 || status === 302) return { status, headers, cookies, body };
  if (body instanceof JsonText) return { status, headers, cookies, body: body.text, isRepeated: body.isRepeated };
  return { status, headers, cookies, body: JSON.stringify(route.response.parse(body)) };
}

const ETAG_MAX_BYTES = 1_000_000;

/** A weak tag of a whole body (RFC 9110, 8.8.3); undefined for streams and for what is larger than 1 MB. */
function weakEtag(body: unknown): string | undefined {
  if (typeof body !== 'string' && !(body instanceof Buffer)) return undefined;
  if (Buffer.byteLength(body) > ETAG_MAX_BYTES) return undefined;
  return `W/"${createHash('sha1').update(body).digest('base64url')}"`;
}

/**
 * Lets clients ask for what they have only if it has changed (RFC 9110, 13.1.2): every GET has a tag, its own or one of its
 * body. Answers whether the client named that tag, which `*` does not.
 */
function answerUnchanged(ctx: Context): boolean {
  if (ctx.method !== 'GET' || ctx.status !== 200) return false;
  const own = ctx.res.getHeader('ETag');
  const etag = typeof own === 'string' ? own : weakEtag(ctx.body);
  if (etag === undefined) return false;
  ctx.set('ETag', etag);
  const given = ctx.get('if-none-match').split(',');
  const tags = new Set(given.map((tag) => tag.trim()));
  const isKnown = tags.has(etag) || tags.has(`W/${etag}`);
  if (isKnown || tags.has('*')) {
    if (compressible(ctx.response) !== undefined) ctx.vary('Accept-Encoding');
    ctx.status = 304;
  }
  return isKnown;
}

/** Sends a reply; `isKnown`: the client has it already, and got 304. */
export async function send(
  ctx: Context,
  { status, headers, cookies = [], body, isRepeated = false }: Answer,
  compressBody: CompressBody,
): Promise<{ isKnown: boolean }> {
  ctx.status = status;
  ctx.set(headers);
  if (cookies.length > 0) ctx.set('Set-Cookie', [...cookies]);
  if (body instanceof RawReply) {
    ctx.set(body.headers);
    ctx.type = body.contentType;
    ctx.body = body.body;
  } else if (status === 204 || status === 302) {
    ctx.body = null;
    ctx.status = status;
  } else {
    ctx.type = 'application/json';
    ctx.body = body;
  }
  const isKnown = answerUnchanged(ctx);
  await compressBody(ctx, { isRepeated });
  return { isKnown };
}
