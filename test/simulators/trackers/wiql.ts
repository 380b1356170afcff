/** Fields of a work item by reference name, as a query compares them. */
export type ComparedFields = Record<string, string | number | undefined>;
export interface Wiql {
  matches: (fields: ComparedFields) => boolean;
}

type Test = (fields: ComparedFields) => boolean;

const TOKEN = /\s*(?:'((?:[^']|'')*)'|\[([A-Za-z][\w.]*)\]|(@\w+)|([A-Za-z]+)|(<>|[=(),]))/y;

interface Token {
  kind: 'text' | 'field' | 'macro' | 'word' | 'sign';
  value: string;
}

/** The tokens of a query. Throws for anything that is none, such as a quote that nothing closes. */
function tokensOf(query: string): Token[] {
  const tokens: Token[] = [];
  TOKEN.lastIndex = 0;
  while (TOKEN.lastIndex < query.length) {
    const at = TOKEN.lastIndex;
    if (query.slice(at).trim() === '') break;
    const match = TOKEN.exec(query);
    if (!match) throw new SyntaxError(`TF51005: The query references a field or sign that does not exist at ${at}`);
    const [, text, field, macro, word, sign] = match;
    if (text !== undefined) tokens.push({ kind: 'text', value: text.replaceAll("''", "'") });
    else if (field !== undefined) tokens.push({ kind: 'field', value: field });
    else if (macro !== undefined) tokens.push({ kind: 'macro', value: macro.toLowerCase() });
    else if (word !== undefined) tokens.push({ kind: 'word', value: word.toUpperCase() });
    else tokens.push({ kind: 'sign', value: sign ?? '' });
  }
  return tokens;
}

const same = (left: string | number | undefined, right: string) =>
  String(left ?? '').toLowerCase() === right.toLowerCase();

/**
 * Parses a flat query over work items: conditions with `=`, `<>`, `IN` and `UNDER`, `AND`, `OR` and parentheses.
 * Throws a `SyntaxError` for anything else.
 * @param macros values of `@project` and `@me`.
 */
export function parseWiql(query: string, macros: Record<string, string>): Wiql {
  const tokens = tokensOf(query);
  let at = 0;
  const fail = (): never => {
    throw new SyntaxError(`TF51006: The query statement is missing a clause near ${JSON.stringify(tokens[at]?.value)}`);
  };
  const next = (kind: Token['kind'], value?: string): string => {
    const token = tokens[at];
    if (token?.kind !== kind || (value !== undefined && token.value !== value)) return fail();
    at++;
    return token.value;
  };
  const isNext = (kind: Token['kind'], value: string) => tokens[at]?.kind === kind && tokens[at]?.value === value;
  const value = (): string => {
    const token = tokens[at];
    if (token?.kind === 'text') return next('text');
    const macro = macros[next('macro')];
    return macro ?? fail();
  };
  const condition = (): Test => {
    if (isNext('sign', '(')) {
      next('sign', '(');
      const inner = either();
      next('sign', ')');
      return inner;
    }
    const field = next('field');
    if (isNext('word', 'IN')) {
      next('word');
      next('sign', '(');
      const values = [value()];
      while (isNext('sign', ',')) {
        next('sign');
        values.push(value());
      }
      next('sign', ')');
      return (fields) => values.some((each) => same(fields[field], each));
    }
    if (isNext('word', 'UNDER')) {
      next('word');
      const path = value();
      return (fields) =>
        same(fields[field], path) || String(fields[field]).toLowerCase().startsWith(`${path.toLowerCase()}\\`);
    }
    const sign = next('sign');
    const right = value();
    if (sign === '=') return (fields) => same(fields[field], right);
    if (sign === '<>') return (fields) => !same(fields[field], right);
    return fail();
  };
  const all = (): Test => {
    const tests = [condition()];
    while (isNext('word', 'AND')) {
      next('word');
      tests.push(condition());
    }
    return (fields) => tests.every((test) => test(fields));
  };
  const either = (): Test => {
    const tests = [all()];
    while (isNext('word', 'OR')) {
      next('word');
      tests.push(all());
    }
    return (fields) => tests.some((test) => test(fields));
  };
  next('word', 'SELECT');
  next('field', 'System.Id');
  next('word', 'FROM');
  next('word', 'WORKITEMS');
  next('word', 'WHERE');
  const matches = either();
  next('word', 'ORDER');
  next('word', 'BY');
  next('field', 'System.ChangedDate');
  next('word', 'DESC');
  if (at < tokens.length) fail();
  return { matches };
}
