import pg from 'pg';
import {
  type CollectionNames,
  collectionSources,
  reachesCollection,
} from '../../../domain/kernel/shared/collection-limit-rules.ts';
import { type TestDatabase, testDatabase } from '../../support/postgres.ts';

let database: TestDatabase;
let client: pg.Client;
beforeAll(async () => {
  database = await testDatabase();
  client = new pg.Client(database.url);
  await client.connect();
});
afterAll(async () => {
  await client.end();
  await database.drop();
});

const NAMES: CollectionNames = {
  identifiers: ['acme/shop', 'acme/a+b.c', 'acme/star*'],
  others: ['acme/shop/web', 'acme/shop/(x'],
  patterns: ['releases/*/shop', 'shared/**', 'exact', 'a.b/[c]', '**/**x**x**x**x**x**x**x**x**x**x**x**y'],
};

test.each([
  ['repo:acme/shop', true],
  ['repo:acme/shop/metadata', true],
  ['repo:acme/shop/npm/latest', true],
  ['repo:acme/shop/webshop', true],
  // Another project has this identifier.
  ['repo:acme/shop/web', false],
  ['repo:acme/shop/web/latest', false],
  ['repo:acme/shop/(x', false],
  ['repo:acme/shop/(xy', true],
  ['repo:acme/shop2', false],
  ['repo:acme/sho', false],
  ['repo:acme', false],
  ['repo:acme/shop:web', false],
  ['repo:acme/shop web', false],
  ['repo:ACME/shop', false],
  ['Repo:acme/shop', false],
  [' repo:acme/shop', false],
  ['repo:acme/shop ', false],
  ['repo:acme/shop\n', false],
  ['x/repo:acme/shop', false],
  ['repo:acme%2Fshop', false],
  ['repo:acme\\/shop', false],
  ['acme/shop', false],
  ['repo:acme/a+b.c/x', true],
  ['repo:acme/aab-c', false],
  ['repo:acme/star*', true],
  ['repo:acme/starry', false],
  ['manifests/acme/shop:main', true],
  ['manifests/acme/shop:release/1', true],
  ['manifests/acme/shop', false],
  ['manifests/acme/shop:a:b', false],
  ['manifests/acme/shop/web:main', false],
  ['manifests/acme/shop2:main', false],
  ['manifests/acme/a+b.c:main', true],
  ['manifests/acme/aab-c:main', false],
  ['x/manifests/acme/shop:main', false],
  ['releases/2026/shop', true],
  ['releases/2026/09/shop', false],
  ['releases/2026/shop/x', false],
  ['shared/a/b', true],
  ['shared', false],
  ['exact', true],
  ['exactly', false],
  ['a.b/[c]', true],
  ['axb/c', false],
  [`z/${'x'.repeat(200)}`, false],
])('%j: %s, by the rule and by PostgreSQL', async (collection, isReached) => {
  expect(reachesCollection({ projectIds: ['p'], collections: NAMES }, collection)).toBe(isReached);
  const { rows } = await client.query<{ found: boolean }>(
    'select $1 ~ any (array(select jsonb_array_elements_text($2::jsonb))) as found',
    [collection, JSON.stringify(collectionSources(NAMES))],
  );
  expect(rows[0]?.found).toBe(isReached);
});

test('who is not limited reaches every collection, and a limited actor without names none', () => {
  expect(reachesCollection({}, 'anything')).toBe(true);
  expect(reachesCollection({ projectIds: [] }, 'anything')).toBe(false);
  expect(reachesCollection({ projectIds: ['p'] }, 'repo:acme/shop')).toBe(false);
});
