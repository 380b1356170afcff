import { promisify } from 'node:util';
import { constants, gzip } from 'node:zlib';
import type { Context } from 'koa';

const compress = promisify(gzip);
/** Smaller bodies are not worth the CPU time. */
const MIN_BYTES = 16 * 1_024;

/** Compresses a large text body for clients that accept gzip. */
export async function compressBody(ctx: Context): Promise<void> {
  const { body } = ctx;
  if (typeof body !== 'string' || body.length < MIN_BYTES) return;
  ctx.vary('Accept-Encoding');
  if (ctx.acceptsEncodings('gzip', 'identity') !== 'gzip') return;
  const { type } = ctx.response;
  ctx.body = await compress(body, { level: constants.Z_BEST_SPEED });
  ctx.type = type;
  ctx.set('Content-Encoding', 'gzip');
}
