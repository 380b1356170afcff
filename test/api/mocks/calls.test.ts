import { type TestApp, testApp } from '../../support/app.ts';
import { idleEngine } from '../../support/launch.ts';
import { mockStage, step } from '../../support/mocks.ts';

let app: TestApp;
beforeAll(async () => {
  app = await testApp({ launch: idleEngine });
});
afterAll(() => app.close());

const json = { 'content-type': 'application/json' };

test('calls are listed newest first, page by page, without credentials', async () => {
  const { armed, get, call, member, path } = mockStage(app);
  await armed('calls', [step('GET', '/a', 1), step('POST', '/b', 2)]);
  await get('/a?x=1', { headers: { authorization: 'Bearer SECRET' } });
  await call('POST', '/b', { headers: json, body: '{"id": 1, "password": "SECRET"}', run: 'r1' });
  await get('/none');
  const all = await member.get(200, path('calls', '/calls'));
  expect(all).toMatchObject({
    total: 3,
    items: [
      { outcome: 'unmatched', path: '/none', seq: null },
      { outcome: 'matched', seq: 2, run: 'r1', method: 'POST', request: { body: { id: 1 } } },
      { outcome: 'matched', seq: 1, status: 200, request: { query: { x: '1' } } },
    ],
  });
  expect(JSON.stringify(all)).not.toContain('SECRET');
  const page = await member.request(200, 'GET', path('calls', '/calls?limit=1&outcome=matched&run='));
  expect(page.body).toMatchObject({ total: 1, items: [{ path: '/a' }] });
  const first = await member.request(200, 'GET', path('calls', '/calls?limit=1'));
  expect(first.headers.get('link')).toContain('rel="next"');
});

test('verification passes, or names what failed and what was near', async () => {
  const { armed, get, call, member, path } = mockStage(app);
  await armed('verify', [step('*', '/**', 1)]);
  await call('POST', '/orders', { headers: json, body: '{"amount": 5}' });
  await get('/orders/1');
  const verify = (body: object) => member.post(200, path('verify', '/verify'), body);
  const post = { match: { method: 'POST', path: '/orders', body: { amount: { gt: 3 } } } };
  const read = { match: { method: 'GET', path: '/orders/{id}' } };
  await expect(verify({ expect: [post, read], inOrder: true })).resolves.toEqual({
    passed: true,
    calls: 2,
    failures: [],
  });
  await expect(verify({ expect: [read, post], inOrder: true })).resolves.toMatchObject({
    passed: false,
    failures: [{ expectation: 1, reason: 'order', found: 0 }],
  });
  const failed = await verify({ expect: [{ match: { ...post.match, body: { amount: 7 } }, times: { atLeast: 1 } }] });
  expect(failed.failures).toMatchObject([
    {
      expectation: 0,
      reason: 'count',
      found: 0,
      atLeast: 1,
      atMost: null,
      nearest: [{ method: 'POST', path: '/orders' }],
    },
  ]);
  expect(failed.failures[0].nearest[0].criteria).toContainEqual({
    criterion: 'body',
    matches: false,
    wanted: expect.anything() as unknown,
    found: { amount: 5 },
  });
  await expect(verify({ expect: [{ ...read, times: 0 }] })).resolves.toMatchObject({
    failures: [{ found: 1, atMost: 0, nearest: [] }],
  });
  const bad = await member.post(400, path('verify', '/verify'), {
    expect: [{ match: { query: { a: { regex: '(' } } } }],
  });
  expect(bad.errors[0].pointer).toBe('#/body/expect/0/match/query/a');
  await member.post(200, path('verify', '/rewind'));
  await expect(verify({ expect: [{ match: {}, times: 0 }] })).resolves.toMatchObject({ passed: true, calls: 0 });
});

test('verification says that it does not know what depends on a part of a call that is not kept', async () => {
  const { armed, call, member, path } = mockStage(app);
  await armed('unkept', [step('*', '/**', 1)]);
  await call('POST', '/orders', { headers: json, body: JSON.stringify({ id: 1, text: 'x'.repeat(9_000) }) });
  const verify = (status: number, match: object) =>
    member.post(status, path('unkept', '/verify'), { expect: [{ match }] });
  const unknown = await verify(200, { method: 'POST', body: { id: 1 } });
  expect(unknown).toMatchObject({ passed: false, failures: [{ reason: 'unknown', found: 0, unknown: 1 }] });
  expect(unknown.failures[0].nearest[0].criteria).toContainEqual(
    expect.objectContaining({ criterion: 'body', matches: false, unknown: 'NOT_KEPT' }),
  );
  await expect(verify(200, { method: 'PUT', body: { id: 1 } })).resolves.toMatchObject({
    failures: [{ reason: 'count', found: 0, unknown: 0 }],
  });
  const refused = await verify(400, { checks: [{ of: 'cookies', name: 'a', is: { eq: '1' } }] });
  expect(refused.errors[0].pointer).toBe('#/body/expect/0/match/checks/0/of');
});

test('verification waits for calls that still come, but not for ever', async () => {
  const { armed, get, member, path } = mockStage(app);
  await armed('wait', [step('GET', '/late', 1)]);
  const verified = member.post(200, path('wait', '/verify'), {
    expect: [{ match: { path: '/late' } }],
    waitMs: 10_000,
  });
  await get('/late');
  await expect(verified).resolves.toMatchObject({ passed: true, calls: 1 });
  const never = { expect: [{ match: { path: '/never' } }], waitMs: 150 };
  await expect(member.post(200, path('wait', '/verify'), never)).resolves.toMatchObject({ passed: false });
  await member.post(400, path('wait', '/verify'), { ...never, waitMs: 60_000 });
});

test('the report says which steps were used, which requests had none, and which faults were met', async () => {
  const { armed, get, member, path } = mockStage(app);
  await armed('report', [
    step('GET', '/used', 1),
    step('GET', '/unused', 1),
    { request: { path: '/limited' }, response: { fault: { kind: 'rate_limit' } } },
  ]);
  await get('/used');
  await get('/used', { run: 'r1' });
  await get('/limited');
  for (const target of ['/x', '/x', '/y']) await get(target);
  await expect(member.get(200, path('report', '/report'))).resolves.toMatchObject({
    status: 'armed',
    calls: { matched: 3, unmatched: 3, passedOn: 0, recorded: 0 },
    faults: { rate_limit: 1 },
    steps: { total: 3, used: 2, unused: [{ seq: 2, path: '/unused', hits: 0 }] },
    unmatched: [
      { method: 'GET', path: '/x', count: 2 },
      { method: 'GET', path: '/y', count: 1 },
    ],
    runs: [{ name: '' }, { name: 'r1', matched: 1 }],
    drift: null,
  });
});

test('a comparison needs an upstream, and one under way is joined', async () => {
  const { made, member, path } = mockStage(app);
  await made({ name: 'alone', steps: [step('GET', '/a', 1)] });
  await member.post(400, path('alone', '/drift'));
  await made({ name: 'drift', upstream: 'https://api.example.com', steps: [step('GET', '/a', 1)] });
  const first = await member.post(202, path('drift', '/drift'));
  expect(first).toMatchObject({ status: 'queued', findings: [] });
  await expect(member.post(202, path('drift', '/drift'))).resolves.toMatchObject({ id: first.id });
  await expect(member.get(200, path('drift', '/report'))).resolves.toMatchObject({ drift: { id: first.id } });
});
