import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Middleware } from 'koa';

/** How much of a body that nobody wants is received, so that its sender gets to read the reply. */
const DRAIN_MAX_BYTES = 32 * 1024 * 1024;
const DRAIN_MAX_MS = 5_000;
/** Up to this size, receiving the rest is cheaper for both sides than a new connection. */
const KEEP_ALIVE_MAX_BYTES = 64 * 1024;

/**
 * Sends the reply to a request before its body has been received, and then receives the rest up to a bound. A connection
 * that is closed while bytes arrive is reset, and many clients then report a broken pipe instead of the reply
 * (RFC 9112, 9.6).
 */
export const replyBeforeBody: Middleware = async (ctx, next) => {
  await next();
  const { req, res, body } = ctx;
  if (req.complete || req.destroyed) return;
  const isSmall = Number(req.headers['content-length'] ?? Infinity) <= KEEP_ALIVE_MAX_BYTES;
  if (!isSmall) ctx.set('Connection', 'close');
  // Other bodies are streams; the connection is closed after them.
  if (typeof body !== 'string' && !Buffer.isBuffer(body)) {
    ctx.set('Connection', 'close');
    return;
  }
  ctx.respond = false;
  await endBeforeBody(req, res, body);
};

/** Sends a body, and ends the response when the rest of the request was received. */
export async function endBeforeBody(req: IncomingMessage, res: ServerResponse, body: string | Buffer): Promise<void> {
  if (req.method === 'HEAD') res.flushHeaders();
  else res.write(body);
  const isDrained = await drained(req);
  res.end();
  if (!isDrained) req.socket.destroySoon();
}

/** Receives what is left of a request, to a bound; whether it ended within that. */
function drained(request: IncomingMessage): Promise<boolean> {
  return new Promise((resolve) => {
    let bytes = 0;
    const finish = () => {
      clearTimeout(timer);
      request.off('data', onData).off('end', finish).off('close', finish).off('error', finish).pause();
      resolve(request.complete);
    };
    const onData = (chunk: Buffer) => {
      bytes += chunk.length;
      if (bytes > DRAIN_MAX_BYTES) finish();
    };
    const timer = setTimeout(finish, DRAIN_MAX_MS);
    request.on('data', onData).on('end', finish).on('close', finish).on('error', finish).resume();
  });
}
