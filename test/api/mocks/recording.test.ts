import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { gzipSync } from 'node:zlib';
import { type TestApp, testApp } from '../../support/app.ts';
import { idleEngine } from '../../support/launch.ts';
import { mockStage } from '../../support/mocks.ts';

let app: TestApp;
let upstream: Server;
let url: string;
const asked: { method: string; url: string; headers: IncomingMessage['headers'] }[] = [];

beforeAll(async () => {
  app = await testApp({ launch: idleEngine });
  upstream = createServer((request, response) => {
    asked.push({ method: request.method ?? '', url: request.url ?? '', headers: request.headers });
    request.resume();
    answer(request.url ?? '', response);
  });
  await new Promise<void>((resolve) => upstream.listen(0, '127.0.0.1', resolve));
  url = `http://127.0.0.1:${(upstream.address() as AddressInfo).port}/base`;
});
afterAll(async () => {
  upstream.close();
  upstream.closeAllConnections();
  await app.close();
});

function answer(target: string, response: ServerResponse): void {
  const path = target.replace(/^\/base/, '').split('?')[0];
  const json = (value: unknown) => response.setHeader('content-type', 'application/json').end(JSON.stringify(value));
  switch (path) {
    case '/token':
      response.setHeader('set-cookie', ['sid=SECRET-cookie; Path=/base; HttpOnly', 'theme=SECRET-dark']);
      return void json({ access_token: 'SECRET-access', refresh_token: 'SECRET-refresh', instance_url: url });
    case '/me':
      return void json({ id: 7, note: 'of SECRET-access', next: `${url}/me?page=2` });
    case '/moved':
      return void response.writeHead(302, { location: `${url}/secret?sid=SECRET-access` }).end();
    case '/broken':
      return void response
        .writeHead(200, { 'content-type': 'text/plain', 'content-encoding': 'gzip' })
        .end(gzipSync('{"a":1}').subarray(0, 12));
    case '/packed':
      return void response
        .writeHead(200, { 'content-type': 'application/json', 'content-encoding': 'gzip' })
        .end(gzipSync('{"a":1}'));
    case '/bytes':
      return void response.writeHead(200, { 'content-type': 'text/plain' }).end(Buffer.from([0xff, 0xfe, 0x41]));
    case '/large':
      return void response.writeHead(200, { 'content-type': 'text/plain' }).end('x'.repeat(6 * 1024 * 1024));
    case undefined:
    default:
      return void response.writeHead(404).end('nothing');
  }
}

const json = { 'content-type': 'application/json' };
const form = { 'content-type': 'application/x-www-form-urlencoded' };

test('records a client as the next steps, with stand-ins for its secrets, and replays them', async () => {
  const { made, call, get, member, path, mockPath } = mockStage(app);
  const { baseUrl } = await made({ name: 'rec', upstream: url });
  const credentials = 'grant_type=refresh_token&refresh_token=SECRET-refresh';
  const signedIn = await call('POST', '/token?client_secret=SECRET-client', { headers: form, body: credentials });
  expect(signedIn.json).toMatchObject({ access_token: 'SECRET-access', instance_url: baseUrl });
  const me = await get('/me?page=1', {
    headers: { authorization: 'Bearer SECRET-access', cookie: 'sid=SECRET-cookie' },
  });
  expect(me.json).toMatchObject({ id: 7, next: `${baseUrl}/me?page=2` });
  expect(me.headers).toMatchObject({ 'x-mock-scenario': 'rec', 'x-mock-step': '2' });
  const askedMe = asked.find(({ url: at }) => at === '/base/me?page=1');
  expect(askedMe?.headers.authorization).toBe('Bearer SECRET-access');

  await expect(member.post(200, path('rec', '/stop'))).resolves.toMatchObject({ status: 'stopped', stepCount: 2 });
  const scenario = await member.get(200, path('rec'));
  expect(JSON.stringify(scenario)).not.toContain('SECRET');
  expect(scenario.steps).toMatchObject([
    { seq: 1, times: 1, request: { method: 'POST', path: '/token', body: { grant_type: 'refresh_token' } } },
    { seq: 2, times: 1, request: { method: 'GET', path: '/me', query: { page: '1' } }, response: { status: 200 } },
  ]);
  const standIn = scenario.steps[0].response.body.access_token;
  expect(standIn).toMatch(/^stand-in-/);
  expect(scenario.steps[1].response.body.note).toBe(`of ${standIn}`);
  const calls = await member.get(200, path('rec', '/calls'));
  expect(calls).toMatchObject({ total: 2, items: [{ outcome: 'recorded', seq: 2, path: '/me' }, { seq: 1 }] });
  expect(JSON.stringify(calls)).not.toContain('SECRET');

  const before = asked.length;
  await member.post(200, path('rec', '/arm'));
  const again = await call('POST', '/token', { headers: form, body: 'grant_type=refresh_token&refresh_token=another' });
  expect(again.json.access_token).toBe(standIn);
  expect(again.headers['set-cookie']?.[0]).toContain(`Path=${mockPath()}/base`);
  const replayed = await get('/me?page=1', { headers: { authorization: `Bearer ${again.json.access_token}` } });
  expect(replayed.json).toEqual({ id: 7, note: `of ${standIn}`, next: `${baseUrl}/me?page=2` });
  expect(asked).toHaveLength(before);
});

test('follows no redirect, and keeps what is no text or broken as bytes', async () => {
  const { made, get, member, path } = mockStage(app);
  await made({ name: 'odd', upstream: url });
  const moved = await get('/moved');
  expect(moved.status).toBe(302);
  const broken = await get('/broken');
  expect(broken.headers['content-encoding']).toBe('gzip');
  await get('/packed');
  await get('/bytes');
  const large = await get('/large');
  expect(large.bytes.length).toBe(6 * 1024 * 1024);
  expect(large.headers['x-mock-step']).toBeUndefined();
  expect(asked.some(({ url: at }) => at.startsWith('/base/secret'))).toBe(false);
  await member.post(200, path('odd', '/stop'));
  const { steps } = await member.get(200, path('odd'));
  expect(JSON.stringify(steps)).not.toContain('SECRET');
  expect(steps.map(({ response }: { response: object }) => response)).toMatchObject([
    { status: 302 },
    { status: 200, bodyBase64: gzipSync('{"a":1}').subarray(0, 12).toString('base64') },
    { status: 200, body: { a: 1 } },
    { status: 200, bodyBase64: '//5B' },
  ]);
  await member.post(200, path('odd', '/arm'));
  const replayed = await get('/broken');
  expect(replayed.bytes.equals(broken.bytes)).toBe(true);
  expect(replayed.headers['content-encoding']).toBe('gzip');
});

test('without an upstream notes the call as a step of which the response can be put', async () => {
  const { made, call, member, path } = mockStage(app);
  await made({ name: 'draft' });
  const noted = await call('POST', '/orders', { headers: json, body: '{"id": 3}' });
  expect(noted).toMatchObject({ status: 501, json: { code: 'not_implemented' }, headers: { 'x-mock-step': '1' } });
  await member.put(200, path('draft', '/steps/1'), { response: { status: 201, body: { ok: true } } });
  await member.post(200, path('draft', '/stop'));
  await member.post(200, path('draft', '/arm'));
  await expect(call('POST', '/orders', { headers: json, body: '{"id": 4}' })).resolves.toMatchObject({ status: 404 });
  await expect(call('POST', '/orders', { headers: json, body: '{"id": 3}' })).resolves.toMatchObject({
    status: 201,
    json: { ok: true },
  });
});

test('an upstream that is away is 502, and makes no step; one at a refused address cannot be given', async () => {
  const { made, get, member, path, root } = mockStage(app);
  await made({ name: 'away', upstream: 'http://127.0.0.1:9' });
  await expect(get('/a')).resolves.toMatchObject({ status: 502, json: { code: 'upstream_error' } });
  const { steps } = await member.get(200, path('away'));
  expect(steps).toEqual([]);
  await member.post(200, path('away', '/stop'));
  for (const at of ['http://169.254.169.254/', 'http://10.0.0.1', 'file:///etc/passwd', 'http://user:pw@example.com'])
    await member.post(400, root, { name: 'inner', upstream: at });
});

test('parallel calls each become a step of their own', async () => {
  const { made, get, member, path } = mockStage(app);
  await made({ name: 'many', upstream: url });
  const replies = await Promise.all(Array.from({ length: 20 }, (_, index) => get(`/me?page=${index}`)));
  expect(new Set(replies.map(({ headers }) => headers['x-mock-step'])).size).toBe(20);
  const { steps } = await member.get(200, path('many'));
  expect(steps.map(({ seq }: { seq: number }) => seq)).toEqual(Array.from({ length: 20 }, (_, index) => index + 1));
});

test('records again from the beginning, unless something else is active', async () => {
  const { made, get, member, path, root } = mockStage(app);
  await made({ name: 'twice', upstream: url });
  await get('/me');
  await expect(member.post(409, path('twice', '/record'))).resolves.toMatchObject({ code: 'invalid_transition' });
  await member.post(200, path('twice', '/stop'));
  await member.post(201, root, { name: 'other' });
  await expect(member.post(409, path('twice', '/record'))).resolves.toMatchObject({ code: 'locked' });
  await member.post(200, path('other', '/stop'));
  await expect(member.post(200, path('twice', '/record'))).resolves.toMatchObject({
    status: 'recording',
    stepCount: 0,
    calls: { matched: 0, unmatched: 0 },
  });
  await get('/me');
  await expect(member.get(200, path('twice'))).resolves.toMatchObject({
    steps: [{ seq: 1, request: { path: '/me' } }],
  });
  await member.post(404, path('none', '/record'));
});
