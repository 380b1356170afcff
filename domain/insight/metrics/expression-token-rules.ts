/** A piece of an expression. `blank` is white space or a comment; texts have their quotes. */
export interface Token {
  kind: 'blank' | 'text' | 'number' | 'name' | 'mark';
  text: string;
}

/** Why the store is not asked for an expression, as Prometheus would word it. */
export class ExpressionError extends Error {}

const BLANK = /[ \t\n\v\f\r]+|#[^\n]*/y;
/** A backslash escapes in every kind of quotes, which PromQL's backquotes do not know. */
const TEXT = /"[^"\\]*(?:\\[^][^"\\]*)*"|'[^'\\]*(?:\\[^][^'\\]*)*'|`[^`\\]*(?:\\[^][^`\\]*)*`/y;
/** A number, a duration, or a variable that stands for one. */
const NUMBER = /(?:\d|\.\d)[\w.]*|\$\w+/y;
/** What a number may look like: the store would read the rest of a longer word as a token of its own. */
const WHOLE_NUMBER =
  /^(?:\$\w+|0x[\da-f]+|(?:\d+(?:\.\d*)?(?:ms|[smhdwyi]))+|0[bo][\d_]+|(?:\d[\d_]*)?(?:\.[\d_]*)?(?:e\d*|[kmgt]i?b?)?)$/i;
/** Letters of any script, and anything behind a backslash. */
const NAME = /(?:[\p{L}_:]|\\[^])(?:[\p{L}\w:.]|\\[^])*/uy;
const MARK = /[{}[\](),@=!~<>+\-*/%^]/y;

const KINDS: readonly (readonly [Token['kind'], RegExp])[] = [
  ['blank', BLANK],
  ['text', TEXT],
  ['number', NUMBER],
  ['name', NAME],
  ['mark', MARK],
];

/**
 * The tokens of a MetricsQL expression, as the store's lexer parts it (`lexer.go` of VictoriaMetrics' metricsql). Throws
 * `ExpressionError` for what it does not know: the store must see nothing that was not seen here.
 */
export function tokensOf(expression: string): Token[] {
  const tokens: Token[] = [];
  for (let at = 0; at < expression.length; ) {
    const token = tokenAt(expression, at);
    if (!token || (token.kind === 'number' && !WHOLE_NUMBER.test(token.text)))
      throw new ExpressionError(`1:${at + 1}: parse error: cannot recognize ${JSON.stringify(shown(expression, at))}`);
    tokens.push(token);
    at += token.text.length;
  }
  return tokens;
}

function tokenAt(expression: string, at: number): Token | undefined {
  for (const [kind, pattern] of KINDS) {
    pattern.lastIndex = at;
    const [text] = pattern.exec(expression) ?? [];
    if (text !== undefined) return { kind, text };
  }
  return undefined;
}

const shown = (expression: string, at: number) => expression.slice(at, at + 20).toWellFormed();

const ESCAPE = /\\(?:x([\da-fA-F]{2})|u([\da-fA-F]{4})|U([\da-fA-F]{8})|([0-7]{3})|([^]))/g;

/** What a quoted text stands for, by the escapes of Go. */
export const unquoted = (text: string): string =>
  text.slice(1, -1).replace(ESCAPE, (_, x?: string, u?: string, long?: string, octal?: string, one?: string) => {
    if (one !== undefined) return one;
    const code = octal === undefined ? parseInt(x ?? u ?? long ?? '', 16) : parseInt(octal, 8);
    return code <= 0x10ffff ? String.fromCodePoint(code) : '\ufffd';
  });
