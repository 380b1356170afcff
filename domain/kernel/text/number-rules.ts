import { escapePointer } from '../shared/errors.ts';
import {
  CLOSE_ARRAY,
  CLOSE_OBJECT,
  COMMA,
  OPEN_ARRAY,
  OPEN_OBJECT,
  QUOTE,
  endOfString,
} from '../json/json-text-rules.ts';

const MINUS = 0x2d;
const ZERO = 0x30;
const NINE = 0x39;

/** Decimal numbers with so few digits survive in binary, unless their exponent is extreme (IEEE 754, double precision). */
const SAFE_DIGITS = 15;
const SAFE = /^-?[\d.]{1,15}(?:[eE][+-]?1?\d{1,2})?$/;

/** A number of a JSON text as it is written, and where it begins. */
export interface WrittenNumber {
  source: string;
  index: number;
}

/**
 * The numbers of a JSON text that parsing and printing by JavaScript might alter, in order. A generator, so that the
 * caller can pause between them.
 * @param text valid JSON.
 */
export function* doubtfulNumbers(text: string): Generator<WrittenNumber> {
  for (let at = 0; at < text.length; at++) {
    const char = text.charCodeAt(at);
    if (char === QUOTE) {
      at = endOfString(text, at + 1);
    } else if (char === MINUS || (char >= ZERO && char <= NINE)) {
      const end = endOfNumber(text, at);
      const mayBeNegativeZero = char === MINUS && text.charCodeAt(at + 1) === ZERO;
      const isShort = end - at <= SAFE_DIGITS && !hasExponent(text, at, end);
      if (mayBeNegativeZero || !isShort) {
        const source = text.slice(at, end);
        if (mayBeNegativeZero || !SAFE.test(source)) yield { source, index: at };
      }
      at = end - 1;
    }
  }
}

/** Until white space or a character of the structure: digits, signs, `.`, `e` and `E` are all others. */
function endOfNumber(text: string, start: number): number {
  let at = start + 1;
  while (at < text.length && isInNumber(text.charCodeAt(at))) at++;
  return at;
}

const isInNumber = (char: number): boolean =>
  (char >= ZERO && char <= NINE) || char === MINUS || char === 0x2b || char === 0x2e || char === 0x45 || char === 0x65;

function hasExponent(text: string, start: number, end: number): boolean {
  for (let at = start; at < end; at++) if ((text.charCodeAt(at) | 0x20) === 0x65) return true;
  return false;
}

/**
 * Whether parsing and printing by JavaScript keeps the value of a JSON number: `0.1` and `1.0`, but not `9007199254740993`,
 * `1e400` or `-0`, which is printed without its sign.
 */
export function isExact(number: string): boolean {
  const value = Number(number);
  if (!Number.isFinite(value) || Object.is(value, -0)) return false;
  const printed = String(value);
  return printed === number || decimal(number) === decimal(printed);
}

/** The JSON pointer (RFC 6901) to the value that begins at an index of a valid JSON text. */
export function pointerAt(text: string, index: number): string {
  // An element's place in its array, or where the name of a member begins and ends.
  const path: (number | [number, number])[] = [];
  let isName = false;
  for (let at = 0; at < index; at++) {
    const char = text.charCodeAt(at);
    if (char === QUOTE) {
      const end = endOfString(text, at + 1);
      if (isName) path[path.length - 1] = [at, end + 1];
      isName = false;
      at = end;
    } else if (char === OPEN_ARRAY) {
      path.push(0);
      isName = false;
    } else if (char === OPEN_OBJECT) {
      path.push([0, 0]);
      isName = true;
    } else if (char === CLOSE_ARRAY || char === CLOSE_OBJECT) {
      path.pop();
      isName = false;
    } else if (char === COMMA) {
      const last = path.at(-1);
      if (typeof last === 'number') path[path.length - 1] = last + 1;
      else isName = true;
    }
  }
  return path.map((part) => `/${typeof part === 'number' ? part : memberName(text, part)}`).join('');
}

const memberName = (text: string, [start, end]: [number, number]): string =>
  escapePointer(JSON.parse(text.slice(start, end)) as string);

/** One form for each decimal number: sign, digits without zeros at either end, power of ten. */
function decimal(number: string): string {
  const [, sign = '', whole = '', fraction = '', exponent = '0'] =
    /^(-?)(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/.exec(number) ?? [];
  const digits = whole + fraction;
  let first = 0;
  let last = digits.length;
  while (first < last && digits.charCodeAt(first) === ZERO) first++;
  while (last > first && digits.charCodeAt(last - 1) === ZERO) last--;
  if (first === last) return '0';
  return `${sign}${digits.slice(first, last)}e${Number(exponent) - fraction.length + digits.length - last}`;
}
