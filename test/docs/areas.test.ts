import { existsSync, globSync, readdirSync, readFileSync } from 'node:fs';

const LINES_MAX = 60;
const AREAS = readdirSync('domain', { withFileTypes: true })
  .filter((entry) => entry.isDirectory())
  .map(({ name }) => name)
  .toSorted();

const pageOf = (area: string): string => `docs/areas/${area}.md`;
const textOf = (file: string): string => readFileSync(file, 'utf8');
/** What a page has in code spans. */
const namesIn = (text: string): string[] => [...text.matchAll(/`([^`\n]+)`/g)].map(([, name = '']) => name);
/** What some files of an area say, by a pattern with one group. */
const found = (files: string, pattern: RegExp): string[] =>
  globSync(files).flatMap((file) => [...textOf(file).matchAll(pattern)].map(([, name = '']) => name));

test('each area has a page, and the architecture lists each of them', () => {
  expect(globSync('docs/areas/*.md').toSorted()).toEqual(AREAS.map(pageOf));
  const listed = [...textOf('docs/architecture.md').matchAll(/\(areas\/([a-z]+)\.md\)/g)].map(([, area = '']) => area);
  expect(listed.toSorted()).toEqual(AREAS);
});

describe.each(AREAS)('the page of %s', (area) => {
  const text = textOf(pageOf(area));
  const names = namesIn(text);

  test(`has a picture and at most ${LINES_MAX} lines`, () => {
    expect(text).toContain('```mermaid');
    expect(text.split('\n').length).toBeLessThanOrEqual(LINES_MAX);
  });

  test('names files that exist', () => {
    const paths = names.filter((name) => /^(activities|api|domain|test|tools|workflows)\/[\w./-]+$/.test(name));
    expect(paths.length).toBeGreaterThan(5);
    expect(paths.filter((path) => !existsSync(path))).toEqual([]);
  });

  test('names every table, hook and signal of the area', () => {
    const tables = found(`domain/${area}/**/*.entities.ts`, /tableName: '(\w+)'/g);
    const hooks = found(`domain/${area}/**/*.hooks.ts`, /^ {4}(\w+): \(tx: Tx/gm);
    const signals = found(`domain/${area}/*.signals.ts`, /^ {4}(\w+): [\w{ ]/gm);
    expect([...tables, ...hooks, ...signals].filter((name) => !names.includes(name))).toEqual([]);
  });
});
