import { type TestApp, testApp } from '../../support/app.ts';

let app: TestApp;
beforeAll(async () => {
  app = await testApp();
});
afterAll(() => app.close());

const BULK = '/api/doc-store/bulk';
const entries = async () =>
  Number((await app.sql<{ n: string }>(`select count(*) as n from audit_entry where source = 'document'`))[0]?.n);

test('each write of many has its own outcome, in the order of the request', async () => {
  const owner = app.as(app.owner);
  await owner.post(201, '/api/doc-store/collections/c/docs/old', { value: 1 });
  const before = await entries();
  const { results, written, refused } = await owner.post(200, BULK, {
    documents: [
      { collection: 'c', key: 'z', value: null },
      { collection: 'c', key: 'old', value: 2 },
      { collection: 'c', key: 'old', value: 2, version: 1 },
      { collection: 'c', key: 'old', value: 3, version: 2 },
      { collection: 'c', key: '', value: 2 },
      { collection: 'c', key: 'large', value: 'x'.repeat(1024 * 1024 - 1) },
      { collection: 'b/new', key: 'a', value: { __proto__: null, deep: [] } },
    ],
  });
  expect(results.map(({ status }: { status: number }) => status)).toEqual([201, 409, 200, 200, 400, 413, 201]);
  expect(results[1]).toEqual({
    collection: 'c',
    key: 'old',
    status: 409,
    error: { code: 'version_conflict', detail: expect.any(String), currentVersion: 1 },
  });
  expect({ written, refused }).toEqual({ written: 4, refused: 3 });
  await expect(owner.get(200, '/api/doc-store/collections/c/docs/old')).resolves.toMatchObject({
    value: 3,
    version: 3,
  });
  expect(await entries()).toBe(before + 4);
});

test('all or nothing: one conflict takes back everything, its trail and its collections included', async () => {
  const owner = app.as(app.owner);
  await owner.post(201, '/api/doc-store/collections/atomic/docs/old', { value: 1 });
  const before = await entries();
  const documents = [
    { collection: 'atomic', key: 'new', value: 1 },
    { collection: 'atomic-new', key: 'new', value: 1 },
    { collection: 'atomic', key: 'old', value: 2 },
  ];
  const problem = await owner.post(409, BULK, { documents, atomic: true });
  expect(problem).toMatchObject({
    code: 'version_conflict',
    results: [{ key: 'old', status: 409, error: { currentVersion: 1 } }],
  });
  await owner.post(400, BULK, {
    documents: [documents[0], { collection: 'atomic', key: '..', value: 1 }],
    atomic: true,
  });
  await owner.get(404, '/api/doc-store/collections/atomic/docs/new');
  await owner.get(404, '/api/doc-store/collections/atomic-new');
  expect(await entries()).toBe(before);
  await expect(owner.post(200, BULK, { documents: documents.slice(0, 2), atomic: true })).resolves.toMatchObject({
    written: 2,
    refused: 0,
  });
});

test('batches that meet in many documents do not wait for each other in a circle', async () => {
  const owner = app.as(app.owner);
  const keys = Array.from({ length: 50 }, (_, n) => `k${n}`);
  const write = (order: string[], version?: number) =>
    owner.post(200, BULK, {
      documents: order.map((key) => ({ collection: 'circle', key, value: key, ...(version && { version }) })),
    });
  await write(keys);
  const answers = await Promise.all(Array.from({ length: 6 }, (_, n) => write(n % 2 ? keys : keys.toReversed(), 1)));
  expect(answers.reduce((sum, { written }) => sum + written, 0)).toBe(50);
});

test.each([
  ['no documents', { documents: [] }],
  ['too many', { documents: Array.from({ length: 1_001 }, () => ({ collection: 'c', key: 'k', value: 1 })) }],
  ['no value', { documents: [{ collection: 'c', key: 'k' }] }],
  ['an unknown member', { documents: [{ collection: 'c', key: 'k', value: 1, colour: 'red' }] }],
])('%s is refused whole', async (_, body) => {
  await app.as(app.owner).post(400, BULK, body);
});
