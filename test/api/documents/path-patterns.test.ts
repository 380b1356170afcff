import { type TestApp, testApp } from '../../support/app.ts';

let app: TestApp;
const DOCUMENTS = [
  ['repo_a', 'metadata'],
  ['repo_a', 'other'],
  ['repo_b', 'metadata'],
  ['repo_b/metadata', 'x'],
  ['repo_b/metadata/deep', 'metadata'],
  ['repoXa', 'metadata'],
  ['100%', 'a'],
  ['1000', 'a'],
  ['a.c', "o'k"],
  ['abc', '--'],
  ['back\\slash', '"'],
  ['back', 'with/slash'],
  ['(x)[y]{z}|^$+?', 'k'],
] as const;

beforeAll(async () => {
  app = await testApp();
  for (const caller of [app.owner, app.stranger]) {
    const documents = DOCUMENTS.map(([collection, key]) => ({ collection, key, value: caller.email }));
    await app.as(caller).post(200, '/api/doc-store/bulk', { documents });
  }
});
afterAll(() => app.close());

test.each<[string, readonly string[]]>([
  ['repo_a', ['repo_a metadata', 'repo_a other']],
  ['repo_a/metadata', ['repo_a metadata']],
  ['repo_b/metadata', ['repo_b metadata', 'repo_b/metadata x']],
  ['repo_*/metadata', ['repo_a metadata', 'repo_b metadata', 'repo_b/metadata x']],
  ['repo_*', ['repo_a metadata', 'repo_a other', 'repo_b metadata']],
  ['repo_b/**', ['repo_b metadata', 'repo_b/metadata x', 'repo_b/metadata/deep metadata']],
  [
    '**/metadata',
    ['repoXa metadata', 'repo_a metadata', 'repo_b metadata', 'repo_b/metadata x', 'repo_b/metadata/deep metadata'],
  ],
  ['*/*/*/metadata', ['repo_b/metadata/deep metadata']],
  ['*/*/*', ['repo_b/metadata x', 'repo_b/metadata/deep metadata']],
  ['100%', ['100% a']],
  ['100_', []],
  ['a.c', ["a.c o'k"]],
  ["a.c/o'k", ["a.c o'k"]],
  ["' or 1=1 --", []],
  ['abc/--', ['abc --']],
  ['back\\slash/"', ['back\\slash "']],
  ['back\\*', ['back\\slash "']],
  ['back/**', ['back with/slash']],
  ['back/*', []],
  ['(x)[y]{z}|^$+?', ['(x)[y]{z}|^$+? k']],
  ['(x)[y]{z}|^*+?', ['(x)[y]{z}|^$+? k']],
  ['', []],
])('%j finds %j, and of no other tenant', async (pathPattern, expected) => {
  const status = pathPattern === '' ? 400 : 200;
  const found = await app.as(app.owner).post(status, '/api/doc-store/collections/query', { pathPattern });
  if (status === 400) return;
  expect(found.map(({ collection, key }: Record<string, string>) => `${collection} ${key}`)).toEqual(expected);
  for (const { value } of found) expect(value).toBe(app.owner.email);
});

test('** finds everything of the tenant, each document once, and nothing of another', async () => {
  const found = await app.as(app.owner).post(200, '/api/doc-store/collections/query', { pathPattern: '**' });
  expect(found).toHaveLength(DOCUMENTS.length);
  expect(new Set(found.map(({ value }: { value: string }) => value))).toEqual(new Set([app.owner.email]));
  const matched = await app.as(app.owner).post(200, '/api/doc-store/collections/query', {
    pathPattern: '**',
    filters: [
      { field: '$collection', operator: 'in', value: ['abc', 'none'] },
      { field: '$key', operator: 'regex', value: '^-' },
    ],
  });
  expect(matched).toHaveLength(1);
});

test('a regular expression that takes long is stopped, and the next query is answered', async () => {
  const text = Array.from({ length: 600 }, (_, n) => ((n * 7_919) % 10_007).toString(36)).join('');
  await app.as(app.owner).post(201, '/api/doc-store/collections/heavy/docs/a', { value: { text } });
  const heavy = {
    pathPattern: 'heavy',
    filters: [{ field: 'text', operator: 'regex', value: '^(.+)(.+)(.+)\\3\\2\\1$' }],
  };
  const problem = await app.as(app.owner).post(400, '/api/doc-store/collections/query', heavy);
  expect(problem.detail).toBe('The query took longer than 2 s; ask for less');
  expect(await app.as(app.owner).post(200, '/api/doc-store/collections/query', { pathPattern: 'heavy' })).toHaveLength(
    1,
  );
});
