import { readFileSync, statSync } from 'node:fs';
import { usage } from './exit.ts';

/** All of standard input, once. */
let given: string | undefined;
export function standardInput(): string {
  if (given === undefined) {
    if (process.stdin.isTTY) process.stderr.write('reading standard input; end it with Ctrl-D\n');
    given = readFileSync(0, 'utf8');
  }
  return given;
}

/** The text that an option gives: itself, `@file`, or `-` for standard input. */
export const textOf = (value: string): string =>
  value === '-' ? standardInput() : value.startsWith('@') ? fileText(value.slice(1)) : value;

/** A file's text; `-`: standard input. */
export function fileText(path: string): string {
  if (path === '-') return standardInput();
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    throw usage(`${path} cannot be read: ${(error as Error).message}`);
  }
}

/** When a file was written: the same for a step that is repeated. Standard input: now. */
export const writtenAt = (path: string): Date => (path === '-' ? new Date() : statSync(path).mtime);

export function parseJson(text: string, what: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw usage(`${what} is no JSON: ${(error as Error).message}`);
  }
}

export function parseObject(text: string, what: string): Record<string, unknown> {
  const value = parseJson(text, what);
  if (value === null || typeof value !== 'object' || Array.isArray(value)) throw usage(`${what} is no JSON object`);
  return value as Record<string, unknown>;
}

/** `name=value` in two; a value may have further signs of equality. */
export function pair(text: string): [string, string] {
  const at = text.indexOf('=');
  if (at < 1) throw usage(`${text} is no name=value`);
  return [text.slice(0, at), text.slice(at + 1)];
}

/** A count of something. @param name of the option that gives it. */
export function countOf(text: string, name: string): number {
  if (!/^[1-9]\d{0,8}$/.test(text)) throw usage(`${name} takes a number, from 1 on`);
  return Number(text);
}

export const pairs = (texts: readonly string[]): Record<string, string> => Object.fromEntries(texts.map(pair));

/**
 * Sets members by `name=value`, `a.b=value` within objects; values that are JSON are taken as such.
 * @param isText whether a member takes texts alone: a release of the name 2026.10 is no number.
 */
export function setMembers(
  target: Record<string, unknown>,
  texts: readonly string[],
  isText: (path: readonly string[]) => boolean,
): Record<string, unknown> {
  for (const text of texts) {
    const [path, value] = pair(text);
    const names = path.split('.');
    const last = names.pop() ?? '';
    let at = target;
    for (const name of [...names, last])
      if (name === '' || name === '__proto__') throw usage(`${path} is no name of a member`);
    for (const name of names) {
      const inner = at[name] ?? {};
      if (typeof inner !== 'object' || Array.isArray(inner)) throw usage(`${name} of ${path} is no object`);
      at[name] = inner;
      at = inner as Record<string, unknown>;
    }
    at[last] = isText([...names, last]) ? value : looselyParsed(value);
  }
  return target;
}

function looselyParsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

/** Asks on the terminal; what is typed for a secret is not shown. */
export async function ask(question: string, { isSecret = false } = {}): Promise<string> {
  if (!process.stdin.isTTY) throw usage('There is no terminal to ask on');
  const { createInterface } = await import('node:readline/promises');
  const { Writable } = await import('node:stream');
  process.stderr.write(question);
  const output = isSecret ? new Writable({ write: (_chunk, _encoding, done) => done() }) : process.stderr;
  const lines = createInterface({ input: process.stdin, output, terminal: true });
  try {
    const answer = await lines.question('');
    if (isSecret) process.stderr.write('\n');
    return answer;
  } finally {
    lines.close();
  }
}
