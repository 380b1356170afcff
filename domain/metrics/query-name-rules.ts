import { storedMetricName } from './series-rules.ts';

/**
 * The parts of an expression that may hold dots: comments, quoted text, numbers with durations, and names. In MetricsQL a
 * name may have dots, and other characters behind a backslash.
 */
const TOKEN =
  /(?<comment>#[^\n]*)|(?<quoted>"(?:[^"\\]|\\[^])*"|'(?:[^'\\]|\\[^])*'|`[^`]*`)|(?<number>\d[\w.]*|\.\d[\w.]*)|(?<name>(?:[A-Za-z_:]|\\[^])(?:[\w:.]|\\[^])*)|(?<mark>[^])/g;

/**
 * An expression with the names as the store knows them: dots become underscores in names, in `__name__="…"` and in
 * `{"…"}`, and nowhere else. Regular expressions stay as they are.
 */
export function withStoredNames(expression: string): string {
  let braces = 0;
  /** What stood before, without white space and comments: decides what a quoted text is. */
  let [before, last] = ['', ''];
  return expression.replace(TOKEN, (token: string, ...rest: unknown[]) => {
    const { comment, quoted, name, mark } = rest.at(-1) as Record<string, string | undefined>;
    if (comment !== undefined || (mark !== undefined && /\s/.test(mark))) return token;
    if (mark === '{') braces += 1;
    if (mark === '}') braces -= 1;
    let written = token;
    if (name !== undefined) written = storedName(name);
    else if (quoted !== undefined && braces > 0) {
      const isName = last === '{' || last === ',' || last.toLowerCase() === 'or';
      if (isName || (last === '=' && before === '__name__')) written = quotedName(quoted);
    }
    // Of `!=`, `=~` and `!~` only the last mark is remembered, with what stood before the first.
    if (mark === undefined || !/[=!~]/.test(mark)) [before, last] = [written, written];
    else last = /[=!~]/.test(last) ? '' : mark;
    return written;
  });
}

const storedName = (name: string): string => name.replace(/\\[^]|\./g, '_');

/** A text without escapes is the name itself; others are left to the store. */
function quotedName(quoted: string): string {
  const inner = quoted.slice(1, -1);
  return inner.includes('\\') ? quoted : `${quoted[0]}${storedMetricName(inner)}${quoted[0]}`;
}
