import { promisify } from 'node:util';
import { constants, gzip } from 'node:zlib';
import type { Context } from 'koa';

const compress = promisify(gzip);
/** Below it, what is saved on the way is not worth the work. */
const WORTH_BYTES = 16 * 1_024;

/** Sends a long text compressed to a client that takes gzip; another, or a short one, as it is. */
export async function compressBody(ctx: Context): Promise<void> {
  const { body } = ctx;
  if (typeof body !== 'string' || body.length < WORTH_BYTES) return;
  ctx.vary('Accept-Encoding');
  if (ctx.acceptsEncodings('gzip', 'identity') !== 'gzip') return;
  const { type } = ctx.response;
  ctx.body = await compress(body, { level: constants.Z_BEST_SPEED });
  ctx.type = type;
  ctx.set('Content-Encoding', 'gzip');
}
