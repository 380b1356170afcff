import { type TestApp, testApp } from '../../support/app.ts';
import { idleEngine } from '../../support/launch.ts';
import { mockStage, step } from '../../support/mocks.ts';

let app: TestApp;
beforeAll(async () => {
  app = await testApp({ launch: idleEngine });
});
afterAll(() => app.close());

const eventsOf = async (name: string) =>
  (
    await app.sql<{ event: string; data: { reason?: string } }>(
      `select event, payload as data from webhook_delivery where event like 'mock_scenario.%' and payload->>'name' = ? order by created_at, id`,
      [name],
    )
  ).map(({ event, data }) => [event, data.reason]);

test('a scenario is made, read, listed and deleted; a name may have slashes', async () => {
  const { root, path, member, workspace } = mockStage(app);
  const name = 'release/2026.03 beta';
  const made = await member.post(201, root, {
    name,
    description: 'What the org answers',
    seed: 7,
    steps: [
      { request: { method: 'get', path: '/a', headers: { Accept: 'x' } }, response: { body: { z: 1, a: 'ü' } } },
      { seq: 5, response: { status: 201, bodyBase64: 'AAEC' }, times: 2 },
    ],
  });
  expect(made).toMatchObject({
    name,
    workspace,
    description: 'What the org answers',
    status: 'idle',
    mode: 'perEndpoint',
    cursor: 0,
    upstream: null,
    unmatched: 'not_found',
    seed: 7,
    stepCount: 2,
    armedUntil: null,
    calls: { matched: 0, unmatched: 0 },
    createdBy: app.member.email,
    steps: [
      {
        seq: 1,
        request: { method: 'GET', path: '/a', headers: { accept: 'x' } },
        response: { status: 200, body: { z: 1, a: 'ü' } },
        times: null,
        hits: 0,
      },
      { seq: 5, request: { method: '*', path: '/**' }, response: { status: 201, bodyBase64: 'AAEC' }, times: 2 },
    ],
  });
  expect(made.baseUrl).toMatch(/^http:\/\/quayside\.test\/mocks\/[\w-]{22}$/);
  await expect(member.get(200, path(name))).resolves.toEqual(made);
  const { steps: _, ...summary } = made;
  await expect(member.get(200, root)).resolves.toEqual({ items: [summary], total: 1, limit: 50, offset: 0 });
  await member.delete(204, path(name));
  await member.get(404, path(name));
  await member.delete(404, path(name));
});

test('a name alone begins to record; one records or is armed in a workspace at a time', async () => {
  const { root, path, member } = mockStage(app);
  await expect(member.post(201, root, { name: 'one' })).resolves.toMatchObject({ status: 'recording', steps: [] });
  await expect(member.post(409, root, { name: 'one' })).resolves.toMatchObject({ code: 'already_exists' });
  await expect(member.post(409, root, { name: 'two' })).resolves.toMatchObject({ code: 'locked', scenario: 'one' });
  await expect(member.post(201, root, { name: 'two', record: false })).resolves.toMatchObject({ status: 'idle' });
  await expect(member.post(409, path('two', '/arm'))).resolves.toMatchObject({ code: 'invalid_transition' });
  await expect(member.post(409, path('one', '/arm'))).resolves.toMatchObject({ code: 'invalid_transition' });
  await expect(member.delete(200, path('one', '/arm'))).resolves.toMatchObject({ status: 'recording' });
  await expect(member.post(200, path('one', '/stop'))).resolves.toMatchObject({ status: 'stopped' });
  await expect(member.post(200, path('one', '/stop'))).resolves.toMatchObject({ status: 'stopped' });
  await expect(member.post(200, path('two', '/stop'))).resolves.toMatchObject({ status: 'idle' });
});

test('one is armed at a time: another gets 409 that names it, or replaces it', async () => {
  const { root, path, member } = mockStage(app);
  for (const event of ['mock_scenario.armed', 'mock_scenario.disarmed']) {
    const config = { url: 'http://127.0.0.1:9/' };
    await app.as(app.owner).post(201, '/api/webhooks', { name: event, event, config });
  }
  for (const name of ['first', 'second']) await member.post(201, root, { name, steps: [{ response: { body: name } }] });
  const armedAt = Date.now();
  const armed = await member.post(200, path('first', '/arm'), { minutes: 60 });
  expect(armed.status).toBe('armed');
  expect(Date.parse(armed.armedUntil)).toBeGreaterThanOrEqual(armedAt + 3_600_000);
  expect(Date.parse(armed.armedUntil)).toBeLessThanOrEqual(Date.now() + 3_600_000);
  await expect(member.post(409, path('second', '/arm'))).resolves.toMatchObject({ code: 'locked', scenario: 'first' });
  await member.post(200, path('second', '/arm?replace=true'));
  await expect(member.get(200, path('first'))).resolves.toMatchObject({ status: 'stopped', armedUntil: null });
  await member.post(400, path('second', '/arm'), { minutes: 7 * 24 * 60 + 1 });
  await expect(member.delete(200, path('second', '/arm'))).resolves.toMatchObject({ status: 'stopped' });
  const audited = await app.as(app.owner).get(200, '/api/audit?source=mock&action=mock_scenario.armed');
  expect(audited.items.length).toBe(2);
  expect(await eventsOf('first')).toEqual([
    ['mock_scenario.armed', undefined],
    ['mock_scenario.disarmed', 'replaced'],
  ]);
  expect(await eventsOf('second')).toEqual([
    ['mock_scenario.armed', undefined],
    ['mock_scenario.disarmed', 'disarmed'],
  ]);
});

test('of two that are armed at once one is', async () => {
  const { root, path, member } = mockStage(app);
  for (const name of ['a', 'b']) await member.post(201, root, { name, steps: [{ response: {} }] });
  const answers = await Promise.all(['a', 'b', 'a', 'b'].map((name) => member.send('POST', path(name, '/arm'))));
  expect(answers.map(({ status }) => status).toSorted()).toEqual([200, 200, 409, 409]);
  const { items } = await member.get(200, root);
  expect(items.filter(({ status }: { status: string }) => status === 'armed')).toHaveLength(1);
});

test('what is no step, or too much, is refused with its place', async () => {
  const { root, path, member } = mockStage(app);
  await member.post(201, root, { name: 'steps', record: false });
  const put = async (body: object) => (await member.put(400, path('steps', '/steps/1'), body)).errors[0].pointer;
  await expect(put({ response: { status: 99 } })).resolves.toBe('#/body/response/status');
  await expect(put({ response: { headers: { 'x-a': 'b\r\nx-c: d' } } })).resolves.toBe('#/body/response/headers/x-a');
  await expect(put({ response: { headers: { 'x a': 'b' } } })).resolves.toBe('#/body/response/headers/x a');
  await expect(put({ response: { body: 'a', bodyBase64: 'AA==' } })).resolves.toBe('#/body/response/bodyBase64');
  await expect(put({ response: { delayMs: { min: 2, max: 1 } } })).resolves.toBe('#/body/response/delayMs');
  await expect(put({ response: {}, request: { path: '/a**/b' } })).resolves.toBe('#/body/request/path');
  await expect(put({ response: {}, request: { query: { a: { regex: '(' } } } })).resolves.toBe(
    '#/body/request/query/a',
  );
  await expect(put({ response: {}, request: { body: { a: { regex: 1 } } } })).resolves.toBe('#/body/request/body/a');
  await expect(put({ response: { template: true, body: '{% if a %}' } })).resolves.toBe('#/body/response');
  await expect(put({ response: {}, request: { captures: { a: 'nowhere.b' } } })).resolves.toBe(
    '#/body/request/captures/a',
  );
  await member.put(404, path('steps', '/steps/0'), { response: {} });
  await member.put(404, path('steps', '/steps/one'), { response: {} });
  await member.put(200, path('steps', '/steps/1'), { response: { body: 'x'.repeat(4_000_000) } });
  await member.put(413, path('steps', '/steps/1'), { response: { body: 'x'.repeat(6_000_000) } });
  const twice = [
    { seq: 3, response: {} },
    { seq: 3, response: {} },
  ];
  const refused = await member.post(400, root, { name: 'twice', steps: twice });
  expect(refused.errors[0].pointer).toBe('#/body/steps/1/seq');
  await member.post(400, root, { name: 'through', unmatched: 'pass_through', record: false });
  await member.post(400, root, { name: 'inwards', upstream: 'http://169.254.169.254/', record: false });
});

test('a scenario is hidden from other tenants, and from tokens of projects', async () => {
  const { armed, path, root, workspace, call } = mockStage(app);
  const listed = async () => {
    const { items } = await app.as(app.member).get(200, '/api/mocks/workspaces?limit=200');
    return items.find((item: { workspace: string }) => item.workspace === workspace);
  };
  await armed('mine', [step('GET', '/a', 'mine')]);
  await expect(listed()).resolves.toMatchObject({ scenarios: 1, activeScenario: 'mine' });
  await expect(app.as(app.stranger).get(200, '/api/mocks/workspaces')).resolves.toMatchObject({ items: [], total: 0 });
  const stranger = app.as(app.stranger);
  await stranger.get(404, path('mine'));
  await expect(stranger.get(200, root)).resolves.toMatchObject({ items: [], total: 0 });
  await stranger.post(404, path('mine', '/stop'));
  await stranger.post(404, `/api/mocks/workspaces/${workspace}/rotate-key`);
  await app.as(app.member).post(403, `/api/mocks/workspaces/${workspace}/rotate-key`);
  await expect(call('GET', '/a')).resolves.toMatchObject({ status: 200, text: 'mine' });
});

test('a rotated key leads nowhere at once, the new one does', async () => {
  const { armed, workspace, get, use } = mockStage(app);
  await armed('keyed', [step('GET', '/a', 'here')]);
  await expect(get('/a')).resolves.toMatchObject({ text: 'here' });
  const { baseUrl } = await app.as(app.owner).post(200, `/api/mocks/workspaces/${workspace}/rotate-key`);
  await expect(get('/a')).resolves.toMatchObject({ status: 404, json: { code: 'not_found' } });
  use(baseUrl);
  await expect(get('/a')).resolves.toMatchObject({ text: 'here' });
});
