import { globSync, readFileSync } from 'node:fs';
import vm from 'node:vm';
import ts from 'typescript';

/** A pattern whose time grows by the square does this in some milliseconds, one of the third power in minutes. */
const TEXT_LENGTH = 2_000;
/** Enough for what doubles with each character. */
const SHORT_LENGTH = 40;
const TIMEOUT_MS = 20_000;

/** Each regular expression that the product writes as a literal, with the file of the first. */
function literals(): Map<string, string> {
  const found = new Map<string, string>();
  for (const file of globSync('{api,domain,activities,workflows}/**/*.ts')) {
    const text = readFileSync(file, 'utf8');
    if (!text.includes('/')) continue;
    const visit = (node: ts.Node): void => {
      if (ts.isRegularExpressionLiteral(node) && !found.has(node.text)) found.set(node.text, file);
      ts.forEachChild(node, visit);
    };
    visit(ts.createSourceFile(file, text, ts.ScriptTarget.Latest));
  }
  return found;
}

/** Texts on which a pattern with an ambiguous repetition takes long: its own characters again and again, and no match. */
function textsFor(source: string): string[] {
  const escaped = [...source.matchAll(/\\([^\w])/g)].map(([, character = '']) => character);
  const own = new Set([...escaped, ...source.replace(/\\[^]|[\\^$*+?()|[\]{}]/g, '')]);
  const pieces = [...[...own].slice(0, 12), 'a', '0', ' ', '/', '\n'];
  const begins = ['', ...[...own].slice(0, 6), [...own].slice(0, 3).join('')];
  return begins.flatMap((begin) => [
    ...pieces.map((piece) => `${begin}${piece.repeat(TEXT_LENGTH)}\0`),
    ...pieces.flatMap((piece) =>
      pieces.slice(0, 4).map((other) => `${begin}${(piece + other).repeat(SHORT_LENGTH)}\0`),
    ),
  ]);
}

const context = vm.createContext({ pattern: /x/, texts: [''] });
const all = new vm.Script('for (const text of texts) { pattern.lastIndex = 0; pattern.exec(text); }');

/** Whether a pattern is through with its texts in time. */
function isBounded(literal: string): boolean {
  const end = literal.lastIndexOf('/');
  const source = literal.slice(1, end);
  Object.assign(context, { pattern: new RegExp(source, literal.slice(end + 1)), texts: textsFor(source) });
  try {
    all.runInContext(context, { timeout: TIMEOUT_MS });
    return true;
  } catch (error) {
    if ((error as { code?: string }).code === 'ERR_SCRIPT_EXECUTION_TIMEOUT') return false;
    throw error;
  }
}

test('no pattern of the product takes more than the square of the text', () => {
  const patterns = literals();
  expect(patterns.size).toBeGreaterThan(400);
  const growing = [...patterns]
    .filter(([literal]) => !isBounded(literal))
    .map(([literal, file]) => `${file}: ${literal}`);
  expect(growing).toEqual([]);
});

test.each([String.raw`/^\s*\{(?:\s*(?:\w+\s*=\s*"")?\s*,?\s*)*\}$/`, '/^(a+)+$/', '/^(?:a*b?)*c$/'])(
  'a pattern that doubles its time with each character is found: %s',
  (literal) => {
    const end = literal.lastIndexOf('/');
    Object.assign(context, { pattern: new RegExp(literal.slice(1, end)), texts: textsFor(literal.slice(1, end)) });
    expect(() => all.runInContext(context, { timeout: 100 })).toThrow(/timed out/);
  },
);
