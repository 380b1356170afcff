import { createConnection } from 'node:net';
import { type TestApp, testApp } from '../../support/app.ts';

let app: TestApp;
beforeAll(async () => {
  app = await testApp();
});
afterAll(() => app.close());

const project = { identifier: 'acme/shop', platform: 'host-a' };
const many = <T>(make: (n: number) => T): T[] => Array.from({ length: 50_001 }, (_, n) => make(n));
const send = (rawBody: string | Uint8Array, headers: Record<string, string> = {}) =>
  app.as(app.owner).send('POST', '/api/projects', { rawBody, headers });

test.each<[string, string | Uint8Array, Record<string, string>, number, string]>([
  ['malformed JSON', '{"identifier":', {}, 400, '#/body'],
  ['no JSON at all', 'identifier=acme', {}, 400, '#/body'],
  ['another media type', 'a=1', { 'content-type': 'application/x-www-form-urlencoded' }, 415, ''],
  ['a compressed body', 'x', { 'content-encoding': 'gzip' }, 415, ''],
  ['text that is not UTF-8', new Uint8Array([0x22, 0xff, 0xfe, 0x22]), {}, 400, '#/body'],
  ['an unknown field', JSON.stringify({ ...project, colour: 'red' }), {}, 400, '#/body/colour'],
  [
    'an unknown nested field',
    JSON.stringify({ ...project, configuration: { 'a/b': 1 } }),
    {},
    400,
    '#/body/configuration/a~1b',
  ],
  [
    'U+0000',
    '{"identifier":"acme/shop","platform":"host-a","defaultBranch":"a\\u0000b"}',
    {},
    400,
    '#/body/defaultBranch',
  ],
  [
    'half a surrogate pair',
    '{"identifier":"acme/shop","platform":"host-a","defaultBranch":"\\ud800"}',
    {},
    400,
    '#/body/defaultBranch',
  ],
  ['U+0000 in a name of a member', '{"a\\u0000b":1}', {}, 400, '#/body/ab'],
  [
    'an over-long string',
    JSON.stringify({ ...project, defaultBranch: 'x'.repeat(10_000) }),
    {},
    400,
    '#/body/defaultBranch',
  ],
  ['a wrong type', JSON.stringify({ ...project, configuration: [] }), {}, 400, '#/body/configuration'],
  ['an array', '[]', {}, 400, '#/body'],
  ['__proto__', '{"identifier":"acme/shop","platform":"host-a","__proto__":{"x":1}}', {}, 400, '#/body/__proto__'],
  ['nesting of 10,000 levels', '['.repeat(10_000) + ']'.repeat(10_000), {}, 400, '#/body'],
  ['nesting of 101 levels', '['.repeat(101) + ']'.repeat(101), {}, 400, '#/body'],
  ['more than 50,000 members', JSON.stringify(Object.fromEntries(many((n) => [`k${n}`, n]))), {}, 400, '#/body'],
  ['more than 50,000 elements', JSON.stringify({ identifier: many(() => 0) }), {}, 400, '#/body'],
  ['one name more than 50,000 times', `{${many(() => '"a":1').join(',')}}`, {}, 400, '#/body'],
  ['UTF-16', Buffer.from('{}', 'utf16le'), { 'content-type': 'application/json; charset=utf-16' }, 415, ''],
  ['UTF-16 that is not declared', Buffer.from('\ufeff{}', 'utf16le'), {}, 400, '#/body'],
  ['Latin-1', '{}', { 'content-type': 'application/json;charset="iso-8859-1"' }, 415, ''],
  ['several encodings', 'x', { 'content-encoding': 'gzip, identity' }, 415, ''],
  ['an unknown encoding', '{}', { 'content-encoding': 'br' }, 415, ''],
  ['a media type that begins like JSON', '{}', { 'content-type': 'application/jsonp' }, 415, ''],
  ['6 MB', JSON.stringify({ ...project, defaultBranch: 'x'.repeat(6 * 1024 * 1024) }), {}, 413, ''],
])('%s is refused with a problem that points at it', async (_, body, headers, status, pointer) => {
  const answer = await send(body, headers);
  expect(answer.status).toBe(status);
  expect(answer.headers.get('content-type')).toBe('application/problem+json');
  expect(answer.body).toMatchObject({ status, instance: '/api/projects', requestId: expect.any(String) });
  if (pointer) expect(answer.body.errors[0].pointer).toBe(pointer);
});

test('ten invalid fields are shown, and a thousand counted', async () => {
  const unknown = (count: number) => JSON.stringify(Object.fromEntries(many((n) => [`k${n}`, n]).slice(0, count)));
  const of = async (count: number) => {
    const { body } = await send(unknown(count));
    return { shown: body.errors.length, more: body.moreErrors };
  };
  // Two required fields are missing, too.
  await expect(of(8)).resolves.toEqual({ shown: 10, more: undefined });
  await expect(of(9)).resolves.toEqual({ shown: 10, more: 1 });
  await expect(of(40_000)).resolves.toEqual({ shown: 10, more: 990 });
});

const entries = (count: number, value: unknown) =>
  Object.fromEntries(Array.from({ length: count }, (_, n) => [`k${n}`, value]));
const pool = { repositoryIdentifier: 'acme/shop', tag: 'review', type: 'SANDBOX' };
const candidate = { repositoryIdentifier: 'acme/shop', domain: 'core', releaseName: 'r1', commitSha: 'abcdef0' };
const report = { ...candidate, commitSha: undefined, environmentName: 'uat', deploymentStatus: 'Success' };

test.each<[string, string, (given: unknown) => object, string]>([
  [
    'POST',
    '/api/environments',
    (metadata) => ({ repositoryIdentifier: 'acme/shop', name: 'uat', category: 'test', metadata }),
    'metadata',
  ],
  [
    'POST',
    '/api/projects',
    (metricsAlertConfig) => ({ ...project, configuration: { metricsAlertConfig } }),
    'configuration/metricsAlertConfig',
  ],
  ['POST', '/api/review/pools', (definition) => ({ ...pool, definition }), 'definition'],
  ['POST', '/api/release-candidates/release-event', (metadata) => ({ ...report, metadata }), 'metadata'],
  ['POST', '/api/release-candidates/release-event', (approval) => ({ ...report, approval }), 'approval'],
  ['POST', '/api/release-candidates', (inner) => ({ ...candidate, value: { metadata: [inner, inner] } }), 'value'],
  [
    'POST',
    '/api/doc-store/collections/query',
    (value) => ({ pathPattern: 'a', filters: [{ field: 'a', operator: 'eq', value }] }),
    'filters',
  ],
])('%s %s takes no open value of any size', async (method, path, bodyOf, place) => {
  for (const given of [entries(10_001, 1), { nested: [entries(10_001, null)] }, { text: 'x'.repeat(1_000_001) }]) {
    const { body } = await app.as(app.owner).request(400, method, path, { body: bodyOf(given) });
    expect(body.errors).toEqual([
      {
        pointer: `#/body/${place}`,
        detail: expect.stringMatching(/^holds more than [\d,]+ members and elements, or /),
      },
    ]);
  }
});

test('a name in a pointer is cut', async () => {
  const { body, text } = await send(`{"${'n'.repeat(1_000_000)}":1}`);
  expect(text.length).toBeLessThan(2_000);
  expect(body.errors.at(-1).pointer).toMatch(/^#\/body\/n{200}…$/);
});

test('UTF-8 may be named as the charset, and identity as the encoding', async () => {
  for (const headers of [
    { 'content-type': 'application/json; charset=UTF-8' },
    { 'content-type': 'application/merge-patch+json ; charset="utf-8"', 'content-encoding': 'identity' },
  ])
    expect(await send('{}', headers)).toMatchObject({ status: 400, body: { code: 'invalid_request' } });
});

test('nothing was written by what was refused', async () => {
  await expect(app.as(app.owner).get(200, '/api/projects')).resolves.toMatchObject({ items: [], total: 0 });
});

test.each([
  ['/api/projects?limit=0', '#/query/limit'],
  ['/api/projects?limit=1e2', '#/query/limit'],
  ['/api/projects?limit=5&limit=6', '#/query/limit'],
  ['/api/projects?offset=-1', '#/query/offset'],
  ['/api/projects?colour=red', '#/query/colour'],
  ['/api/environments?limit=501', '#/query/limit'],
  ['/api/environments?repositoryIdentifier=a%00%2Fb', '#/query/repositoryIdentifier'],
  ['/api/environments?repositoryIdentifier=no/such', '#/query/repositoryIdentifier'],
])('%s is a 400 that points at %s', async (path, pointer) => {
  const problem = await app.as(app.owner).get(400, path);
  expect(problem.errors[0].pointer).toBe(pointer);
});

test.each([
  '/api/projects/acme',
  '/api/projects/a%00%2Fb',
  '/api/projects/%zz',
  '/api/projects/acme%2Fshop%2Fa%2Fb',
  '/api/environments/42',
  '/api/environments/not-an-id%2F..',
  '/api/nothing',
  '/nothing',
])('%s names nothing', async (path) => {
  await app.as(app.owner).get(404, path);
});

test('a method that is not served is answered with those that are', async () => {
  const answer = await app.as(app.owner).request(405, 'PUT', '/api/projects');
  expect(answer.headers.get('allow')?.split(', ').toSorted()).toEqual(['GET', 'HEAD', 'POST']);
});

test('a request id of the client is kept when it is one, and replaced when it is not', async () => {
  const kept = await app.as(app.owner).request(200, 'GET', '/api/users/me', { headers: { 'x-request-id': 'my.id-1' } });
  expect(kept.headers.get('x-request-id')).toBe('my.id-1');
  const replaced = await app
    .as(app.owner)
    .request(200, 'GET', '/api/users/me', { headers: { 'x-request-id': 'a b<c>' } });
  expect(replaced.headers.get('x-request-id')).toMatch(/^[0-9a-f-]{36}$/);
});

test('a body that breaks off is refused and leaves the service well', async () => {
  const { port } = new URL(app.url);
  const socket = createConnection(Number(port), '127.0.0.1');
  socket.write(
    `POST /api/projects HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${app.owner.token}\r\ncontent-type: application/json\r\ncontent-length: 500\r\n\r\n{"id`,
  );
  // When another request is answered, this one has arrived as well.
  await app.as(app.owner).get(200, '/api/projects');
  socket.destroy();
  await app.as(app.owner).get(200, '/api/projects');
});

test.each([
  ['PUT', '/api/users/me', 'GET, HEAD'],
  ['DELETE', '/api/webhooks/event-catalog', 'GET, HEAD'],
  ['GET', '/api/webhooks/trigger', 'POST'],
  ['GET', '/api/release-candidates/find', 'POST'],
  ['DELETE', '/api/release-candidates/domains', 'GET, HEAD'],
  ['GET', '/api/release-candidates/status-by-name', 'PATCH'],
  ['GET', '/api/users/refresh-provider-token', 'POST'],
  // A collection may have this name.
  ['PATCH', '/api/doc-store/collections/query', 'DELETE, GET, HEAD, POST'],
  ['PATCH', '/api/doc-store/collections/other', 'DELETE, GET, HEAD'],
  ['PATCH', '/api/users/a%40example.com', 'GET, HEAD, PUT'],
  ['POST', '/healthz', 'GET, HEAD'],
  ['OPTIONS', '/api/projects', 'GET, HEAD, POST'],
])('%s %s is 405 with the methods of that path', async (method, path, methods) => {
  for (const caller of [app.as(app.owner), app.as()]) {
    const { headers } = await caller.request(405, method, path);
    expect(headers.get('allow')?.split(', ').toSorted().join(', ')).toBe(methods);
  }
});

test.each([
  ['GET', '/api/webhooks/nothing'],
  ['DELETE', '/api/release-candidates/nothing'],
  ['PUT', '/api/users/nobody'],
  ['GET', '/api/doc-store/collections/query'],
])('%s %s is 404', (method, path) =>
  app.as(app.owner).request(404, method, path, method === 'PUT' ? { body: {} } : {}),
);

test('the standard time-outs', () => {
  expect(app.server).toMatchObject({ headersTimeout: 10_000, requestTimeout: 60_000, keepAliveTimeout: 65_000 });
});

test('the port of the API says where the metrics of processes are', async () => {
  const { detail } = await app.as().get(404, '/metrics');
  expect(detail).toContain('METRICS_PORT');
});
