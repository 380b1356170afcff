import { isDeepStrictEqual } from 'node:util';
import { type Node, Parser } from 'commonmark';

/** A block of commands in a page, and what the page says that it prints. */
export interface DocumentedExample {
  line: number;
  /**
   * `run`: once. `until`: again until it prints what is expected. `given`: assignments, which the reader adapts and a test
   * replaces. `console`: starts programs, which a test of pages does not.
   */
  kind: 'run' | 'until' | 'given' | 'console';
  commands: string;
  expected: { format: 'json' | 'text'; text: string } | undefined;
}

const KINDS = new Map([
  ['sh', 'run'],
  ['sh until', 'until'],
  ['sh given', 'given'],
  ['console', 'console'],
] as const);
const ANYTHING = '…';

/** The blocks of a page in order. Throws for a block whose language says neither what it is nor what is printed. */
export function documentedExamples(markdown: string): DocumentedExample[] {
  const examples: DocumentedExample[] = [];
  for (const { info, literal, line } of codeBlocks(markdown)) {
    const kind = KINDS.get(info as 'sh');
    const last = examples.at(-1);
    if (kind !== undefined) examples.push({ line, kind, commands: literal, expected: undefined });
    else if ((info === 'json' || info === 'text') && last && last.expected === undefined)
      last.expected = { format: info, text: literal };
    else if (info !== 'mermaid')
      throw new Error(`line ${line}: a block of the language "${info}" is not run by a test`);
  }
  return examples;
}

function codeBlocks(markdown: string): { info: string; literal: string; line: number }[] {
  const blocks = [];
  const walker = new Parser().parse(markdown).walker();
  for (let step = walker.next(); step; step = walker.next()) {
    const node: Node = step.node;
    if (step.entering && node.type === 'code_block')
      blocks.push({ info: node.info ?? '', literal: node.literal ?? '', line: node.sourcepos[0][0] });
  }
  return blocks;
}

/**
 * How what was printed differs from what the page shows; undefined when it does not. Text is compared whole, of JSON the
 * members that are shown, of the last line; `…` stands for anything.
 */
export function differenceOf({ expected }: DocumentedExample, printed: string): string | undefined {
  if (!expected) return undefined;
  if (expected.format === 'text')
    return patternOf(expected.text.trim()).test(printed.trim()) ? undefined : `printed:\n${printed.slice(0, 4_000)}`;
  const last = printed.trim().split('\n').at(-1) ?? '';
  try {
    const found = differenceAt('', JSON.parse(expected.text), JSON.parse(last));
    return found && `${found}; printed:\n${last.slice(0, 4_000)}`;
  } catch (error) {
    return `${String(error)}; printed:\n${printed.slice(0, 4_000)}`;
  }
}

function differenceAt(path: string, expected: unknown, found: unknown): string | undefined {
  if (typeof expected === 'string' && expected.includes(ANYTHING)) {
    const text = typeof found === 'string' ? found : JSON.stringify(found ?? null);
    return found !== undefined && patternOf(expected).test(text) ? undefined : `${path} is ${text}`;
  }
  if (Array.isArray(expected) && Array.isArray(found)) {
    const isOpen = expected.at(-1) === ANYTHING;
    const shown = isOpen ? expected.slice(0, -1) : expected;
    if (isOpen ? found.length < shown.length : found.length !== shown.length)
      return `${path} has ${found.length} items`;
    return firstOf(shown.map((each, index) => differenceAt(`${path}/${index}`, each, found[index])));
  }
  if (isObject(expected) && isObject(found))
    return firstOf(Object.keys(expected).map((key) => differenceAt(`${path}/${key}`, expected[key], found[key])));
  return isDeepStrictEqual(expected, found) ? undefined : `${path} is ${JSON.stringify(found)}`;
}

const firstOf = (differences: (string | undefined)[]) => differences.find((each) => each !== undefined);
const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** `…` alone on a line stands for any lines, within a line for any text. */
function patternOf(text: string): RegExp {
  const lines = text.split('\n').map((line) =>
    line.trim() === ANYTHING
      ? '[^]*?'
      : line
          .split(ANYTHING)
          .map((part) => part.replaceAll(/[$()*+.?[\\\]^{|}]/g, '\\$&'))
          .join('[^\\n]*'),
  );
  return new RegExp(`^${lines.join('\\n')}$`);
}
