/** PostgreSQL copies what a count repeats, and refuses expressions of more copies, after as long as it takes to find out. */
const COPIES_MAX = 50_000;

/** Prefixes and options after which braces are no counts: the rest is literal, or a basic expression. */
const OTHER_SYNTAX = /^(\*\*\*=|(\*\*\*:)?\(\?[a-z]*[bq][a-z]*\))/;
const COUNT = /\{(\d{1,3})(?:,(\d{0,3}))?\}/y;
const GROUP_BEGIN = /\((?:\?(?:<?[=!]|:))?/y;
const COMMENT = /\(\?#[^)]*\)?/y;
/** `[` to `]`, with the classes and escapes in which a `]` does not end it. */
const BRACKETS = /\[\^?\]?(?:\[([:.=])(?:(?!\1\]).)*\1\]|\\.|[^\]\\])*\]?/sy;
const ESCAPE = /\\./sy;

/**
 * Whether counts nested in one another (`((a{255}){255}){255}`) repeat too much for PostgreSQL, as their product tells
 * without compiling the expression. Takes advanced regular expressions of PostgreSQL (its documentation, 9.7.3); whether
 * they are valid is not asked.
 */
export function isRepeatedTooOften(expression: string): boolean {
  if (OTHER_SYNTAX.test(expression)) return false;
  /** Copies in each open group; the last one is the innermost. */
  const groups = [0];
  let atom = 0;
  const add = (copies: number) => {
    atom = copies;
    groups.push((groups.pop() ?? 0) + copies);
  };
  for (let at = 0; at < expression.length; ) {
    const matched = (form: RegExp) => {
      form.lastIndex = at;
      const match = form.exec(expression);
      if (match) at = form.lastIndex;
      return match;
    };
    const count = matched(COUNT);
    if (count) add(atom * (Math.max(1, Number(count[2] || count[1])) - 1));
    else if (matched(COMMENT)) continue;
    else if (matched(GROUP_BEGIN)) groups.push(0);
    else if (expression[at] === ')' && groups.length > 1) {
      at++;
      add(groups.pop() ?? 0);
    } else if (matched(BRACKETS) || matched(ESCAPE)) add(1);
    else {
      if (!'*+?|^$'.includes(expression[at] ?? '')) add(1);
      at++;
    }
  }
  return groups.reduce((sum, copies) => sum + copies, 0) > COPIES_MAX;
}
