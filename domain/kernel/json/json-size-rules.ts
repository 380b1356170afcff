/** How large a JSON text may be, besides its length: what costs time is how much it holds. */
export interface JsonLimits {
  /** Arrays and objects within each other. */
  levels: number;
  /** Members of objects and elements of arrays, in all; a repeated name counts each time. */
  members: number;
  /** Bytes without white space, with escapes, numbers and words as short as they could be; a repeated name counts each time. */
  compactBytes?: number;
}

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const SPACE = 0x20;
const LETTER_U = 0x75;

/** Kinds of bytes outside strings; white space has none. */
const OTHER = 1;
const COMMA = 2;
const OPEN = 3;
const CLOSE = 4;
const STRING = 5;
const KINDS = new Uint8Array(256).fill(OTHER, SPACE + 1);
for (const [chars, kind] of [
  [',', COMMA],
  ['[{', OPEN],
  [']}', CLOSE],
  ['"', STRING],
] as const)
  for (const char of chars) KINDS[char.charCodeAt(0)] = kind;

/** Which limit a JSON text exceeds, undefined if none; see `measureJson`. */
export const exceededLimit = (bytes: Uint8Array, limits: JsonLimits): keyof JsonLimits | undefined =>
  measureJson(bytes, limits).exceeded;

/**
 * How many members a JSON text has, and which limit it exceeds, undefined if none. Takes one pass over the bytes and no
 * memory, so that it can go before parsing; it stops at the first excess. For a text that is not valid JSON the result has
 * no meaning.
 * @param bytes UTF-8, in which no byte of a longer character is one of JSON's own.
 */
export function measureJson(
  bytes: Uint8Array,
  limits: JsonLimits,
): { exceeded: keyof JsonLimits | undefined; members: number } {
  let level = 0;
  let members = 0;
  // Whether nothing has followed the last opening bracket yet.
  let isEmpty = false;
  let isInWord = false;
  let compactBytes = 0;
  const { compactBytes: compactMax = Infinity } = limits;
  for (let at = 0; at < bytes.length; at++) {
    const kind = KINDS[bytes[at] as number] as number;
    if (kind === 0 || (kind === OTHER && isInWord)) continue;
    isInWord = kind === OTHER;
    if (++compactBytes > compactMax) return { exceeded: 'compactBytes', members };
    if (kind === OTHER && !isEmpty) continue;
    if (kind === CLOSE) {
      isEmpty = false;
      level--;
      continue;
    }
    if (kind === COMMA || isEmpty) {
      isEmpty = false;
      if (++members > limits.members) return { exceeded: 'members', members };
    }
    if (kind === OPEN) {
      isEmpty = true;
      if (++level > limits.levels) return { exceeded: 'levels', members };
    } else if (kind === STRING) {
      const start = at;
      // What escapes take beyond the one byte that they may stand for.
      let escaped = 0;
      for (at++; at < bytes.length; at++) {
        const byte = bytes[at];
        if (byte === QUOTE) break;
        if (byte === BACKSLASH) escaped += bytes[++at] === LETTER_U ? 5 : 1;
      }
      compactBytes += at - start - escaped;
    }
  }
  return { exceeded: compactBytes > compactMax ? 'compactBytes' : undefined, members };
}
