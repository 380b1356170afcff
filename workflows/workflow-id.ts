/**
 * Most bytes of an id. Temporal allows 1,000, but keeps ids in columns of 255 characters where its store is PostgreSQL or
 * MySQL, and appends a time of 21 to the id of a workflow that a schedule starts.
 */
export const ID_BYTES_MAX = 230;
/** Temporal refuses summaries whose JSON takes more than 400 bytes; in JSON a quote takes two. */
const SUMMARY_BYTES_MAX = 190;

/**
 * An id as Temporal is given it: behind the prefix of the installation and a colon, which no prefix and no slug contains;
 * one that is too long is cut, and ends with a hash of the whole.
 */
export function boundedId(queuePrefix: string, id: string): string {
  const whole = queuePrefix === '' ? id : `${queuePrefix}:${id}`;
  if (isShort(whole, ID_BYTES_MAX)) return whole;
  const suffix = `~${fnv1a(new TextEncoder().encode(whole))}`;
  return cutTo(whole, ID_BYTES_MAX - suffix.length) + suffix;
}

/** The prefix of the installation in an id that `boundedId` made. */
export const prefixOf = (boundId: string): string => /^([^:/]*):/.exec(boundId)?.[1] ?? '';

/** One line within what Temporal takes for a summary. */
export function boundedSummary(summary: string): string {
  const line = summary.toWellFormed().replace(/\p{Cc}+/gu, ' ');
  return isShort(line, SUMMARY_BYTES_MAX) ? line : `${cutTo(line, SUMMARY_BYTES_MAX - 3)}…`;
}

/** A UTF-16 unit takes three bytes of UTF-8 at most, so that few texts need to be encoded. */
const isShort = (text: string, bytes: number): boolean =>
  text.length * 3 <= bytes || new TextEncoder().encode(text).length <= bytes;

function cutTo(text: string, bytes: number): string {
  const encoded = new TextEncoder().encode(text);
  let end = bytes;
  // Not within a character: its further bytes are 10xxxxxx.
  while (((encoded[end] ?? 0) & 0xc0) === 0x80) end--;
  return new TextDecoder().decode(encoded.subarray(0, end));
}

/** FNV-1a of 64 bits in hexadecimal, https://www.rfc-editor.org/rfc/rfc9923: workflows have no cryptographic hash. */
function fnv1a(bytes: Uint8Array): string {
  let hash = 0xcbf29ce484222325n;
  for (const byte of bytes) hash = BigInt.asUintN(64, (hash ^ BigInt(byte)) * 0x100000001b3n);
  return hash.toString(16).padStart(16, '0');
}
