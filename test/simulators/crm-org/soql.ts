/** A table that can be queried: its fields, and its rows at this moment. */
export interface SoqlTable {
  fields: readonly string[];
  rows: () => SoqlRow[];
  /** Fields on which the platform takes no condition. */
  unfiltered?: readonly string[];
}
export type SoqlValue = string | number | boolean | null;
/** A field of a related record has its path for a name, `Profile.Name`; what is an object is answered, and compared with nothing. */
export type SoqlRow = Record<string, SoqlValue | object>;

/** A query that the platform refuses, with its code. */
export class SoqlError extends Error {
  readonly errorCode: string;
  constructor(errorCode: string, message: string) {
    super(message);
    this.errorCode = errorCode;
  }
}

export interface SoqlResult {
  object: string;
  /** Null for `SELECT COUNT()`. */
  rows: Record<string, unknown>[] | null;
  totalSize: number;
}

interface Token {
  kind: 'word' | 'text' | 'number' | 'sign';
  value: string;
}

const ESCAPES: Record<string, string> = {
  n: '\n',
  r: '\r',
  t: '\t',
  b: '\b',
  f: '\f',
  "'": "'",
  '"': '"',
  '\\': '\\',
  _: '_',
  '%': '%',
};
const PIECE =
  /\s+|(?<text>'(?:[^'\\\n]|\\.)*')|(?<number>-?\d+(?:\.\d+)?(?![\w:-]))|(?<word>[\w.:+-]*[\w])|(?<sign><=|>=|!=|<>|[=<>(),])/gsuy;

function tokens(soql: string): Token[] {
  const found: Token[] = [];
  PIECE.lastIndex = 0;
  while (PIECE.lastIndex < soql.length) {
    const at = PIECE.lastIndex;
    const groups = PIECE.exec(soql)?.groups;
    if (!groups) throw malformed(`unexpected token: '${soql.slice(at, at + 10)}'`);
    for (const kind of ['text', 'number', 'word', 'sign'] as const) {
      const value = groups[kind];
      if (value !== undefined) found.push({ kind, value: kind === 'text' ? unescaped(value.slice(1, -1)) : value });
    }
  }
  return found;
}

const unescaped = (text: string): string =>
  text.replace(/\\(?:u([\da-fA-F]{4})|(.))/gs, (_, code: string | undefined, letter: string) => {
    if (code !== undefined) return String.fromCharCode(Number.parseInt(code, 16));
    const value = ESCAPES[letter];
    if (value === undefined) throw malformed(`invalid escape \\${letter}`);
    return value;
  });

const malformed = (message: string) => new SoqlError('MALFORMED_QUERY', message);

type Condition = (row: SoqlRow) => boolean;

/** Parses and executes a query: fields, nested conditions, order, limit and offset. */
export function runSoql(soql: string, tables: Record<string, SoqlTable>): SoqlResult {
  const list = tokens(soql);
  let at = 0;
  const peek = () => list[at];
  const isWord = (...words: string[]) => {
    const token = peek();
    return token?.kind === 'word' && words.includes(token.value.toUpperCase());
  };
  const isSign = (sign: string) => peek()?.kind === 'sign' && peek()?.value === sign;
  const take = (kind: Token['kind']): string => {
    const token = list[at++];
    if (token?.kind !== kind) throw malformed(`unexpected token: '${token?.value ?? '<EOF>'}'`);
    return token.value;
  };
  const expect = (kind: 'word' | 'sign', value: string) => {
    const found = take(kind);
    if (found.toUpperCase() !== value) throw malformed(`expecting ${value}, found '${found}'`);
  };

  expect('word', 'SELECT');
  const selected = [take('word')];
  let isCount = false;
  if (selected[0]?.toUpperCase() === 'COUNT' && isSign('(')) {
    expect('sign', '(');
    expect('sign', ')');
    isCount = true;
  }
  while (isSign(',')) {
    at++;
    selected.push(take('word'));
  }
  expect('word', 'FROM');
  const object = take('word');
  const [name, table] = Object.entries(tables).find(([key]) => key.toLowerCase() === object.toLowerCase()) ?? [];
  if (!name || !table) throw new SoqlError('INVALID_TYPE', `sObject type '${object}' is not supported.`);
  const fieldOf = (field: string): string => {
    const known = table.fields.find((candidate) => candidate.toLowerCase() === field.toLowerCase());
    if (known === undefined) throw new SoqlError('INVALID_FIELD', `No such column '${field}' on entity '${name}'.`);
    return known;
  };

  const value = (): SoqlValue => {
    const token = list[at++];
    if (token?.kind === 'text') return token.value;
    if (token?.kind === 'number') return Number(token.value);
    const word = token?.kind === 'word' ? token.value.toLowerCase() : '';
    if (word === 'true' || word === 'false') return word === 'true';
    if (word === 'null') return null;
    if (/^\d{4}-\d\d-\d\d/.test(word)) return token?.value ?? null;
    throw malformed(`unexpected token: '${token?.value ?? '<EOF>'}'`);
  };
  const values = (): SoqlValue[] => {
    expect('sign', '(');
    const all = [value()];
    while (isSign(',')) {
      at++;
      all.push(value());
    }
    expect('sign', ')');
    return all;
  };
  const comparison = (): Condition => {
    const field = fieldOf(take('word'));
    if (table.unfiltered?.includes(field))
      throw new SoqlError('INVALID_FIELD', `field '${field}' can not be filtered in a query call`);
    if (isWord('LIKE')) {
      at++;
      const pattern = likePattern(take('text'));
      return (row) => pattern.test(String(cell(row, field) ?? ''));
    }
    if (isWord('IN', 'NOT')) {
      const isNegated = isWord('NOT');
      if (isNegated) at++;
      expect('word', 'IN');
      const all = values();
      return (row) => all.some((one) => isEqual(cell(row, field), one)) !== isNegated;
    }
    const sign = take('sign');
    const right = value();
    const compare: Record<string, (left: SoqlValue) => boolean> = {
      '=': (left) => isEqual(left, right),
      '!=': (left) => !isEqual(left, right),
      '<>': (left) => !isEqual(left, right),
      '<': (left) => order(left, right) < 0,
      '<=': (left) => order(left, right) <= 0,
      '>': (left) => order(left, right) > 0,
      '>=': (left) => order(left, right) >= 0,
    };
    const holds = compare[sign];
    if (!holds) throw malformed(`unexpected token: '${sign}'`);
    return (row) => holds(cell(row, field));
  };
  const term = (): Condition => {
    if (isWord('NOT')) {
      at++;
      const negated = term();
      return (row) => !negated(row);
    }
    if (!isSign('(')) return comparison();
    at++;
    const inner = either();
    expect('sign', ')');
    return inner;
  };
  /** AND and OR need parentheses when they are mixed, as on the platform. */
  function either(): Condition {
    const terms = [term()];
    const joint = isWord('OR') ? 'OR' : 'AND';
    while (isWord(joint)) {
      at++;
      terms.push(term());
    }
    return (row) => (joint === 'OR' ? terms.some((one) => one(row)) : terms.every((one) => one(row)));
  }

  const fields = isCount ? [] : selected.map(fieldOf);
  let rows = table.rows();
  if (isWord('WHERE')) {
    at++;
    rows = rows.filter(either());
  }
  if (isWord('ORDER')) {
    at++;
    expect('word', 'BY');
    const keys: { field: string; sign: number }[] = [];
    do {
      if (keys.length > 0) at++;
      const field = fieldOf(take('word'));
      const isDescending = isWord('DESC');
      if (isWord('ASC', 'DESC')) at++;
      if (isWord('NULLS')) at += 2;
      keys.push({ field, sign: isDescending ? -1 : 1 });
    } while (isSign(','));
    rows = rows.toSorted((left, right) => {
      for (const { field, sign } of keys) {
        const compared = order(cell(left, field), cell(right, field));
        if (compared !== 0) return compared * sign;
      }
      return 0;
    });
  }
  const number = (word: string): number | undefined => {
    if (!isWord(word)) return undefined;
    at++;
    return Number(take('number'));
  };
  const limit = number('LIMIT') ?? Number.POSITIVE_INFINITY;
  const offset = number('OFFSET') ?? 0;
  if (at < list.length) throw malformed(`unexpected token: '${peek()?.value}'`);
  const taken = rows.slice(offset, offset + limit);
  return {
    object: name,
    rows: isCount ? null : taken.map((row) => nested(row, fields)),
    totalSize: taken.length,
  };
}

const cell = (row: SoqlRow, field: string): SoqlValue => {
  const value = row[field] ?? null;
  return typeof value === 'object' ? null : value;
};

/** Fields of related records are members of those: `{"Profile": {"Name": "…"}}`. */
function nested(row: SoqlRow, fields: readonly string[]): Record<string, unknown> {
  const record: Record<string, unknown> = {};
  for (const field of fields) {
    const [relation = field, ...rest] = field.split('.');
    const value = row[field] ?? null;
    if (rest.length === 0) record[field] = value;
    else record[relation] = { ...(record[relation] as object | undefined), [rest.join('.')]: value };
  }
  return record;
}

const isEqual = (left: SoqlValue, right: SoqlValue): boolean =>
  typeof left === 'string' && typeof right === 'string'
    ? left.toLowerCase() === right.toLowerCase() || isSameId(left, right)
    : left === right;

/** Ids are compared by their first 15 characters. */
const isSameId = (left: string, right: string): boolean =>
  /^\w{15}(\w{3})?$/.test(left) && /^\w{15}(\w{3})?$/.test(right) && left.slice(0, 15) === right.slice(0, 15);

function order(left: SoqlValue, right: SoqlValue): number {
  if (left === right) return 0;
  if (left === null) return -1;
  if (right === null) return 1;
  return left < right ? -1 : 1;
}

const likePattern = (like: string): RegExp =>
  new RegExp(
    `^${like
      .replace(/[\\^$.*+?()[\]{}|]/g, '\\$&')
      .replaceAll('%', '.*')
      .replaceAll('_', '.')}$`,
    'is',
  );
