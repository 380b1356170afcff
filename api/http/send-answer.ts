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
const matchesEtag = (ctx: Context, etag: string | undefined): boolean =>
  etag !== undefined &&
  ctx
    .get('if-none-match')
    .split(',')
    .some((tag) => ['*', etag, `W/${etag}`].includes(tag.trim()));

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
    if (ctx.method === 'GET' && matchesEtag(ctx, headers.ETag)) ctx.status = 304;
  }
  await compressBody(ctx, { isRepeated });
}
