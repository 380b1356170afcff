import type { ByteRange } from './object-store.port.ts';

/**
 * The part of a representation that a `Range` header asks for (RFC 9110, 14.1.2). Undefined: the whole, as for a header that
 * is malformed, has another unit, or asks for several parts.
 * @param size in bytes.
 */
export function requestedRange(header: string | null, size: number): ByteRange | 'unsatisfiable' | undefined {
  const [, first = '', last = ''] = /^bytes=(\d{0,15})-(\d{0,15})$/.exec(header?.trim() ?? '') ?? [];
  if (first === '' && last === '') return undefined;
  if (first !== '' && last !== '' && Number(last) < Number(first)) return undefined;
  const start = first === '' ? Math.max(0, size - Number(last)) : Number(first);
  const end = first === '' || last === '' ? size - 1 : Math.min(Number(last), size - 1);
  return start > end ? 'unsatisfiable' : { start, end };
}
