import { promisify } from 'node:util';
import { brotliDecompress, gunzip, inflate } from 'node:zlib';

const UNPACK = { gzip: promisify(gunzip), deflate: promisify(inflate), br: promisify(brotliDecompress) };
type Coding = keyof typeof UNPACK;

/** A `Content-Encoding` as it is compared: empty for none. */
export const contentCoding = (header: string | string[] | undefined): string =>
  String(header ?? '')
    .trim()
    .toLowerCase()
    .replace(/^x-/, '');

export const isKnownCoding = (coding: string): coding is Coding => Object.hasOwn(UNPACK, coding);

/** A body without its compression (RFC 9110, 8.4.1). Throws where that is broken, and `ERR_BUFFER_TOO_LARGE` for more bytes. */
export const unpacked = (coding: Coding, bytes: Uint8Array, maxBytes: number): Promise<Buffer> =>
  UNPACK[coding](bytes, { maxOutputLength: maxBytes });
