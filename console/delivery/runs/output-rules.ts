/** As much of an output as a page holds; the download has the rest. */
export const OUTPUT_SHOWN_MAX = 256 * 1_024;

/** The end of what a run has printed. */
export interface Output {
  bytes: Uint8Array;
  /** Position behind the last byte in all of the output. */
  end: number;
  /** How many bytes before these are not shown. */
  hidden: number;
  isComplete: boolean;
}

/** What the service answers: bytes from a position on. */
export interface OutputPart {
  bytes: Uint8Array;
  from: number;
  isComplete: boolean;
}

function joined(...pieces: readonly Uint8Array[]): Uint8Array {
  const all = new Uint8Array(pieces.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const piece of pieces) {
    all.set(piece, at);
    at += piece.length;
  }
  return all;
}

function bounded({ bytes, hidden, ...rest }: Output, max: number): Output {
  const extra = Math.max(0, bytes.length - max);
  return { ...rest, bytes: bytes.subarray(extra), hidden: hidden + extra };
}

/**
 * The output with one more part: what is known of it already is left out, and where something between is not kept any more,
 * `mark` says how much.
 */
export function extended(
  before: Output | undefined,
  { bytes, from, isComplete }: OutputPart,
  mark: (bytes: number) => string,
  max = OUTPUT_SHOWN_MAX,
): Output {
  const end = from + bytes.length;
  if (!before) return bounded({ bytes, end, hidden: from, isComplete }, max);
  const missing = from - before.end;
  const news = missing > 0 ? joined(new TextEncoder().encode(`\n${mark(missing)}\n`), bytes) : bytes.subarray(-missing);
  return bounded({ ...before, bytes: joined(before.bytes, news), end: Math.max(before.end, end), isComplete }, max);
}

const isContinuation = (byte: number): boolean => (byte & 0xc0) === 0x80;
// Colours and movements of a terminal mean nothing in a page.
// oxlint-disable-next-line no-control-regex
const TERMINAL_CODES = /\u001b(?:\[[0-9;?]*[ -/]*[@-~]|\][^\u0007\u001b]*(?:\u0007|\u001b\\))/g;

/** Bytes as text, without half a character at either end, and without codes for terminals. */
export function textOf(bytes: Uint8Array): string {
  const start = Math.max(
    0,
    bytes.findIndex((byte) => !isContinuation(byte)),
  );
  const text = new TextDecoder().decode(bytes.subarray(start), { stream: true });
  return text.replaceAll(TERMINAL_CODES, '');
}

/** The last lines of a text that are not empty. */
export const lastLines = (text: string, count: number): string =>
  text
    .split(/\r?\n/)
    .filter((line) => line.trim() !== '')
    .slice(-count)
    .join('\n');
