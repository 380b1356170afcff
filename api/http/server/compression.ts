import { promisify } from 'node:util';
import { constants, gzip } from 'node:zlib';
import type { Context } from 'koa';
import { bytesOfText, type CacheMemory } from '../../../domain/kernel/caches/cache-memory.ts';

const compress = promisify(gzip);
/** Smaller bodies are not worth the CPU time. */
const MIN_BYTES = 16 * 1_024;

export interface CompressionOptions {
  /** The same text is likely to be sent again: what it is compressed to is kept. */
  isRepeated?: boolean;
}

/** Compresses a large text body for clients that accept gzip. */
export type CompressBody = (ctx: Context, options?: CompressionOptions) => Promise<void>;

/** The body of a reply if it is compressed for clients that accept it. */
export const compressible = ({ body, type }: { body: unknown; type: string }): string | Buffer | undefined =>
  (typeof body === 'string' || (body instanceof Buffer && type === 'application/json')) && body.length >= MIN_BYTES
    ? body
    : undefined;

/** @param memory where compressed texts are kept by the whole text, so that each is right for whoever is sent that text. */
export function createCompression(memory: CacheMemory): CompressBody {
  const keptOfTexts = memory.cache<Buffer>({
    bytesOf: (compressed, text) => compressed.length + bytesOfText(text),
  });
  /** Compressed forms of texts that other caches keep as bytes; each is dropped with its text. */
  const keptOfBytes = new WeakMap<Buffer, Buffer>();
  return async (ctx, { isRepeated = false } = {}) => {
    const body = compressible(ctx.response);
    if (body === undefined) return;
    ctx.vary('Accept-Encoding');
    if (ctx.acceptsEncodings('gzip', 'identity') !== 'gzip') return;
    const { type } = ctx.response;
    const found = typeof body === 'string' ? keptOfTexts.get(body) : keptOfBytes.get(body);
    const compressed = (isRepeated ? found : undefined) ?? (await compress(body, { level: constants.Z_BEST_SPEED }));
    if (isRepeated && typeof body === 'string') keptOfTexts.put(body, compressed);
    if (isRepeated && typeof body !== 'string') keptOfBytes.set(body, compressed);
    ctx.body = compressed;
    ctx.type = type;
    ctx.set('Content-Encoding', 'gzip');
  };
}
