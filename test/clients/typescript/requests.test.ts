import type { ServerResponse } from 'node:http';
import type * as QuaysideClient from '@quayside/client';
import { clientPackage, type Got, sendJson, smallServer, type SmallServer } from '../../support/clients.ts';

let quayside: typeof QuaysideClient;
let server: SmallServer;
let elsewhere: SmallServer;
let answers: ((response: ServerResponse, got: Got) => void)[];
let waited: number[];
beforeAll(async () => {
  quayside = await clientPackage();
  server = await smallServer((got, response) => {
    const answer = answers.length > 1 ? answers.shift() : answers[0];
    answer?.(response, got);
  });
  elsewhere = await smallServer((_, response) => sendJson(response, 200, {}));
});
afterAll(() => Promise.all([server.close(), elsewhere.close()]));
beforeEach(() => {
  server.got.length = 0;
  elsewhere.got.length = 0;
  waited = [];
});

const client = (token: string | undefined = 'qs_app_1') =>
  quayside.createClient({
    url: server.url,
    ...(token && { token }),
    tenant: 'acme',
    parts: {
      random: () => 1,
      wait: (ms) => {
        waited.push(ms);
        return Promise.resolve();
      },
    },
  });

const ok = (body: unknown) => (response: ServerResponse) => sendJson(response, 200, body);
const lost = (response: ServerResponse) => response.destroy();
const refused =
  (status: number, headers: Record<string, string> = {}) =>
  (response: ServerResponse) =>
    sendJson(response, status, { code: 'unavailable', status, detail: 'later' }, headers);
const lostWithin = (response: ServerResponse) => {
  response.writeHead(200, { 'content-type': 'application/json', 'content-length': '100' });
  response.write('{"items":', () => response.destroy());
};

const project = { identifier: 'acme/shop', platform: 'host-a', remoteUrl: 'https://git.test/shop' } as never;

test('a refusal is a value with a code and pointers', async () => {
  const problem = {
    type: 'urn:quayside:problem:invalid_request',
    title: 'Bad Request',
    status: 400,
    detail: 'wrong',
    instance: '/api/projects',
    code: 'invalid_request',
    requestId: 'r1',
    errors: [{ detail: 'is required', pointer: '#/body/identifier' }],
  };
  answers = [(response) => sendJson(response, 400, problem, { 'content-type': 'application/problem+json' })];
  const { data, error } = await quayside.createProject({ client: client(), body: project });
  expect(data).toBeUndefined();
  expect(error).toEqual(problem);
  await expect(quayside.dataOf(quayside.createProject({ client: client(), body: project }))).rejects.toMatchObject({
    name: 'ProblemError',
    problem,
  });
});

test('a POST with a credential has a key and a tenant, all others none', async () => {
  answers = [ok({})];
  await quayside.createProject({ client: client(), body: project });
  await quayside.createProject({ client: client(), body: project });
  await quayside.updateProject({ client: client(), path: { identifier: 'acme/shop' }, body: {} });
  await quayside.signIn({ client: client(), body: {} as never });
  await quayside.createLiveLink({ client: client(), path: { id: '1' }, body: {} as never });
  const keys = server.got.map(({ headers }) => headers['idempotency-key']);
  expect(keys.slice(0, 2)).toEqual([expect.stringMatching(/^[0-9a-f]{32}$/), expect.stringMatching(/^[0-9a-f]{32}$/)]);
  expect(new Set(keys.slice(0, 2)).size).toBe(2);
  expect(keys.slice(2)).toEqual([undefined, undefined, undefined]);
  expect(server.got.map(({ headers }) => [headers.authorization, headers['x-quayside-tenant']])).toEqual([
    ...Array.from({ length: 3 }, () => ['Bearer qs_app_1', 'acme']),
    [undefined, 'acme'],
    ['Bearer qs_app_1', 'acme'],
  ]);
});

test('429 and 503 are asked again after what the reply says, whatever the method', async () => {
  answers = [refused(429, { 'retry-after': '3' }), refused(503, { 'retry-after': '1' }), ok({ id: '1' })];
  const { data } = await quayside.updateProject({ client: client(), path: { identifier: 'a/b' }, body: {} });
  expect(data).toEqual({ id: '1' });
  expect(waited).toEqual([3_000, 1_000]);
});

test('a proxy that does not say when is asked again only for what may be repeated', async () => {
  answers = [refused(503)];
  const { error } = await quayside.updateProject({ client: client(), path: { identifier: 'a/b' }, body: {} });
  expect(error?.code).toBe('unavailable');
  expect(server.got).toHaveLength(1);
  answers = [refused(503), ok([])];
  expect((await quayside.listTeams({ client: client() })).data).toEqual([]);
});

test('four retries, and none that would begin after 30 seconds', async () => {
  answers = [refused(429, { 'retry-after': '1' })];
  await quayside.listTeams({ client: client() });
  expect(server.got).toHaveLength(5);
  server.got.length = 0;
  answers = [refused(429, { 'retry-after': '31' })];
  const { error } = await quayside.listTeams({ client: client() });
  expect(error?.status).toBe(429);
  expect(server.got).toHaveLength(1);
});

test.each([
  ['lost', lost],
  ['lost within the reply', lostWithin],
])('a connection that is %s is made again for GET and for POST with a key', async (_, how) => {
  answers = [how, ok([])];
  expect((await quayside.listTeams({ client: client() })).data).toEqual([]);
  server.got.length = 0;
  answers = [how, how, ok({ id: '1' })];
  expect((await quayside.createProject({ client: client(), body: project })).data).toEqual({ id: '1' });
  expect(new Set(server.got.map(({ headers, body }) => `${headers['idempotency-key']} ${body}`)).size).toBe(1);
  expect(server.got).toHaveLength(3);
});

test('a connection that is lost is not made again for what could be done twice', async () => {
  answers = [lost];
  const options = { client: client(), path: { identifier: 'a/b' } };
  for (const call of [
    () => quayside.updateProject({ ...options, body: {} }),
    () => quayside.deleteProject(options),
    () => quayside.createLiveLink({ client: client(), path: { id: '1' }, body: {} as never }),
  ]) {
    server.got.length = 0;
    const { error } = await call();
    expect(error).toMatchObject({ code: 'unreachable', status: 0 });
    expect(server.got).toHaveLength(1);
  }
});

test('a path that somebody wrote is as its template: without a key, and not done twice', async () => {
  answers = [lost];
  const headers = { 'Idempotency-Key': 'k' };
  const posted = async (url: string) => {
    server.got.length = 0;
    await client().post({ url, headers, security: [{ scheme: 'bearer', type: 'http' }] });
    return server.got.map((got) => got.headers['idempotency-key']);
  };
  expect(await posted('/api/browser-sessions/1/live-links?a=b')).toEqual([undefined]);
  expect(await posted('/api/auth/sign-in')).toEqual([undefined]);
  expect(await posted('/api/projects')).toEqual(Array(5).fill('k'));
});

test('a key whose first request is still being handled is asked again', async () => {
  const inProgress = (response: ServerResponse) =>
    sendJson(response, 409, { code: 'in_progress', status: 409, detail: 'is being handled' });
  answers = [lost, inProgress, ok({ id: '1' })];
  expect((await quayside.createProject({ client: client(), body: project })).data).toEqual({ id: '1' });
  // Without a lost connection somebody else uses the key.
  answers = [inProgress];
  expect((await quayside.createProject({ client: client(), body: project })).error?.code).toBe('in_progress');
});

test('what is no reply of the service is a problem, too', async () => {
  answers = [(response) => response.writeHead(502, { 'content-type': 'text/html' }).end('<h1>Bad Gateway</h1>')];
  expect((await quayside.listTeams({ client: client() })).error).toMatchObject({
    code: 'unexpected_reply',
    status: 502,
    detail: 'HTTP 502: <h1>Bad Gateway</h1>',
  });
  answers = [(response) => response.writeHead(200, { 'content-type': 'application/json' }).end('<html>')];
  expect((await quayside.listTeams({ client: client() })).error).toMatchObject({ code: 'unexpected_reply' });
  const ended = AbortSignal.abort();
  expect((await quayside.listTeams({ client: client(), signal: ended })).error?.code).toBe('aborted');
  const late = new AbortController();
  answers = [() => late.abort(new DOMException('late', 'TimeoutError'))];
  expect((await quayside.listTeams({ client: client(), signal: late.signal })).error?.code).toBe('timed_out');
});

test('a redirect is followed within the origin alone', async () => {
  answers = [(response) => response.writeHead(302, { location: '/api/teams?page=2' }).end(), ok([])];
  expect((await quayside.listTeams({ client: client() })).data).toEqual([]);
  expect(server.got.map(({ url }) => url)).toEqual(['/api/teams', '/api/teams?page=2']);
  answers = [(response) => response.writeHead(307, { location: `${elsewhere.url}/api/teams` }).end()];
  expect((await quayside.listTeams({ client: client() })).error?.code).toBe('redirected');
  expect((await quayside.createProject({ client: client(), body: project })).error?.code).toBe('redirected');
  expect(elsewhere.got).toEqual([]);
});
