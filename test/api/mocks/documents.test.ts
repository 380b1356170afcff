import { storedZip } from '../../../domain/kernel/shared/stored-zip.ts';
import { type TestApp, testApp } from '../../support/app.ts';
import type { Json } from '../../support/client.ts';
import { idleEngine } from '../../support/launch.ts';
import { mockStage, step } from '../../support/mocks.ts';

let app: TestApp;
beforeAll(async () => {
  app = await testApp({ launch: idleEngine });
});
afterAll(() => app.close());

const text = async (at: string): Promise<string> => {
  const { headers, text: sent } = await app.as(app.member).request(200, 'GET', at);
  expect(headers.get('content-type')).toBe('application/yaml; charset=utf-8');
  return sent;
};

test('an export, imported under another name, is exported as the same bytes', async () => {
  const { made, root, path, member } = mockStage(app);
  await made({
    name: 'first/release',
    description: 'Nightly: "all"',
    mode: 'strict',
    seed: 5,
    record: false,
    unmatched: { status: 418, body: { b: 1, a: 2 } },
    steps: [
      step('GET', '/a/{id}', { z: 1, a: [null, 1.5, 'yes'] }, { times: 1 }),
      {
        request: {
          query: { b: 'x', a: { regex: '^y' } },
          body: { zz: 1, a: { gt: 3 } },
          checks: [{ of: 'body', is: { jsonPath: '$.a' } }],
          requires: { s: 'open' },
        },
        response: { status: 503, bodyBase64: 'AAECAw==', delayMs: { min: 1, max: 9 }, fault: { kind: 'reset' } },
      },
      { response: { body: 'a: b\r\n - c\t\n', headers: { b: '1', a: ['2', '3'] }, sets: { s: '1' }, template: true } },
    ],
  });
  const exported = await text(path('first/release', '/export.yaml'));
  expect(exported).toMatch(/^format: quayside-mock\/1\n/);
  const { scenario, notTaken } = await member.post(201, `${root}/import`, {
    name: 'second',
    format: 'yaml',
    content: exported,
  });
  expect(notTaken).toEqual([]);
  expect(scenario).toMatchObject({ name: 'second', status: 'idle', mode: 'strict', seed: 5, stepCount: 3 });
  expect(await text(path('second', '/export.yaml'))).toBe(exported);
  const [a, b] = [await member.get(200, path('first/release')), await member.get(200, path('second'))];
  expect(b.steps).toEqual(a.steps);
});

test('an empty scenario is exported and imported, too', async () => {
  const { made, root, path, member } = mockStage(app);
  await made({ name: 'empty', record: false });
  const content = await text(path('empty', '/export.yaml'));
  await member.post(201, `${root}/import`, { name: 'copy', format: 'yaml', content });
  expect(await text(path('copy', '/export.yaml'))).toBe(content);
  await expect(member.post(409, `${root}/import`, { name: 'copy', format: 'yaml', content })).resolves.toMatchObject({
    code: 'already_exists',
  });
  await member.get(404, path('none', '/export.yaml'));
});

test('an imported archive answers without its secrets, and says what it does not have', async () => {
  const { root, path, member, use, get } = mockStage(app);
  const exchange = (url: string, more: object = {}) => ({
    request: { method: 'GET', url, headers: [{ name: 'Authorization', value: 'Bearer SECRET-token' }] },
    response: {
      status: 200,
      headers: [],
      content: { mimeType: 'application/json', text: '{"access_token":"SECRET-token"}' },
    },
    ...more,
  });
  const content = JSON.stringify({
    log: {
      version: '1.2',
      entries: [
        exchange('http://10.0.0.1/a?sid=SECRET-token'),
        exchange('http://10.0.0.1/a'),
        exchange('https://cdn.example.com/x'),
      ],
    },
  });
  const { scenario, notTaken } = await member.post(201, `${root}/import`, { name: 'har', format: 'har', content });
  expect(scenario).toMatchObject({ stepCount: 2, upstream: null, mode: 'perEndpoint' });
  expect(notTaken).toEqual([
    { pointer: '/log/entries/2/request/url', reason: expect.stringContaining('https://cdn.example.com') },
    { pointer: '', reason: expect.stringContaining('is not taken as upstream') },
  ]);
  use(scenario.baseUrl);
  await member.post(200, path('har', '/arm'));
  const { json } = await get('/a');
  expect(json.access_token).toMatch(/^stand-in-[\da-f]{32}$/);
  expect(await text(path('har', '/export.yaml'))).not.toContain('SECRET');
});

test('mappings of WireMock and descriptions of OpenAPI answer', async () => {
  const { root, path, member, use, get } = mockStage(app);
  const mappings = [
    { request: { url: '/a' }, response: { jsonBody: { a: 1 } } },
    { request: { url: '/b', headers: { x: { matches: '(?!a)' } } }, response: {} },
  ];
  const wiremock = await member.post(201, `${root}/import`, {
    name: 'wm',
    format: 'wiremock',
    content: JSON.stringify({ mappings }),
  });
  expect(wiremock).toMatchObject({
    scenario: { stepCount: 1, mode: 'any' },
    notTaken: [{ pointer: '/mappings/1/request/headers/x/matches' }],
  });
  use(wiremock.scenario.baseUrl);
  await member.post(200, path('wm', '/arm'));
  await expect(get('/a')).resolves.toMatchObject({ json: { a: 1 } });
  await member.post(201, `${root}/import`, {
    name: 'oa',
    format: 'openapi',
    content:
      'openapi: 3.1.0\npaths:\n  /o/{id}:\n    get:\n      responses:\n        "200":\n          description: ok\n          content:\n            application/json:\n              schema: {type: object, properties: {id: {type: string, format: uuid}}}\n',
  });
  await member.post(200, path('oa', '/arm?replace=true'));
  await expect(get('/o/7')).resolves.toMatchObject({ json: { id: '7' } });
});

test('a mock of OpenAPI refuses requests that break the document, repeats what it was sent, and heeds Prefer', async () => {
  const { root, path, member, use, call } = mockStage(app);
  const order = {
    type: 'object',
    required: ['note'],
    properties: { note: { type: 'string' }, id: { type: 'integer' } },
  };
  const json = (schema: object) => ({ description: '', content: { 'application/json': { schema } } });
  const put = {
    parameters: [{ name: 'id', in: 'path', required: true, schema: { type: 'integer' } }],
    requestBody: { required: true, ...json(order) },
    responses: { 200: json(order), 404: json({ type: 'object', properties: { reason: { const: 'gone' } } }) },
  };
  const document = JSON.stringify({ openapi: '3.1.0', paths: { '/orders/{id}': { put } } });
  const asOpenApi = { name: 'oa', format: 'openapi', content: document };
  const { scenario, notTaken } = await member.post(201, `${root}/import`, asOpenApi);
  expect(notTaken).toEqual([]);
  use(scenario.baseUrl);
  await member.post(200, path('oa', '/arm'));
  const sent = (target: string, body: string, prefer?: string) =>
    call('PUT', target, { body, headers: { 'content-type': 'application/json', ...(prefer && { prefer }) } });
  await expect(sent('/orders/7', '{"note": "mine"}')).resolves.toMatchObject({ json: { id: 7, note: 'mine' } });
  const refused = await sent('/orders/7', '{"note": 1}');
  expect(refused).toMatchObject({
    status: 400,
    headers: { 'x-mock-step': '1' },
    json: { code: 'invalid_request', errors: [{ pointer: '#/body/note', detail: 'must be string' }] },
  });
  await expect(sent('/orders/7', '{}', 'code=404')).resolves.toMatchObject({ status: 404, json: { reason: 'gone' } });
  const { items } = await member.get(200, path('oa', '/calls'));
  expect(items.map(({ outcome, seq, status }: Json) => [outcome, seq, status])).toEqual([
    ['matched', 2, 404],
    ['matched', 1, 400],
    ['matched', 1, 200],
  ]);
  await member.post(201, `${root}/import`, { ...asOpenApi, name: 'lenient', validates: false });
  await member.post(200, path('lenient', '/arm?replace=true'));
  await expect(sent('/orders/7', '{"note": 1}')).resolves.toMatchObject({
    status: 200,
    json: { id: 7, note: 'string' },
  });
  const exported = await text(path('oa', '/export.yaml'));
  await member.post(201, `${root}/import`, { name: 'copy', format: 'yaml', content: exported });
  expect(await text(path('copy', '/export.yaml'))).toBe(exported);
});

test('a zip of mappings and files answers with them, and what is no zip is refused', async () => {
  const { root, path, member, use, get } = mockStage(app);
  const files = [
    { path: 'mappings/a.json', content: '{"request": {"url": "/a"}, "response": {"bodyFileName": "a.json"}}' },
    { path: '__files/a.json', content: '{"a": 1}' },
  ];
  const contents = files.map((file) => ({ ...file, content: Buffer.from(file.content) }));
  const zip = (await storedZip(contents)).toString('base64');
  const asZip = { name: 'zip', format: 'wiremock', contentBase64: zip };
  const { scenario, notTaken } = await member.post(201, `${root}/import`, asZip);
  expect(notTaken).toEqual([]);
  use(scenario.baseUrl);
  await member.post(200, path('zip', '/arm'));
  await expect(get('/a')).resolves.toMatchObject({ status: 200, text: '{"a": 1}' });
  const refusals = [
    { ...asZip, contentBase64: 'AAAA' },
    { ...asZip, format: 'har' },
    { ...asZip, content: '{}' },
    { name: 'none', format: 'wiremock' },
  ];
  const problems = await Promise.all(refusals.map((body) => member.post(400, `${root}/import`, body)));
  expect(problems.map(({ errors }) => errors[0].pointer)).toEqual([
    '#/body/contentBase64',
    '#/body/contentBase64',
    '#/body/content',
    '#/body/content',
  ]);
});

test.each([
  ['yaml', 'format: quayside-mock/1\nsteps:\n- response: {}\n  request: {query: {a: {regex: "("}}}\n', 'regex'],
  ['wiremock', 'x', 'not JSON'],
])('%s that cannot be read is refused: %j', async (format, content, detail) => {
  const { root, member } = mockStage(app);
  const problem = await member.post(400, `${root}/import`, { name: 'bad', format, content });
  expect(JSON.stringify(problem)).toContain(detail);
});

test('patterns and templates of other tools that mean nothing here are not taken', async () => {
  const { root, member } = mockStage(app);
  const mapping = { request: { url: '/a' }, response: { body: 'x', transformers: ['response-template'] } };
  const bad = {
    request: { url: '/b' },
    response: { body: '{{request.query.a b}}', transformers: ['response-template'] },
  };
  const { scenario, notTaken } = await member.post(201, `${root}/import`, {
    name: 'templates',
    format: 'wiremock',
    content: JSON.stringify([mapping, bad]),
  });
  expect(scenario.stepCount).toBe(1);
  expect(notTaken).toHaveLength(1);
});
