import type { ApiClient } from '../../../support/client.ts';
import { type TestApp, testApp } from '../../../support/app.ts';
import { engineAway } from '../../../support/launch.ts';

let app: TestApp;
let one: ApiClient;
let two: ApiClient;

const OWN = ['repo:acme/one', 'repo:acme/one/notes', 'shared/2026/one'];
const FOREIGN = [
  'repo:acme/two',
  'repo:acme/one/web',
  'repo:acme/one2',
  'repo:acme%2Fone',
  'shared/2026/two',
  'catalog',
];
const collectionPath = (name: string, rest = '') => `/api/doc-store/collections/${encodeURIComponent(name)}${rest}`;

beforeAll(async () => {
  app = await testApp({ launch: engineAway });
  const owner = app.as(app.owner);
  const project = (identifier: string, configuration = {}) =>
    owner.post(201, '/api/projects', { identifier, platform: 'host-a', configuration });
  await project('acme/one', { documentCollections: ['shared/*/one'] });
  await project('acme/two');
  await project('acme/one/web');
  for (const collection of [...OWN, ...FOREIGN])
    await owner.post(201, collectionPath(collection, '/docs/a'), { value: { in: collection, mark: 'x' } });
  [one, two] = await Promise.all([limited('acme/one'), limited('acme/two')]);
});
afterAll(() => app.close());

let tokens = 0;
async function limited(project: string): Promise<ApiClient> {
  const body = { name: `limited-${++tokens}`, projects: [project] };
  return app.as(await app.as(app.owner).post(201, '/api/application-tokens', body));
}

/** Every way to one collection. */
const calls: [string, string, object?][] = [
  ['GET', ''],
  ['GET', '/docs'],
  ['GET', '/docs/a'],
  ['GET', '/docs/none'],
  ['GET', '/docs/a/version'],
  ['GET', '/docs/a/history'],
  ['POST', '/query', {}],
  ['POST', '/docs/a', { value: 1, version: 1 }],
  ['POST', '/docs/new', { value: 1 }],
  ['DELETE', '/docs/a'],
];

test.each([...FOREIGN, 'never/was', 'repo:acme/two/never'])(
  '%s is refused, whether there is one or not',
  async (collection) => {
    for (const [method, rest, body] of calls) {
      const reply = await one.request(403, method, collectionPath(collection, rest), { body });
      expect(reply.body.detail).toMatch(/limited to projects/);
    }
    await one.post(403, '/api/doc-store/collections', { name: collection });
  },
);

test.each(OWN)('%s is served', async (collection) => {
  await one.get(200, collectionPath(collection));
  await one.get(200, collectionPath(collection, '/docs/a'));
  await one.get(200, collectionPath(collection, '/docs/a/history'));
  await one.post(201, collectionPath(collection, '/docs/b'), { value: 1 });
  await one.post(200, collectionPath(collection, '/docs/b'), { value: 2, version: 1 });
  await one.delete(204, collectionPath(collection, '/docs/b'));
  for (const [method, rest] of calls.filter(([verb]) => verb === 'GET').slice(0, 3))
    await two.request(403, method, collectionPath(collection, rest));
});

test('lists and queries show the collections of the project alone', async () => {
  const names = (await one.get(200, '/api/doc-store/collections')).map(({ name }: { name: string }) => name);
  expect(names.toSorted()).toEqual(OWN.toSorted());
  const found = async (client: ApiClient, body: object) => {
    const documents = await client.post(200, '/api/doc-store/collections/query', body);
    return documents.map(({ collection }: { collection: string }) => collection).toSorted();
  };
  const mark = { field: 'mark', operator: 'eq', value: 'x' };
  for (const body of [
    { pathPattern: '**' },
    { pathPattern: '**', filters: [mark] },
    { pathPattern: '**/a', filters: [mark] },
    { pathPattern: '**', filters: [{ field: 'mark', operator: 'regex', value: '.' }] },
    { pathPattern: '**', sort: [{ field: 'in', direction: 'desc' }] },
  ]) {
    await expect(found(one, body)).resolves.toEqual(OWN.toSorted());
    await expect(found(two, body)).resolves.toEqual(['repo:acme/two']);
  }
  for (const pathPattern of ['repo:acme/two', 'repo:acme/two/a', 'repo:acme/**', 'catalog', 'cat*'])
    for (const collection of await found(one, { pathPattern })) expect(OWN).toContain(collection);
});

test('collections of the project are created', async () => {
  await one.post(201, '/api/doc-store/collections', { name: 'repo:acme/one/made' });
  await one.post(409, '/api/doc-store/collections', { name: 'repo:acme/one/made' });
  await two.post(403, '/api/doc-store/collections', { name: 'repo:acme/one/made' });
});

test('bulk writes refuse the items of other collections, and with atomic everything', async () => {
  const documents = [
    { collection: 'repo:acme/two', key: 'bulk', value: 1 },
    { collection: 'repo:acme/one', key: 'bulk', value: 1 },
    { collection: 'repo:acme/two', key: 'a', value: 1, version: 1 },
  ];
  await one.post(403, '/api/doc-store/bulk', { documents, atomic: true });
  await app.as(app.owner).get(404, collectionPath('repo:acme/one', '/docs/bulk'));
  const { results, written, refused } = await one.post(200, '/api/doc-store/bulk', { documents });
  expect(results.map(({ status }: { status: number }) => status)).toEqual([403, 201, 403]);
  expect([written, refused]).toEqual([1, 2]);
  await app.as(app.owner).get(404, collectionPath('repo:acme/two', '/docs/bulk'));
  await one.delete(204, collectionPath('repo:acme/one', '/docs/bulk'));
});

test('patterns are changed by the owner, validated, and count from the next request on', async () => {
  const path = '/api/projects/acme%2Ftwo';
  const patterns = (status: number, documentCollections: unknown) =>
    app.as(app.owner).patch(status, path, { configuration: { documentCollections } });
  for (const wrong of [['a//b'], [''], ['../a'], 'catalog', ['x'.repeat(256)], [1], Array(101).fill('a')])
    await patterns(400, wrong);
  await two.get(403, collectionPath('catalog'));
  await patterns(200, ['cat*']);
  await two.get(200, collectionPath('catalog'));
  await patterns(200, null);
  await two.get(403, collectionPath('catalog'));
  await two.patch(403, path, { configuration: { documentCollections: ['**'] } });
});

test('a token of a project that was removed reaches nothing of one with the same identifier', async () => {
  const owner = app.as(app.owner);
  const register = () => owner.post(201, '/api/projects', { identifier: 'acme/again', platform: 'host-a' });
  await register();
  const before = await limited('acme/again');
  await before.post(201, collectionPath('repo:acme/again', '/docs/a'), { value: 1 });
  await owner.delete(204, '/api/projects/acme%2Fagain');
  await before.get(403, collectionPath('repo:acme/again', '/docs/a'));
  await register();
  await before.get(403, collectionPath('repo:acme/again', '/docs/a'));
  await before.get(404, '/api/projects/acme%2Fagain');
  await expect(before.get(200, '/api/doc-store/collections')).resolves.toEqual([]);
  await (await limited('acme/again')).get(200, collectionPath('repo:acme/again', '/docs/a'));
});

test('a token for no project reaches nothing', async () => {
  const body = { name: 'of-none', projects: [] };
  const none = app.as(await app.as(app.owner).post(201, '/api/application-tokens', body));
  await expect(none.get(200, '/api/projects')).resolves.toMatchObject({ total: 0 });
  await expect(none.get(200, '/api/doc-store/collections')).resolves.toEqual([]);
  await none.get(403, collectionPath('repo:acme/one'));
});
