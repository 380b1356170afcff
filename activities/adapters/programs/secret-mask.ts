const MASK = Buffer.from('***');
const BYTES = 256;
/** White space that may stand between two characters of a secret: the indentation of a line that was wrapped. */
const GAP_MAX = 32;

const isGap = (byte: number): boolean => byte === 32 || (byte >= 9 && byte <= 13);

/**
 * The ways in which programs print what they were given: as it is, reversed, in hexadecimal, percent-encoded, and in base64
 * (RFC 4648, both alphabets) with up to two bytes before it, of which only the characters count that nothing else decides.
 */
function formsOf(secret: string): string[] {
  const bytes = Buffer.from(secret);
  const hex = bytes.toString('hex');
  const base64 = [0, 1, 2].map((before) => {
    const encoded = Buffer.concat([Buffer.alloc(before), bytes]).toString('base64');
    return encoded.slice(Math.ceil((before * 8) / 6), Math.floor(((before + bytes.length) * 8) / 6));
  });
  const plain = [secret, [...secret].toReversed().join(''), hex, hex.replace(/../g, '%$&'), ...base64];
  const upper = [hex.toUpperCase(), hex.toUpperCase().replace(/../g, '%$&')];
  const forUrls = base64.map((text) => text.replaceAll('+', '-').replaceAll('/', '_'));
  return [...new Set([...plain, ...upper, ...forUrls])];
}

/** Finds texts in one pass over the bytes: the automaton of Aho and Corasick (1975). */
interface Automaton {
  /** The next state, by state and byte. */
  next: Uint16Array;
  /** How many bytes the begin of a text has that led to a state. */
  depth: Uint16Array;
  /** Length of the text that ends in a state; 0: none does. */
  found: Uint16Array;
}

function automatonOf(texts: readonly string[]): Automaton {
  const most = texts.reduce((sum, text) => sum + text.length, 1);
  const next = new Uint16Array(most * BYTES);
  const [depth, found, cameBy] = [new Uint16Array(most), new Uint16Array(most), new Uint8Array(most)];
  const children: number[][] = [[]];
  for (const text of texts) {
    let state = 0;
    for (const byte of Buffer.from(text)) {
      const cell = state * BYTES + byte;
      if (next[cell] === 0) {
        const child = children.push([]) - 1;
        children[state]?.push(child);
        depth[child] = (depth[state] ?? 0) + 1;
        cameBy[child] = byte;
        next[cell] = child;
      }
      state = next[cell] ?? 0;
    }
    found[state] = text.length;
  }
  // From the shortest begin on, each state gets what its longest end that begins a text would do.
  const fallback = new Uint16Array(most);
  const queue = [0];
  for (const state of queue) {
    const otherwise = (fallback[state] ?? 0) * BYTES;
    if (state !== 0) next.copyWithin(state * BYTES, otherwise, otherwise + BYTES);
    for (const child of children[state] ?? []) {
      const byte = cameBy[child] ?? 0;
      if (state !== 0) fallback[child] = next[otherwise + byte] ?? 0;
      next[state * BYTES + byte] = child;
      queue.push(child);
    }
  }
  return { next, depth, found };
}

/**
 * Masks a secret in bytes that come in pieces, also where it is cut by the end of one, in every form in which it is likely
 * to be printed, and with white space in it.
 */
export class SecretMask {
  readonly #automaton: Automaton;
  /** The end of what came, which may be the begin of the secret. */
  #held: Buffer = Buffer.alloc(0);

  constructor(secret: string) {
    this.#automaton = automatonOf(formsOf(secret));
  }

  /** What is known to be no part of the secret. */
  take(piece: Buffer): Buffer {
    const { next, depth, found } = this.#automaton;
    const all = this.#held.length > 0 ? Buffer.concat([this.#held, piece]) : piece;
    const parts: Buffer[] = [];
    /** Where the last bytes that are no white space stand, as many as the state has seen. */
    let places: number[] = [];
    let [from, state, gap] = [0, 0, 0];
    for (let at = 0; at < all.length; at++) {
      const byte = all[at] ?? 0;
      if (isGap(byte)) {
        if (state !== 0 && ++gap > GAP_MAX) state = 0;
        continue;
      }
      gap = 0;
      state = next[state * BYTES + byte] ?? 0;
      if (state === 0) continue;
      const seen = depth[state] ?? 0;
      if (seen === 1) places = [];
      places.push(at);
      const length = found[state] ?? 0;
      if (length === 0) continue;
      parts.push(all.subarray(from, places.at(-length)), MASK);
      from = at + 1;
      state = 0;
    }
    const end = state === 0 ? all.length : (places.at(-(depth[state] ?? 0)) ?? all.length);
    parts.push(all.subarray(from, end));
    this.#held = all.subarray(end);
    return parts.length === 1 ? all.subarray(from, end) : Buffer.concat(parts);
  }

  /** The rest, when no more comes. */
  end(): Buffer {
    return this.#held;
  }
}
