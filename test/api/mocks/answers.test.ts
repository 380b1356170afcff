import { COOKIE_NAMES } from '../../../api/http/cookies.ts';
import { runSweep } from '../../../activities/kernel/system/run-sweep.ts';
import { SWEEPS } from '../../../activities/sweeps.ts';
import { activityDeps } from '../../support/activities.ts';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { once } from 'node:events';
import { type TestApp, testApp } from '../../support/app.ts';
import { startApi } from '../../support/api-process.ts';
import { idleEngine } from '../../support/launch.ts';
import { eventually } from '../../support/eventually.ts';
import { mockStage, step } from '../../support/mocks.ts';

let app: TestApp;
let upstream: Server;
let upstreamUrl: string;
const upstreamSaw: { url: string | undefined; headers: Record<string, unknown> }[] = [];

beforeAll(async () => {
  app = await testApp({ launch: idleEngine });
  upstream = createServer((request, response) => {
    upstreamSaw.push({ url: request.url, headers: request.headers });
    if (request.url === '/base/away') response.writeHead(302, { location: 'http://127.0.0.1:9/' }).end();
    else response.setHeader('set-cookie', 'sid=1; Path=/; HttpOnly').setHeader('x-from', 'upstream').end('passed on');
  }).listen(0, '127.0.0.1');
  await once(upstream, 'listening');
  upstreamUrl = `http://127.0.0.1:${(upstream.address() as AddressInfo).port}/base`;
});
afterAll(async () => {
  upstream.close();
  await app.close();
});

const faulty = (kind: string, more: object = {}) => ({
  request: { path: `/${kind}` },
  response: { body: 'x'.repeat(1_000), fault: { kind }, ...more },
});

test('faults: a connection that is reset, ends early, hangs or speaks no HTTP; a rate limit', async () => {
  const { armed, get, mockPath } = mockStage(app);
  await armed(
    'faults',
    ['reset', 'empty', 'truncated', 'malformed', 'hang', 'rate_limit'].map((kind) => faulty(kind)),
  );
  await expect(get('/reset')).rejects.toMatchObject({ code: 'ECONNRESET' });
  await expect(get('/empty')).rejects.toMatchObject({ code: 'ECONNRESET' });
  await expect(get('/truncated')).rejects.toMatchObject({ code: 'ECONNRESET' });
  await expect(get('/malformed')).rejects.toMatchObject({ code: expect.stringMatching(/^HPE_/) });
  await expect(get('/rate_limit')).resolves.toMatchObject({ status: 429, headers: { 'retry-after': '1' } });
  const hanging = fetch(`${app.url}${mockPath()}/hang`, { signal: AbortSignal.timeout(300) });
  await expect(hanging).rejects.toMatchObject({ name: 'TimeoutError' });
});

test('a rehearsal repeats exactly: faults and delays are drawn from the seed', async () => {
  const { armed, get, path, member } = mockStage(app);
  await armed('seeded', [faulty('rate_limit', { fault: { kind: 'rate_limit', probability: 0.5 } })], { seed: 42 });
  const statuses = async () => {
    const found: number[] = [];
    for (let index = 0; index < 20; index++) found.push((await get('/rate_limit')).status);
    return found;
  };
  const first = await statuses();
  expect(new Set(first)).toEqual(new Set([200, 429]));
  await member.post(200, path('seeded', '/rewind'));
  expect(await statuses()).toEqual(first);
});

test('an answer waits, and comes slowly', async () => {
  const { armed, get } = mockStage(app);
  await armed('slow', [
    { request: { path: '/delay' }, response: { delayMs: { min: 120, max: 160 } } },
    { request: { path: '/throttle' }, response: { body: 'x'.repeat(100), throttle: 400 } },
  ]);
  const timed = async (target: string) => {
    const startedAt = performance.now();
    const { status, text } = await get(target);
    return { status, length: text.length, ms: performance.now() - startedAt };
  };
  const delayed = await timed('/delay');
  expect(delayed).toMatchObject({ status: 200, length: 0 });
  expect(delayed.ms).toBeGreaterThan(115);
  const throttled = await timed('/throttle');
  expect(throttled).toMatchObject({ status: 200, length: 100 });
  expect(throttled.ms).toBeGreaterThan(200);
});

test('a request without a step gets what the scenario says: a fixed answer, or that of the upstream', async () => {
  const { armed, get, path, member, mockPath } = mockStage(app);
  await armed('fixed', [step('GET', '/a', 'a')], {
    unmatched: { status: 418, headers: { 'x-k': 'v' }, body: { k: 1 } },
  });
  await expect(get('/b')).resolves.toMatchObject({ status: 418, json: { k: 1 }, headers: { 'x-k': 'v' } });
  await member.post(201, path('').replace(/\/$/, ''), {
    name: 'through',
    unmatched: 'pass_through',
    upstream: upstreamUrl,
    steps: [step('GET', '/a', 'mine')],
  });
  await member.post(200, path('through', '/arm?replace=true'));
  await expect(get('/a')).resolves.toMatchObject({ text: 'mine' });
  const passed = await get('/c/d?x=%2F', {
    headers: { cookie: 'qs_session=ours; theirs=1', authorization: 'Bearer t', referer: 'https://theirs.test/x' },
  });
  expect(passed).toMatchObject({ status: 200, text: 'passed on', headers: { 'x-from': 'upstream' } });
  expect(passed.headers['set-cookie']).toEqual([`sid=1; HttpOnly; Path=${mockPath()}/`]);
  expect(upstreamSaw.at(-1)).toMatchObject({
    url: '/base/c/d?x=%2F',
    headers: { cookie: 'theirs=1', authorization: 'Bearer t', referer: 'https://theirs.test/x' },
  });
  expect(upstreamSaw.at(-1)?.headers['x-quayside-mock-hops']).toBe('1');
  const round = await get('/c', { headers: { 'x-quayside-mock-hops': '3' } });
  expect(round).toMatchObject({ status: 502, json: { code: 'upstream_error' } });
  // What the service passes on does not come back to it by a name that only a proxy knows, either.
  const by = String(upstreamSaw.at(-1)?.headers['x-quayside-mock-passed-by']);
  await expect(get('/c', { headers: { 'x-quayside-mock-passed-by': `other, ${by}` } })).resolves.toMatchObject({
    status: 502,
    json: { detail: expect.stringContaining('was passed on by this service') },
  });
  await expect(get('/c', { headers: { 'x-quayside-mock-passed-by': 'other' } })).resolves.toMatchObject({
    status: 200,
  });
  expect(upstreamSaw.at(-1)?.headers['x-quayside-mock-passed-by']).toBe(`other,${by}`);
  // What a browser or a client of the service sends everywhere stays here.
  const cookies = COOKIE_NAMES.flatMap((name) => [`${name}=secret`, `__Host-${name}=secret`]);
  for (const authorization of [app.owner, app.application].map(({ token }) => `Bearer ${token}`)) {
    const referer = `${app.env.PUBLIC_URL}/live?token=secret`;
    await get('/c', { headers: { cookie: cookies.join(';'), authorization, referer } });
    const { headers } = upstreamSaw.at(-1) ?? {};
    for (const name of ['cookie', 'authorization', 'referer']) expect(headers).not.toHaveProperty(name);
  }
  await expect(get('/away')).resolves.toMatchObject({ status: 302, headers: { location: 'http://127.0.0.1:9/' } });
  await expect(member.get(200, path('through'))).resolves.toMatchObject({ calls: { matched: 1, unmatched: 5 } });
});

test('a scenario has no address of this machine as its upstream at which the service listens', async () => {
  const { root, member } = mockStage(app);
  const { port } = new URL(app.url);
  for (const host of ['localhost', 'localhost.', '127.0.0.1', '127.8.8.8', '2130706433', '[::1]', '[::ffff:127.0.0.1]'])
    await expect(
      member.post(400, root, { name: 'loop', upstream: `http://${host}:${port}/mocks/x` }),
    ).resolves.toMatchObject({ detail: 'the service itself is no upstream of a mock scenario' });
  await member.post(201, root, { name: 'next door', upstream: `http://localhost:${Number(port) - 1}/` });
});

test('requests without a step are announced at most once a minute', async () => {
  const config = { url: 'http://127.0.0.1:9/' };
  await app.as(app.owner).post(201, '/api/webhooks', { name: 'unmatched', event: 'mock_scenario.unmatched', config });
  const { armed, get } = mockStage(app);
  await armed('announced', [step('GET', '/a', 'a')]);
  for (let index = 0; index < 3; index++) await get('/nothing?secret=1');
  const deliveries = () =>
    app.sql<{ data: object }>(`select payload as data from webhook_delivery where event = 'mock_scenario.unmatched'
      and payload->>'name' = 'announced'`);
  expect(await eventually(deliveries, ({ length }) => length > 0)).toEqual([
    { data: expect.objectContaining({ name: 'announced', method: 'GET', path: '/nothing', run: '' }) },
  ]);
});

test('the journal has every call in its order, without credentials', async () => {
  const { armed, call } = mockStage(app);
  const { id } = await armed('noted', [step('POST', '/a', 'a')]);
  await call('POST', '/a?x=1', { body: '{"k":1}', headers: { authorization: 'Bearer secret' } });
  await call('POST', '/b', { body: Buffer.from([255]), run: 'r' });
  const calls = await app.sql(
    `select run, round, outcome, seq, method, path, status, request from mock_call where scenario_id = ? order by number`,
    [id],
  );
  expect(calls).toEqual([
    {
      run: '',
      round: 1,
      outcome: 'matched',
      seq: 1,
      method: 'POST',
      path: '/a',
      status: 200,
      request: {
        query: { x: '1' },
        headers: expect.objectContaining({ authorization: '[left out]' }),
        body: { k: 1 },
        bodyBytes: 7,
      },
    },
    expect.objectContaining({ run: 'r', outcome: 'unmatched', seq: null, path: '/b' }),
  ]);
});

test('64 parallel calls on one strict cursor over two API processes, while steps change: no step twice, none left out, and no 503', async () => {
  const { armed, get, path, member } = mockStage(app);
  const steps = Array.from({ length: 64 }, (_, index) => step('GET', '/next', String(index + 1)));
  await armed('shared', steps, { mode: 'strict' });
  const other = await startApi(app);
  try {
    const changed = Array.from({ length: 6 }, (_, index) =>
      member.put(200, path('shared', `/steps/${70 + index}`), { request: { path: '/never' }, response: {} }),
    );
    const replies = await Promise.all(
      Array.from({ length: 64 }, (_, index) => get('/next', { at: index % 2 === 0 ? app.url : other.url })),
    );
    await Promise.all(changed);
    expect(new Set(replies.map(({ status }) => status))).toEqual(new Set([200]));
    const answered = replies.map(({ text }) => Number(text)).toSorted((a, b) => a - b);
    expect(answered).toEqual(Array.from({ length: 64 }, (_, index) => index + 1));
    expect(replies.map(({ headers }) => headers['x-mock-step'])).toEqual(replies.map(({ text }) => text));
    await expect(member.get(200, path('shared'))).resolves.toMatchObject({ cursor: 64, calls: { matched: 64 } });
    // A change through one process holds for the next call of the other.
    await member.put(200, path('shared', '/steps/65'), { response: { body: 'first' } });
    await expect(get('/next', { at: other.url, run: 'second' })).resolves.toMatchObject({ text: '1' });
    await member.put(200, path('shared', '/steps/2'), { response: { body: 'changed' } });
    await expect(get('/next', { at: other.url, run: 'second' })).resolves.toMatchObject({ text: 'changed' });
    await expect(get('/any', { at: other.url })).resolves.toMatchObject({ text: 'first' });
  } finally {
    await other.kill('SIGTERM');
  }
});

test('a sweep writes down that a scenario is over, and removes calls that are old', async () => {
  const { armed, get, path, member } = mockStage(app);
  const config = { url: 'http://127.0.0.1:9/' };
  await app.as(app.owner).post(201, '/api/webhooks', { name: 'over', event: 'mock_scenario.disarmed', config });
  const { id } = await armed('overdue', [step('GET', '/a', 'a')]);
  for (const target of ['/a', '/a', '/b']) await get(target);
  await app.sql(`update mock_scenario set armed_until = now() - interval '1 second' where id = ?`, [id]);
  await app.sql(`update mock_call set called_at = now() - interval '15 days' where scenario_id = ? and path = '/b'`, [
    id,
  ]);
  const activities = activityDeps(app);
  try {
    for (const name of ['expired-mock-scenarios', 'expired-mock-calls']) {
      const sweep = SWEEPS.find((one) => one.name === name);
      if (sweep) await runSweep(activities.deps, sweep);
    }
  } finally {
    await activities.close();
  }
  expect(await app.sql('select status from mock_scenario where id = ?', [id])).toEqual([{ status: 'stopped' }]);
  expect(await app.sql('select path from mock_call where scenario_id = ?', [id])).toEqual([
    { path: '/a' },
    { path: '/a' },
  ]);
  expect(
    await app.sql(`select payload->>'reason' as reason, payload->'matched' as matched from webhook_delivery
      where event = 'mock_scenario.disarmed' and payload->>'name' = 'overdue'`),
  ).toEqual([{ reason: 'expired', matched: 2 }]);
  await expect(member.get(200, path('overdue'))).resolves.toMatchObject({ status: 'stopped' });
});
