export interface Jql {
  clauses: readonly { field: string; operator: string; values: readonly string[] }[];
  /** `updated` descending, the only order that is known here; else by creation. */
  isByUpdate: boolean;
}

const TOKEN = /\s*(?:"((?:[^"\\]|\\["\\])*)"|([A-Za-z]\w*(?:\(\))?)|(!=|>=|<=|[=<>(),]))/y;

interface Token {
  kind: 'text' | 'word' | 'sign';
  value: string;
}

function tokensOf(jql: string): Token[] {
  const tokens: Token[] = [];
  TOKEN.lastIndex = 0;
  while (TOKEN.lastIndex < jql.length) {
    const at = TOKEN.lastIndex;
    if (jql.slice(at).trim() === '') break;
    const match = TOKEN.exec(jql);
    if (!match) throw new SyntaxError(`Error in the JQL Query: The character at ${at} is not valid there.`);
    const [, text, word, sign] = match;
    if (text !== undefined) tokens.push({ kind: 'text', value: text.replaceAll(/\\(["\\])/g, '$1') });
    else if (word !== undefined) tokens.push({ kind: 'word', value: word });
    else tokens.push({ kind: 'sign', value: sign ?? '' });
  }
  return tokens;
}

/** Parses clauses that `AND` joins. Throws a `SyntaxError` for anything else. */
export function parseJql(jql: string): Jql {
  const tokens = tokensOf(jql);
  let at = 0;
  const fail = (): never => {
    throw new SyntaxError(
      `Error in the JQL Query: Expecting another token but got ${JSON.stringify(tokens[at]?.value ?? 'the end')}.`,
    );
  };
  const next = (kind: Token['kind'], value?: string): string => {
    const token = tokens[at];
    if (token?.kind !== kind || (value !== undefined && token.value.toLowerCase() !== value)) return fail();
    at++;
    return token.value;
  };
  const isNext = (kind: Token['kind'], value: string) =>
    tokens[at]?.kind === kind && tokens[at]?.value.toLowerCase() === value;
  const value = () => (tokens[at]?.kind === 'text' ? next('text') : next('word'));
  const clause = () => {
    const field = next('word').toLowerCase();
    if (!isNext('word', 'in')) return { field, operator: next('sign'), values: [value()] };
    next('word');
    next('sign', '(');
    const values = [value()];
    while (isNext('sign', ',')) {
      next('sign');
      values.push(value());
    }
    next('sign', ')');
    return { field, operator: 'in', values };
  };
  const clauses = [];
  if (!isNext('word', 'order') && at < tokens.length) {
    clauses.push(clause());
    while (isNext('word', 'and')) {
      next('word');
      clauses.push(clause());
    }
  }
  let isByUpdate = false;
  if (at < tokens.length) {
    next('word', 'order');
    next('word', 'by');
    isByUpdate = next('word').toLowerCase() === 'updated';
    next('word', 'desc');
  }
  if (at < tokens.length) fail();
  return { clauses, isByUpdate };
}
