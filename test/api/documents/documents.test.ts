import { type TestApp, testApp } from '../../support/app.ts';

let app: TestApp;
beforeAll(async () => {
  app = await testApp({ env: { DOCUMENT_VERSIONS: 'packages=2' } });
});
afterAll(() => app.close());

const at = (collection: string, key: string, rest = '') =>
  `/api/doc-store/collections/${encodeURIComponent(collection)}/docs/${encodeURIComponent(key)}${rest}`;

test('a document is created with its collection, read, updated with its version, and deleted', async () => {
  const owner = app.as(app.owner);
  const path = at('a/b/c', 'first');
  const value = { name: 'x', nested: { list: [1, null, 'ä\u{1F600}'] } };
  const created = await owner.request(201, 'POST', path, { body: { value } });
  expect(created.headers.get('etag')).toBe('"1"');
  expect(created.body).toEqual({
    collection: 'a/b/c',
    key: 'first',
    value,
    version: 1,
    createdAt: expect.any(String),
    updatedAt: created.body.createdAt,
  });
  await expect(owner.get(200, path)).resolves.toEqual(created.body);

  const updated = await app.as(app.member).request(200, 'POST', path, { body: { value: 'other', version: 1 } });
  expect(updated.body).toMatchObject({ value: 'other', version: 2, createdAt: created.body.createdAt });
  await expect(owner.get(200, `${path}/version`)).resolves.toEqual({ version: 2 });
  await expect(owner.get(200, '/api/doc-store/collections')).resolves.toContainEqual({
    id: expect.any(String),
    name: 'a/b/c',
  });

  await app.as(app.member).delete(403, path);
  await app.as(app.application).delete(204, path);
  await owner.get(404, path);
  await owner.get(404, `${path}/version`);
  await expect(owner.get(200, '/api/doc-store/collections/a%2Fb%2Fc/docs')).resolves.toEqual([]);
});

test.each<[string, object, Record<string, string>, number, string]>([
  ['no version', {}, {}, 409, 'version_conflict'],
  ['a stale version', { version: 1 }, {}, 409, 'version_conflict'],
  ['a future version', { version: 3 }, {}, 409, 'version_conflict'],
  ['a stale If-Match', {}, { 'if-match': '"1"' }, 412, 'precondition_failed'],
  ['a stale If-Match beside the current version', { version: 2 }, { 'if-match': '"1"' }, 412, 'precondition_failed'],
  ['the current If-Match beside a stale version', { version: 1 }, { 'if-match': '"2"' }, 409, 'version_conflict'],
  ['If-None-Match', {}, { 'if-none-match': '*' }, 412, 'precondition_failed'],
  ['If-None-Match beside the current version', { version: 2 }, { 'if-none-match': '*' }, 412, 'precondition_failed'],
  ['a weak If-Match', {}, { 'if-match': 'W/"2"' }, 400, 'invalid_request'],
  ['the current version', { version: 2 }, {}, 200, ''],
  ['the current If-Match', {}, { 'if-match': '"2"' }, 200, ''],
])('on a document of version 2, a write with %s', async (_, body, headers, status, code) => {
  const owner = app.as(app.owner);
  const path = at('conditions', `document ${Math.random()}`);
  await owner.post(201, path, { value: 1 });
  await owner.post(200, path, { value: 2, version: 1 });
  const answer = await owner.request(status, 'POST', path, { body: { value: 3, ...body }, headers });
  if (code) expect(answer.body.code).toBe(code);
  if (status === 409 || status === 412) expect(answer.body.currentVersion).toBe(2);
  await expect(owner.get(200, path)).resolves.toMatchObject(
    status === 200 ? { value: 3, version: 3 } : { value: 2, version: 2 },
  );
});

test('where there is no document, a version is a conflict, If-Match fails, and If-None-Match creates', async () => {
  const owner = app.as(app.owner);
  const path = at('conditions', 'absent');
  expect((await owner.post(409, path, { value: 1, version: 1 })).currentVersion).toBeNull();
  await owner.post(412, path, { value: 1 }, { 'if-match': '"1"' });
  await owner.post(201, path, { value: 1 }, { 'if-none-match': '*' });
  await owner.request(412, 'DELETE', path, { headers: { 'if-match': '"2"' } });
  await owner.request(204, 'DELETE', path, { headers: { 'if-match': '"1"' } });
});

test('a reader that has the current version is told so', async () => {
  const owner = app.as(app.owner);
  const path = at('etags', 'a');
  await owner.post(201, path, { value: 1 });
  const { text, headers } = await owner.request(304, 'GET', path, { headers: { 'if-none-match': '"1"' } });
  expect([text, headers.get('etag')]).toEqual(['', '"1"']);
  await owner.request(200, 'GET', path, { headers: { 'if-none-match': '"2"' } });
});

test('of a hundred that create the same document at once, one does', async () => {
  const path = at('races', 'created');
  const answers = await Promise.all(
    Array.from({ length: 100 }, (_, n) => app.as(app.owner).send('POST', path, { body: { value: n } })),
  );
  expect(answers.map(({ status }) => status).toSorted()).toEqual([201, ...Array(99).fill(409)]);
});

test('sixteen writers of one document lose no update', async () => {
  const path = at('races', 'counter');
  const owner = app.as(app.owner);
  await owner.post(201, path, { value: 0 });
  const increments = process.env.DEEP_TESTS ? 5 : 2;
  const increment = async (): Promise<void> => {
    const { value, version } = await owner.get(200, path);
    const { status } = await owner.send('POST', path, { body: { value: value + 1, version } });
    if (status === 409) return increment();
    expect(status).toBe(200);
  };
  await Promise.all(
    Array.from({ length: 16 }, async () => {
      for (let n = 0; n < increments; n++) await increment();
    }),
  );
  await expect(owner.get(200, path)).resolves.toMatchObject({ value: 16 * increments, version: 16 * increments + 1 });
});

test('the stores are apart, and a store keeps as many earlier versions as it is set to', async () => {
  const owner = app.as(app.owner);
  const path = at('stores', 'a');
  await owner.post(201, path, { value: 'doc' });
  await owner.get(404, `${path}?store=packages`);
  await owner.get(400, `${path}?store=other`);
  for (const version of [undefined, 1, 2, 3])
    await owner.post(version ? 200 : 201, `${path}?store=packages`, { value: version ?? 0, version });
  await owner.post(200, path, { value: 'doc 2', version: 1 });
  await expect(owner.get(200, `${path}/history`)).resolves.toEqual([]);
  const history = await owner.get(200, `${path}/history?store=packages`);
  expect(history).toEqual([
    { version: 3, value: 2, updatedAt: expect.stringMatching(/Z$/), updatedBy: app.owner.email },
    { version: 2, value: 1, updatedAt: expect.any(String), updatedBy: app.owner.email },
  ]);
  const first = await owner.request(200, 'GET', `${path}/history?store=packages&limit=1`);
  expect(first.headers.get('link')).toBe(`<${path}/history?store=packages&limit=1&before=3>; rel="next"`);
  await owner.get(404, at('stores', 'b', '/history'));
});

test('a collection is made once, streamed whole, and deleted by an owner with all of its stores', async () => {
  const owner = app.as(app.owner);
  const collection = await owner.post(201, '/api/doc-store/collections', { name: 'whole' });
  await owner.post(409, '/api/doc-store/collections', { name: 'whole' });
  await expect(owner.get(200, '/api/doc-store/collections/whole')).resolves.toEqual({ ...collection, documents: [] });
  const documents = Array.from({ length: 1_000 }, (_, n) => ({
    collection: 'whole',
    key: String(n).padStart(4, '0'),
    value: { n, text: 'x'.repeat(2_000) },
  }));
  await owner.post(200, '/api/doc-store/bulk', { documents });
  await owner.post(201, at('whole', 'z', '?store=builds'), { value: 1 });
  const whole = await owner.get(200, '/api/doc-store/collections/whole');
  expect(whole.documents.map(({ key, version, value }: Record<string, unknown>) => ({ key, version, value }))).toEqual(
    documents.map(({ key, value }) => ({ key, version: 1, value })),
  );
  expect(whole.documents[0].createdAt).toBe((await owner.get(200, at('whole', '0000'))).createdAt);

  const page = await owner.request(200, 'GET', '/api/doc-store/collections/whole/docs?limit=2&after=0500');
  expect(page.body).toEqual([
    { key: '0501', version: 1 },
    { key: '0502', version: 1 },
  ]);
  expect(page.headers.get('link')).toBe('</api/doc-store/collections/whole/docs?limit=2&after=0502>; rel="next"');

  await app.as(app.application).delete(403, '/api/doc-store/collections/whole');
  await owner.delete(204, '/api/doc-store/collections/whole');
  await owner.get(404, '/api/doc-store/collections/whole');
  await owner.get(404, '/api/doc-store/collections/whole/docs');
  await owner.get(404, at('whole', 'z', '?store=builds'));
});

test('each change stands in the audit trail and is announced', async () => {
  const owner = app.as(app.owner);
  const path = at('told', 'a');
  const hooks = await Promise.all(
    ['created', 'updated', 'deleted'].map((verb) =>
      owner.post(201, '/api/webhooks', {
        name: verb,
        event: `document.${verb}`,
        config: { url: 'http://127.0.0.1:9/' },
      }),
    ),
  );
  await owner.post(201, path, { value: 1 });
  await owner.post(409, path, { value: 2 });
  await owner.post(200, path, { value: 2, version: 1 });
  await owner.delete(204, path);
  await owner.post(201, path, { value: 3 });
  await owner.delete(204, '/api/doc-store/collections/told');
  const trail = await app.sql(
    `select action, before, after from audit_entry where entity_id in ('told/a', 'told') order by sequence`,
  );
  const state = { store: 'doc', collection: 'told', key: 'a' };
  expect(trail).toEqual([
    { action: 'document.created', before: null, after: { ...state, version: 1, sizeBytes: 1 } },
    { action: 'document.updated', before: { ...state, version: 1 }, after: { ...state, version: 2, sizeBytes: 1 } },
    { action: 'document.deleted', before: { ...state, version: 2 }, after: null },
    { action: 'document.created', before: null, after: { ...state, version: 1, sizeBytes: 1 } },
    { action: 'document_collection.deleted', before: { name: 'told', documents: 1 }, after: null },
  ]);
  const sent = await app.sql<{ event: string; payload: object }>(
    `select event, payload from webhook_delivery where webhook_id in (?, ?, ?) order by id`,
    hooks.map(({ id }) => id),
  );
  const data = { ...state, changedBy: app.owner.email };
  expect(sent).toEqual([
    { event: 'document.created', payload: { ...data, version: 1 } },
    { event: 'document.updated', payload: { ...data, version: 2 } },
    { event: 'document.deleted', payload: { ...data, version: 2 } },
    { event: 'document.created', payload: { ...data, version: 1 } },
    { event: 'document.deleted', payload: { ...data, version: 1 } },
  ]);
});
