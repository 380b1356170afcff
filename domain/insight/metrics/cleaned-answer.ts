import { TENANT_LABEL } from './metrics-store.port.ts';

/** In the store's JSON a quote within a text is escaped, so that these find members and items and never text. */
const TENANT = String.raw`"${TENANT_LABEL}"`;
const BESIDE_TENANT = String.raw`,"stats":\{[^{}]*\}|"isPartial":(?:true|false),`;
/** The tenant as a member; its value follows. */
const IN_OBJECTS = new RegExp(String.raw`(?<mark>[{,])${TENANT}:"|${BESIDE_TENANT}`, 'g');
/** The tenant as an item of a list. */
const IN_NAMES = new RegExp(String.raw`(?<first>\[)${TENANT},?|,${TENANT}(?=[,\]])|${BESIDE_TENANT}`, 'g');
/** More than any of these is long, without the tenant's value. */
const HELD_BACK = 512;
const QUOTE = 34;
const BACKSLASH = 92;

/**
 * The store's JSON without the tenant's label and what Prometheus has not. Throws when there are more bytes than that.
 * @param isOfNames the answer is a list of names of labels.
 */
export async function* cleanedAnswer(
  chunks: AsyncIterable<Uint8Array>,
  { maxBytes, isOfNames }: { maxBytes: number; isOfNames: boolean },
): AsyncGenerator<Buffer> {
  const cleaner = createCleaner(isOfNames ? IN_NAMES : IN_OBJECTS);
  let size = 0;
  for await (const chunk of chunks) {
    size += chunk.length;
    if (size > maxBytes) throw new AnswerTooLargeError(maxBytes);
    // One character a byte: what is looked for is ASCII, and everything else stays as it is.
    const cleaned = cleaner.add(Buffer.from(chunk.buffer, chunk.byteOffset, chunk.length).toString('latin1'));
    if (cleaned !== '') yield Buffer.from(cleaned, 'latin1');
  }
  const last = cleaner.end();
  if (last !== '') yield Buffer.from(last, 'latin1');
}

/** Takes an answer in pieces and gives back what of it stays. Each character is looked at a bounded number of times. */
function createCleaner(removed: RegExp) {
  /** What may be the beginning of something that is removed. */
  let held = '';
  /** What stood before the tenant whose value is being passed over. */
  let mark: string | undefined;

  /** Passes over the rest of the tenant's value and its comma; answers where the text goes on, undefined: further on. */
  const afterValue = (text: string, from: number): number | undefined => {
    const quote = closingQuote(text, from);
    if (quote + 1 < text.length) {
      // `{` keeps the member that follows, and not the comma between.
      const isComma = mark === '{' && text[quote + 1] === ',';
      mark = undefined;
      return quote + (isComma ? 2 : 1);
    }
    held = text.slice(quote);
    return undefined;
  };

  const clean = (text: string, isLast: boolean): string => {
    const kept: string[] = [];
    let at = 0;
    held = '';
    if (mark !== undefined) {
      const next = afterValue(text, 0);
      if (next === undefined) return '';
      at = next;
    }
    const end = isLast ? text.length : Math.max(at, text.length - HELD_BACK);
    removed.lastIndex = at;
    for (let found = removed.exec(text); found !== null && found.index < end; found = removed.exec(text)) {
      const { mark: before, first } = found.groups ?? {};
      kept.push(text.slice(at, found.index), first ?? '');
      at = removed.lastIndex;
      if (before === undefined) continue;
      if (before === '{') kept.push(before);
      mark = before;
      const next = afterValue(text, at);
      if (next === undefined) return kept.join('');
      removed.lastIndex = at = next;
    }
    if (at < end) kept.push(text.slice(at, end));
    held = text.slice(Math.max(at, end));
    return kept.join('');
  };
  return { add: (text: string) => clean(held + text, false), end: () => clean(held, true) };
}

/** Where a text in JSON ends; past its characters, or at a backslash that is the last of them, where more must come. */
function closingQuote(text: string, from: number): number {
  for (let at = from; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === QUOTE) return at;
    if (code === BACKSLASH && ++at === text.length) return at - 1;
  }
  return text.length;
}

/** The store answered more than is read. */
export class AnswerTooLargeError extends Error {
  readonly maxBytes: number;

  constructor(maxBytes: number) {
    super(`the answer is larger than ${maxBytes} bytes`);
    this.maxBytes = maxBytes;
  }
}
