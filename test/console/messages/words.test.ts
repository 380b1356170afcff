import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import ts from 'typescript';

const ROOT = join(import.meta.dirname, '../../../console');
/** Attributes that people read or hear. */
const READ_ATTRIBUTES = new Set(['alt', 'aria-label', 'aria-description', 'label', 'placeholder', 'title', 'hint']);
const LETTERS = /\p{L}{2}/u;

/** The texts for people in a file of JSX that stand beside the catalog, with their lines. */
function textsBeside(file: string, text: string): string[] {
  const source = ts.createSourceFile(file, text, ts.ScriptTarget.Latest, true, ts.ScriptKind.TSX);
  const found: string[] = [];
  const note = (node: ts.Node, said: string) => {
    const { line } = source.getLineAndCharacterOfPosition(node.getStart());
    if (LETTERS.test(said)) found.push(`${file}:${line + 1} ${said.trim()}`);
  };
  const look = (node: ts.Node): void => {
    const isRead = ts.isJsxAttribute(node) && READ_ATTRIBUTES.has(node.name.getText());
    if (ts.isJsxText(node) && !/^(kbd|code)$/.test(parentName(node))) note(node, node.text);
    if (isRead && node.initializer && ts.isStringLiteral(node.initializer)) note(node, node.initializer.text);
    if (ts.isJsxExpression(node) && node.expression && ts.isStringLiteral(node.expression))
      note(node, node.expression.text);
    ts.forEachChild(node, look);
  };
  look(source);
  return found;
}

/** A key on a keyboard is called the same in every language. */
const parentName = ({ parent }: ts.Node): string =>
  ts.isJsxElement(parent) ? parent.openingElement.tagName.getText() : '';

test('texts of JSX, also in attributes, are found', () => {
  const text = `const a = <p title="Hello there">Some {b} words<kbd>Ctrl K</kbd>{'more'}{t.x} · 12 %</p>;`;
  expect(textsBeside('a.tsx', text)).toEqual(['a.tsx:1 Hello there', 'a.tsx:1 Some', 'a.tsx:1 words', 'a.tsx:1 more']);
});

test('every text of the console is in its catalog', () => {
  const files = globSync('**/*.tsx', { cwd: ROOT, exclude: ['dist/**', 'node_modules/**'] });
  expect(files.length).toBeGreaterThan(10);
  expect(files.flatMap((file) => textsBeside(file, readFileSync(join(ROOT, file), 'utf8')))).toEqual([]);
});
