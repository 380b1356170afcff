import type { Token } from './expression-token-rules.ts';
import { storedMetricName } from './series-rules.ts';

/**
 * The tokens of an expression with the names as the store knows them: dots become underscores in names, in
 * `__name__="…"` and in `{"…"}`, and nowhere else. Regular expressions stay as they are.
 */
export function withStoredNames(tokens: readonly Token[]): Token[] {
  let braces = 0;
  let brackets = 0;
  /** What stood before, without white space and comments: decides what a quoted text is. */
  let [before, last] = ['', ''];
  return tokens.map((token) => {
    const { kind, text } = token;
    if (kind === 'blank') return token;
    if (text === '{') braces++;
    if (text === '}') braces--;
    if (text === '[') brackets++;
    if (text === ']') brackets--;
    let written = text;
    // `[1h:1.5m]` has a step there.
    if (kind === 'name' && !(brackets > 0 && STEP.test(text))) written = storedName(text);
    else if (kind === 'text' && braces > 0) {
      const isName = last === '{' || last === ',' || last.toLowerCase() === 'or';
      if (isName || (last === '=' && before === '__name__')) written = quotedName(text);
    }
    // The parser remembers only the last mark of `!=`, `=~` and `!~`, with what preceded the first.
    if (kind !== 'mark' || !/[=!~]/.test(text)) [before, last] = [written, written];
    else last = /[=!~]/.test(last) ? '' : text;
    return { kind, text: written };
  });
}

const STEP = /^:[\d.]/;

/** The store takes letters of any script for names; it has none that are not ASCII. */
const storedName = (name: string): string => name.replace(/\\[^]|[^\w:]/gu, '_');

/** A text without escapes is the name itself; others are left to the store. */
function quotedName(quoted: string): string {
  const inner = quoted.slice(1, -1);
  return inner.includes('\\') ? quoted : `${quoted[0]}${storedMetricName(inner)}${quoted[0]}`;
}
