import { existsSync, globSync, readFileSync } from 'node:fs';

const LISTED = [...readFileSync('docs/bounds.md', 'utf8').matchAll(/`((?:api|activities|domain|test)\/[^`]+)`/g)].map(
  ([, path = '']) => path,
);
/** What evaluates what users write. */
const ENGINES = /from '(?:re2js|liquidjs|json-p3|yaml|ajv[^']*)'/;

test('the list of bounds names files that exist', () => {
  expect(LISTED.length).toBeGreaterThan(20);
  expect(LISTED.filter((path) => !existsSync(path))).toEqual([]);
});

test('the list of bounds names each file that evaluates what users write, or a file beside it', () => {
  const folders = new Set(LISTED.map((path) => path.slice(0, path.lastIndexOf('/'))));
  const using = globSync('{api,domain,activities}/**/*.ts').filter((file) => ENGINES.test(readFileSync(file, 'utf8')));
  expect(using.length).toBeGreaterThan(4);
  expect(using.filter((file) => !folders.has(file.slice(0, file.lastIndexOf('/'))))).toEqual([]);
});
