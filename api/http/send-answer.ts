import { createHash } from 'node:crypto';
import type { Context } from 'koa';
import type { CompressBody } from './server/compression.ts';
import type { AnyRoute } from './define-route.ts';
import { type Answer, JsonText, RawReply, Reply, type ReplyParts } from './replies.ts';

export function answerOf(route: AnyRoute, output: unknown): Answer {
  const parts: ReplyParts<unknown> = output instanceof Reply ? output.parts : { body: output };
  const { body, status = route.status, headers = {}, cookies = [] } = parts;
  if (body instanceof RawReply || status === 204 || status === 302) return { status, headers, cookies, body };
  if (body instanceof JsonText) return { status, headers, cookies, body: body.text, isRepeated: body.isRepeated };
  return { status, headers, cookies, body: JSON.stringify(route.response.parse(body)) };
}

/** Whether the client has the current representation (RFC 9110, 13.1.2). */
const matchesEtag = (ctx: Context, etag: string): boolean =>
  ctx
    .get('if-none-match')
    .split(',')
    .some((tag) => ['*', etag, `W/${etag}`].includes(tag.trim()));

const ETAG_MAX_BYTES = 1_000_000;

/** A weak tag of a whole body (RFC 9110, 8.8.3); undefined for streams and for what is larger than 1 MB. */
function weakEtag(body: unknown): string | undefined {
  if (typeof body !== 'string' && !(body instanceof Buffer)) return undefined;
  if (body.length > ETAG_MAX_BYTES) return undefined;
  return `W/"${createHash('sha1').update(body).digest('base64url')}"`;
}

/** Lets clients ask for what they have only if it has changed: every GET has a tag, its own or one of its body. */
function answerUnchanged(ctx: Context): void {
  if (ctx.method !== 'GET' || ctx.status !== 200) return;
  const own = ctx.res.getHeader('ETag');
  const etag = typeof own === 'string' ? own : weakEtag(ctx.body);
  if (etag === undefined) return;
  ctx.set('ETag', etag);
  if (matchesEtag(ctx, etag)) ctx.status = 304;
}

export async function send(
  ctx: Context,
  { status, headers, cookies = [], body, isRepeated = false }: Answer,
  compressBody: CompressBody,
): Promise<void> {
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
  answerUnchanged(ctx);
  await compressBody(ctx, { isRepeated });
}
