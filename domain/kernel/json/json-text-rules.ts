/** Codes of the characters that structure a JSON text. */
export const QUOTE = 0x22;
export const COMMA = 0x2c;
export const OPEN_ARRAY = 0x5b;
export const BACKSLASH = 0x5c;
export const CLOSE_ARRAY = 0x5d;
export const OPEN_OBJECT = 0x7b;
export const CLOSE_OBJECT = 0x7d;

/** The place of the quote that ends a string, or the end of the text. @param start behind the quote that opens it. */
export function endOfString(text: string, start: number): number {
  let at = start;
  for (; at < text.length; at++) {
    const char = text.charCodeAt(at);
    if (char === QUOTE) break;
    if (char === BACKSLASH) at++;
  }
  return at;
}
