import { type TestApp, testApp } from '../../support/app.ts';

let app: TestApp;
/** Key to the value's member `v`; `missing` has none. */
const VALUES = {
  null: null,
  true: true,
  one: 1,
  ten: 10,
  text1: '1',
  abc: 'abc',
  Z: 'Z',
  astral: '\u{1F600}',
  private: '\uFFFD',
  list: [1, 2],
  empty: [],
  object: { a: 1 },
} as const;
const ALL = [...Object.keys(VALUES), 'missing'];
const except = (...keys: string[]) => ALL.filter((key) => !keys.includes(key));

beforeAll(async () => {
  app = await testApp();
  const documents = [
    ...Object.entries(VALUES).map(([key, v]) => ({
      collection: 'types',
      key,
      value: { v, id: key, in: { 'a.b': [{ c: v }] } },
    })),
    { collection: 'types', key: 'missing', value: { id: 'missing', in: {} } },
  ];
  await app.as(app.owner).post(200, '/api/doc-store/bulk', { documents });
});
afterAll(() => app.close());

const QUERY = '/api/doc-store/collections/query';
const query = async (body: object): Promise<string[]> =>
  (await app.as(app.owner).post(200, QUERY, { pathPattern: 'types', ...body })).map(({ key }: { key: string }) => key);

test.each<[string, unknown, string[]]>([
  ['eq', null, ['null']],
  ['eq', true, ['true']],
  ['eq', false, []],
  ['eq', 1.0, ['one']],
  ['eq', '1', ['text1']],
  ['eq', [1, 2], ['list']],
  ['eq', [2, 1], []],
  ['eq', [1], []],
  ['eq', [], ['empty']],
  ['eq', { a: 1 }, ['object']],
  ['eq', {}, []],
  ['ne', null, except('null')],
  ['ne', 1, except('one')],
  ['ne', 'none', ALL],
  ['gt', 1, ['ten']],
  ['gte', 1, ['one', 'ten']],
  ['lt', 10, ['one']],
  ['lte', 10, ['one', 'ten']],
  ['lt', -1e300, []],
  ['gt', 'Z', ['abc', 'astral', 'private']],
  ['gte', 'Z', ['Z', 'abc', 'astral', 'private']],
  ['lt', 'abc', ['Z', 'text1']],
  ['lte', '1', ['text1']],
  ['gt', '\uFFFD', ['astral']],
  ['in', [1, 'abc', null], ['abc', 'null', 'one']],
  ['in', [[1, 2], { a: 1 }], ['list', 'object']],
  ['in', [], []],
  ['nin', [1, 'abc', null], except('one', 'abc', 'null')],
  ['nin', [], ALL],
  ['regex', '^[a-c]+$', ['abc']],
  ['regex', '(?i)^z$', ['Z']],
  ['regex', '.', ['Z', 'abc', 'astral', 'private', 'text1']],
])('%s %j finds %j, at any depth', async (operator, value, expected) => {
  const sorted = expected.toSorted((a, b) => (a < b ? -1 : 1));
  for (const field of ['v', 'in.a\\.b.0.c']) {
    await expect(query({ filters: [{ field, operator, value }] })).resolves.toEqual(sorted);
  }
});

test('what has no order is compared with nothing: no error, and no match', async () => {
  for (const field of ['v', 'in.a\\.b.0.c', '$key', '$version', 'none']) {
    for (const operator of ['gt', 'gte', 'lt', 'lte']) {
      for (const value of [null, true, false, [], [1], {}, { a: 1 }]) {
        expect([operator, value, await query({ filters: [{ field, operator, value }] })]).toEqual([
          operator,
          value,
          [],
        ]);
      }
    }
  }
});

test.each([
  ['in', 1],
  ['nin', Array.from({ length: 101 }, () => 1)],
  ['regex', 1],
  ['regex', 'a'.repeat(257)],
  ['regex', '('],
  ['regex', '(((((a{255}){255}){255}){255}){255})'],
  ['like', 'x'],
])('%s with %j is refused, and the refusal points at it', async (operator, value) => {
  const problem = await app.as(app.owner).post(400, QUERY, {
    pathPattern: 'nothing',
    filters: [
      { field: 'v', operator: 'eq', value: 1 },
      { field: 'v', operator, value },
    ],
  });
  expect(problem.errors[0].pointer).toMatch(/^#\/body\/filters\/1\/(value|operator)$/);
});

test.each([
  ['$key', 'abc'],
  ['$collection', 'types'],
  ['$version', 1],
])('%s names what is not in the value', async (field, value) => {
  expect(await query({ filters: [{ field, operator: 'eq', value }] })).toContain('abc');
  expect(await query({ filters: [{ field, operator: 'ne', value }] })).not.toContain('abc');
  expect(
    await query({
      filters: [
        { field, operator: 'in', value: [value] },
        { field, operator: 'gte', value },
      ],
    }),
  ).toContain('abc');
});

const ASCENDING = [
  'null',
  'true',
  'one',
  'ten',
  'text1',
  'Z',
  'abc',
  'private',
  'astral',
  'empty',
  'list',
  'object',
  'missing',
];

test('mixed types have one order, and it is the same page by page', async () => {
  await expect(query({ sort: [{ field: 'v' }] })).resolves.toEqual(ASCENDING);
  await expect(query({ sort: [{ field: 'v', direction: 'desc' }] })).resolves.toEqual(ASCENDING.toReversed());
  for (const direction of ['asc', 'desc'] as const) {
    const body = {
      pathPattern: 'types',
      sort: [
        { field: 'v', direction },
        { field: 'id', direction: 'desc' },
      ],
      limit: 2,
    };
    await expect(everyPage(body)).resolves.toEqual(direction === 'asc' ? ASCENDING : ASCENDING.toReversed());
  }
  await expect(everyPage({ pathPattern: 'types', limit: 3 })).resolves.toEqual(
    ALL.toSorted((a, b) => (a < b ? -1 : 1)),
  );
});

async function everyPage(body: object): Promise<string[]> {
  const keys: string[] = [];
  for (let path: string | undefined = QUERY; path !== undefined; ) {
    const answer: { body: { key: string }[]; headers: Headers } = await app
      .as(app.owner)
      .request(200, 'POST', path, { body });
    keys.push(...answer.body.map(({ key }) => key));
    path = /^<([^>]+)>; rel="next"/.exec(answer.headers.get('link') ?? '')?.[1];
  }
  return keys;
}

test('several sorts count in their order', async () => {
  const documents = [
    ['a', 2, 'x'],
    ['b', 1, 'x'],
    ['c', 1, 'y'],
    ['d', 2, 'y'],
  ].map(([key, n, s]) => ({ collection: 'sorts', key, value: { n, s } }));
  await app.as(app.owner).post(200, '/api/doc-store/bulk', { documents });
  const sort = [
    { field: 's', direction: 'desc' },
    { field: 'n', direction: 'asc' },
  ];
  await expect(query({ pathPattern: 'sorts', sort })).resolves.toEqual(['c', 'd', 'b', 'a']);
  await expect(query({ pathPattern: 'sorts', sort, limit: 2, offset: 1 })).resolves.toEqual(['d', 'b']);
  await expect(query({ pathPattern: 'sorts', sort: [{ field: '$key', direction: 'desc' }] })).resolves.toEqual([
    'd',
    'c',
    'b',
    'a',
  ]);
});

test('values too long for a cursor, and pages too large for one answer, are still read to the end', async () => {
  const documents = Array.from({ length: 12 }, (_, n) => ({
    collection: 'long',
    key: String(n).padStart(2, '0'),
    value: 'x'.repeat(1_000_000) + n,
  }));
  for (let at = 0; at < documents.length; at += 4)
    await app.as(app.owner).post(200, '/api/doc-store/bulk', { documents: documents.slice(at, at + 4) });
  const keys = documents.map(({ key }) => key);
  await expect(everyPage({ pathPattern: 'long' })).resolves.toEqual(keys);
  expect(new Set(await everyPage({ pathPattern: 'long', sort: [{ field: '$version' }, { field: 'a' }] }))).toEqual(
    new Set(keys),
  );
  const first = await app.as(app.owner).request(200, 'POST', QUERY, { body: { pathPattern: 'long' } });
  expect(first.body.length).toBeLessThan(12);
  await app.as(app.owner).post(200, '/api/doc-store/bulk', {
    documents: keys.slice(0, 3).map((key) => ({ collection: 'texts', key, value: { t: 'y'.repeat(5_000) + key } })),
  });
  await expect(
    everyPage({ pathPattern: 'texts', sort: [{ field: 't', direction: 'desc' }], limit: 1 }),
  ).resolves.toEqual(keys.slice(0, 3).toReversed());
});

test('a cursor that is none, or of another sort, is refused', async () => {
  const { headers } = await app.as(app.owner).request(200, 'POST', QUERY, { body: { pathPattern: 'types', limit: 1 } });
  const cursor = /cursor=([^&]+)/.exec(headers.get('link') ?? '')?.[1];
  const send = (body: object) => app.as(app.owner).post(400, QUERY, { pathPattern: 'types', ...body });
  for (const bad of [
    'x',
    Buffer.from('[[],[{}],1]').toString('base64url'),
    Buffer.from('null').toString('base64url'),
  ]) {
    expect((await send({ cursor: bad })).errors[0].pointer).toBe('#/body/cursor');
  }
  await send({ cursor, sort: [{ field: 'v' }] });
});

test('projection keeps the nesting of what it names', async () => {
  const value = { a: { b: [{ c: 1, d: 2 }, { c: 3 }], e: 5 }, f: null, 'g.h': 6, __proto__x: 7 };
  await app.as(app.owner).post(200, '/api/doc-store/bulk', {
    documents: [
      { collection: 'fields', key: 'a', value },
      { collection: 'fields', key: 'b', value: 3 },
    ],
  });
  const found = await app
    .as(app.owner)
    .post(200, QUERY, { pathPattern: 'fields', fields: ['a.b.1.c', 'f', 'g\\.h', 'a.x', 'a.b.0'] });
  expect(found).toEqual([
    { collection: 'fields', key: 'a', version: 1, value: { a: { b: [{ c: 1, d: 2 }, { c: 3 }] }, f: null, 'g.h': 6 } },
    { collection: 'fields', key: 'b', version: 1, value: {} },
  ]);
});

test('the index on content finds what reading finds, however many there are', async () => {
  const documents = Array.from({ length: 1_000 }, (_, n) => ({
    key: String(n).padStart(4, '0'),
    value: { kind: 'many', parity: n % 2, deep: { n } },
  }));
  for (const collection of ['index/a', 'index/b']) {
    await app
      .as(app.owner)
      .post(200, '/api/doc-store/bulk', { documents: documents.map((document) => ({ collection, ...document })) });
  }
  const found = (...filters: [string, unknown][]) =>
    query({
      pathPattern: 'index/*',
      limit: 1_000,
      filters: filters.map(([field, value]) => ({ field, operator: 'eq', value })),
    });
  await expect(found(['deep.n', 7])).resolves.toEqual(['0007', '0007']);
  await expect(found(['kind', 'many'], ['deep.n', 7], ['parity', 1])).resolves.toEqual(['0007', '0007']);
  await expect(found(['deep', { n: 7 }], ['deep.n', 7])).resolves.toEqual(['0007', '0007']);
  await expect(found(['deep.n', 7], ['deep.n', 8])).resolves.toEqual([]);
  expect(await found(['parity', 1])).toHaveLength(1_000);
  expect(await found(['kind', 'many'])).toHaveLength(1_000);
});

test('the deprecated endpoint asks one collection, whatever its name, and says where to go', async () => {
  const path = '/api/doc-store/collections/dep%2F*%2Fname';
  await app.as(app.owner).post(201, `${path}/docs/a`, { value: 1 });
  await app.as(app.owner).post(201, '/api/doc-store/collections/dep%2Fx%2Fname/docs/a', { value: 1 });
  const { body, headers } = await app
    .as(app.owner)
    .request(200, 'POST', `${path}/query`, { body: { filters: [{ field: '$version', operator: 'eq', value: 1 }] } });
  expect(body).toEqual([{ collection: 'dep/*/name', key: 'a', value: 1, version: 1 }]);
  expect(headers.get('deprecation')).toMatch(/^@\d+$/);
  expect(headers.get('link')).toBe('<http://quayside.test/api/doc-store/collections/query>; rel="successor-version"');
  await app.as(app.owner).post(404, '/api/doc-store/collections/none/query', {});
});
