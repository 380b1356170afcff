import { promisify } from 'node:util';
import { constants, gzip } from 'node:zlib';
import type { Context } from 'koa';

const compress = promisify(gzip);
/** Smaller bodies are not worth the CPU time. */
const MIN_BYTES = 16 * 1_024;
/** Of the texts, mostly a byte for each character, and what they were compressed to, together. */
const KEPT_BYTES = 64 * 1_024 * 1_024;

/** Compressed texts by the whole text, so that each is right for whoever is sent that text; the last used at the end. */
const kept = new Map<string, Buffer>();
let keptBytes = 0;

/** The same of texts that are kept elsewhere as bytes; it goes with them. */
const keptOfBytes = new WeakMap<Buffer, Buffer>();

const bytesOf = (text: string, compressed: Buffer): number => text.length + compressed.length;

function forget(text: string): void {
  const compressed = kept.get(text);
  if (!compressed) return;
  keptBytes -= bytesOf(text, compressed);
  kept.delete(text);
}

function keep(text: string, compressed: Buffer): void {
  forget(text);
  kept.set(text, compressed);
  keptBytes += bytesOf(text, compressed);
  for (const oldest of kept.keys()) {
    if (keptBytes <= KEPT_BYTES) break;
    forget(oldest);
  }
}

/**
 * Compresses a large text body for clients that accept gzip.
 * @param isRepeated the same text is likely to be sent again: what it is compressed to is kept.
 */
export async function compressBody(ctx: Context, { isRepeated = false } = {}): Promise<void> {
  const { body } = ctx;
  const isText = typeof body === 'string' || (body instanceof Buffer && ctx.type === 'application/json');
  if (!isText || body.length < MIN_BYTES) return;
  ctx.vary('Accept-Encoding');
  if (ctx.acceptsEncodings('gzip', 'identity') !== 'gzip') return;
  const { type } = ctx.response;
  const found = typeof body === 'string' ? kept.get(body) : keptOfBytes.get(body);
  const compressed = (isRepeated ? found : undefined) ?? (await compress(body, { level: constants.Z_BEST_SPEED }));
  if (isRepeated && typeof body === 'string') keep(body, compressed);
  if (isRepeated && typeof body !== 'string') keptOfBytes.set(body, compressed);
  ctx.body = compressed;
  ctx.type = type;
  ctx.set('Content-Encoding', 'gzip');
}
