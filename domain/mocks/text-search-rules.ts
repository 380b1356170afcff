/**
 * Whether a text contains another one, in a time that is proportional to both, whatever they are: `String.includes` takes
 * a second for some of 100,000 and 50,000 characters. Knuth, Morris and Pratt (SIAM J. Comput. 6, 1977).
 */
export function containsText(text: string, wanted: string): boolean {
  if (wanted.length > text.length) return false;
  if (wanted.length <= SHORT_MAX) return text.includes(wanted);
  const borders = bordersOf(wanted);
  let matched = 0;
  for (let at = 0; at < text.length; at++) {
    const char = text.charCodeAt(at);
    while (matched > 0 && wanted.charCodeAt(matched) !== char) matched = borders[matched - 1] ?? 0;
    if (wanted.charCodeAt(matched) === char) matched++;
    if (matched === wanted.length) return true;
  }
  return false;
}

/** With so few characters the quadratic worst case of `includes` is harmless. */
const SHORT_MAX = 16;

/** For each beginning of a text, how long the longest shorter one is that it also ends with. */
function bordersOf(text: string): Uint32Array {
  const borders = new Uint32Array(text.length);
  let length = 0;
  for (let at = 1; at < text.length; at++) {
    const char = text.charCodeAt(at);
    while (length > 0 && text.charCodeAt(length) !== char) length = borders[length - 1] ?? 0;
    if (text.charCodeAt(length) === char) length++;
    borders[at] = length;
  }
  return borders;
}
