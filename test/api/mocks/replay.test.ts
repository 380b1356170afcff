import { once } from 'node:events';
import { type IncomingMessage, request as httpRequest } from 'node:http';
import { gzipSync } from 'node:zlib';
import { mockShares } from '../../../domain/mocks/decide-batch.ts';
import { type TestApp, testApp } from '../../support/app.ts';
import { idleEngine } from '../../support/launch.ts';
import { mockStage, step } from '../../support/mocks.ts';

let app: TestApp;
beforeAll(async () => {
  app = await testApp({ launch: idleEngine });
});
afterAll(() => app.close());

test('patterns that take too much work for a request are cut, told, and stop nobody else', async () => {
  const { armed, get } = mockStage(app);
  const request = { headers: { 'x-a': { regex: '(a?){480}[^a]' } }, query: { q: { regex: '([ab]?){480}\\d' } } };
  const steps = Array.from({ length: 10 }, () =>
    step('GET', '/zz', 1, { request: { method: 'GET', path: '/zz', ...request } }),
  );
  await armed('costly', steps);
  const costly = () => get(`/zz?q=${'ab'.repeat(2_048)}`, { headers: { 'x-a': 'a'.repeat(4_096) } });
  const cpuBefore = process.threadCpuUsage();
  expect(await costly()).toMatchObject({
    status: 422,
    json: { code: 'unprocessable', detail: expect.stringMatching(/not known/) },
  });
  const { user } = process.threadCpuUsage(cpuBefore);
  expect(user / 1_000).toBeLessThan(250);
  // No step is for this path, and which would be nearest is not known.
  expect(await get(`/other?q=${'ab'.repeat(2_048)}`, { headers: { 'x-a': 'a'.repeat(4_096) } })).toMatchObject({
    status: 404,
    json: { code: 'mock_unmatched', nearest: null },
  });
  await expect(get('/zz?q=1', { headers: { 'x-a': 'b' } })).resolves.toMatchObject({ text: '1' });
});

test('a tenant that has taken its share is refused before its body is received', async () => {
  const { armed, get, mockPath } = mockStage(app);
  await armed('any', [step('GET', '/a', 1)]);
  mockShares.spend(app.tenantKey.tenantId, 1e9);
  try {
    const headers = { 'content-length': '5000000' };
    const outgoing = httpRequest(new URL(`${mockPath()}/a`, app.url), { method: 'POST', agent: false, headers });
    outgoing.flushHeaders();
    const [{ statusCode }] = (await once(outgoing, 'response')) as [IncomingMessage];
    outgoing.on('error', () => undefined).destroy();
    expect(statusCode).toBe(429);
  } finally {
    mockShares.spend(app.tenantKey.tenantId, -1e9);
  }
  expect(await get('/a')).toMatchObject({ status: 200 });
});

test('strict: only the step at the cursor answers, each as often as its times', async () => {
  const { armed, get, path, member } = mockStage(app);
  await armed('strict', [step('GET', '/a', 1), step('GET', '/b', 2, { times: 2 }), step('GET', '/a', 3)], {
    mode: 'strict',
  });
  const early = await get('/b');
  expect(early).toMatchObject({ status: 404, json: { code: 'mock_unmatched', scenario: 'strict' } });
  expect(early.json.nearest[0].seq).toBe(1);
  expect(early.json.nearest[0].criteria).toContainEqual({
    criterion: 'path',
    matches: false,
    wanted: '/a',
    found: '/b',
  });
  const texts = [];
  for (const target of ['/a', '/b', '/b', '/a', '/a']) texts.push((await get(target)).text);
  expect(texts.slice(0, 4)).toEqual(['1', '2', '2', '3']);
  expect(JSON.parse(texts[4] ?? '').code).toBe('mock_unmatched');
  const scenario = await member.get(200, path('strict'));
  expect(scenario).toMatchObject({ cursor: 3, calls: { matched: 4, unmatched: 2 } });
  expect(scenario.steps.map(({ hits }: { hits: number }) => hits)).toEqual([1, 2, 1]);
  await expect(member.post(200, path('strict', '/rewind'))).resolves.toMatchObject({
    cursor: 0,
    calls: { matched: 0, unmatched: 0 },
  });
  await expect(get('/a')).resolves.toMatchObject({ text: '1', headers: { 'x-mock-step': '1' } });
});

test('perEndpoint: recorded answers of one endpoint in their order, whatever others are called meanwhile', async () => {
  const { armed, get } = mockStage(app);
  await armed('endpoints', [
    step('GET', '/job', 'running', { times: 1 }),
    step('GET', '/other', 'other', { times: 1 }),
    step('GET', '/job', 'done', { times: 1 }),
    step('GET', '/always', 'always'),
  ]);
  const texts = [];
  for (const target of ['/other', '/job', '/always', '/job', '/always']) texts.push((await get(target)).text);
  expect(texts).toEqual(['other', 'running', 'always', 'done', 'always']);
  const spent = await get('/job');
  expect(spent.json.nearest[0].criteria).toContainEqual({ criterion: 'times', matches: false, wanted: 1, found: 1 });
});

test('any: the most specific step answers, then the first', async () => {
  const { armed, get } = mockStage(app);
  await armed(
    'any',
    [
      step('*', '/**', 'all'),
      step('GET', '/accounts/{id}', 'one'),
      step('GET', '/accounts/7', 'seven'),
      { request: { method: 'GET', path: '/accounts/7', query: { full: 'true' } }, response: { body: 'full' } },
      step('GET', '/accounts/*.json', 'json'),
    ],
    { mode: 'any' },
  );
  const texts = [];
  for (const target of ['/x', '/accounts/8', '/accounts/7', '/accounts/7?full=true&x=1', '/accounts/a.json'])
    texts.push((await get(target)).text);
  expect(texts).toEqual(['all', 'one', 'seven', 'full', 'json']);
});

test('a change of a step holds from the next call on, and a missing step is added', async () => {
  const { armed, get, path, member } = mockStage(app);
  await armed('changing', [step('GET', '/a', 'before', { times: 5 })]);
  await expect(get('/a')).resolves.toMatchObject({ text: 'before' });
  const changed = await member.put(200, path('changing', '/steps/1'), {
    response: { status: 503, body: { down: true } },
  });
  expect(changed).toMatchObject({ seq: 1, request: { method: 'GET', path: '/a' }, times: 5, hits: 1 });
  await expect(get('/a')).resolves.toMatchObject({ status: 503, json: { down: true } });
  await expect(get('/b')).resolves.toMatchObject({ status: 404 });
  await member.put(200, path('changing', '/steps/9'), { response: { body: 'any' } });
  await expect(get('/b')).resolves.toMatchObject({ text: 'any', headers: { 'x-mock-step': '9' } });
});

test('without an armed scenario, and past its time, nothing answers', async () => {
  const { armed, get, path, member } = mockStage(app);
  await armed('timed', [step('GET', '/a', 'x')]);
  await expect(get('/a')).resolves.toMatchObject({ status: 200 });
  await app.sql(`update mock_scenario set armed_until = now() - interval '1 second' where name = 'timed'`);
  await expect(get('/a')).resolves.toMatchObject({ status: 404, json: { code: 'mock_unmatched' } });
  await expect(member.get(200, path('timed'))).resolves.toMatchObject({ status: 'stopped', armedUntil: null });
  await member.post(200, path('timed', '/arm'));
  await expect(get('/a')).resolves.toMatchObject({ status: 200 });
  await member.delete(200, path('timed', '/arm'));
  await expect(get('/a')).resolves.toMatchObject({ status: 404 });
});

test('queries, headers, JSON, forms and SOQL are matched as they are meant', async () => {
  const { armed, call, get } = mockStage(app);
  const answer = (request: object, body: string) => ({ request, response: { body } });
  await armed('matching', [
    answer({ method: 'POST', path: '/json', body: { a: { b: [1, { c: 2 }] }, n: { gt: 3 } } }, 'json'),
    answer({ method: 'POST', path: '/exact', body: { a: 1 }, exact: ['body'] }, 'exact'),
    answer({ method: 'POST', path: '/form', body: { grant_type: 'refresh' } }, 'form'),
    answer({ method: 'POST', path: '/text', body: '<a/>' }, 'text'),
    answer({ method: 'GET', path: '/query', query: { q: "SELECT Id FROM A WHERE Name = 'a b'" } }, 'soql'),
    answer({ method: 'GET', path: '/list', query: { x: ['1', '2'], n: { gte: 10 } }, exact: ['query'] }, 'list'),
    answer({ method: 'GET', path: '/headers', headers: { 'X-Kind': { regex: '^big' } } }, 'headers'),
    answer({ method: 'GET', path: '/a%20b/{id}' }, 'encoded'),
  ]);
  const post = async (target: string, body: string, type = 'application/json') =>
    (await call('POST', target, { body, headers: { 'content-type': type } })).text.slice(0, 10);
  expect(await post('/json', '{"a":{"b":[1,{"c":2,"d":3}],"e":4},"n":4}')).toBe('json');
  expect(await post('/json', '{"a":{"b":[1]},"n":4}')).not.toBe('json');
  expect(await post('/json', '{"a":{"b":[1,{"c":2}]},"n":3}')).not.toBe('json');
  expect(await post('/exact', '{"a":1}', 'text/plain')).toBe('exact');
  expect(await post('/exact', '{"a":1,"b":2}')).not.toBe('exact');
  expect(await post('/form', 'x=1&grant_type=refresh', 'application/x-www-form-urlencoded')).toBe('form');
  expect(await post('/text', '<a/>', 'text/xml')).toBe('text');
  const soql = encodeURIComponent("select  Id\nfrom A where Name='a b'");
  const same = encodeURIComponent("SELECT Id\n  FROM A WHERE Name='a b'");
  expect((await get(`/query?q=${same}`)).text).toBe('soql');
  expect((await get(`/query?q=${soql}`)).status).toBe(404);
  expect((await get(`/query?q=${encodeURIComponent("SELECT Id FROM A WHERE Name = 'ab'")}`)).status).toBe(404);
  expect((await get('/list?x=1&n=12&x=2')).text).toBe('list');
  expect((await get('/list?x=1&n=12&x=2&y=3')).status).toBe(404);
  expect((await get('/list?x=1&n=9&x=2')).status).toBe(404);
  expect((await get('/headers', { headers: { 'x-kind': 'bigger' } })).text).toBe('headers');
  expect((await get('/headers', { headers: { 'x-kind': 'small' } })).status).toBe(404);
  expect((await get('/a%20b/7')).text).toBe('encoded');
});

test('state: what a request carries and a step sets is required and rendered; runs have their own', async () => {
  const { armed, call, get } = mockStage(app);
  await armed('stateful', [
    {
      request: { method: 'POST', path: '/orders', captures: { orderId: 'body.id', by: 'headers.x-by' } },
      response: {
        status: 201,
        sets: { status: 'open', note: 'of {{ state.by }}' },
        template: true,
        body: { id: '{{ state.orderId }}' },
      },
    },
    {
      request: { method: 'GET', path: '/orders/{id}', requires: { status: 'open' } },
      response: {
        template: true,
        headers: { 'X-Id': '{{ request.path.id }}' },
        body: '{{ request.path.id }}:{{ state.orderId }}:{{ state.note }}:{{ request.query.x }}',
      },
    },
    step('GET', '/orders/{id}', 'none'),
  ]);
  expect((await get('/orders/7')).text).toBe('none');
  const made = await call('POST', '/orders', { body: '{"id":"o-1"}', headers: { 'x-by': 'dana' } });
  expect(made).toMatchObject({ status: 201, json: { id: 'o-1' } });
  const read = await get('/orders/9?x=y');
  expect(read).toMatchObject({ text: '9:o-1:of dana:y', headers: { 'x-id': '9' } });
  expect((await get('/orders/9', { run: 'other' })).text).toBe('none');
  const failed = await get('/orders/9');
  expect(failed).toMatchObject({ status: 500 });
  expect(failed.json.detail).toMatch(/step 2.*request\.query\.x/);
});

test('a template can add no header', async () => {
  const { armed, call } = mockStage(app);
  await armed('injection', [
    {
      response: {
        template: true,
        headers: { 'x-echo': '{{ request.body.value }}', 'set-cookie': 'a=b; Domain=quayside.test; Path=/x' },
      },
    },
  ]);
  const value = 'a\r\nSet-Cookie: qs_session=evil\r\n\r\n<script>';
  const reply = await call('POST', '/', { body: JSON.stringify({ value }) });
  expect(reply.status).toBe(200);
  expect(reply.headers['x-echo']).toBe('a Set-Cookie: qs_session=evil <script>');
  expect(reply.headers['set-cookie']).toEqual([expect.stringMatching(/^a=b; Path=\/mocks\/[\w-]{22}\/x$/)]);
  expect(reply.headers['content-security-policy']).toMatch(/^sandbox/);
  expect(reply.headers['x-mock-scenario']).toBe('injection');
});

test('parallel runs have cursors of their own, up to a hundred', async () => {
  const { armed, get } = mockStage(app);
  await armed('runs', [step('GET', '/a', 1), step('GET', '/a', 2)], { mode: 'strict' });
  const texts = await Promise.all(['r1', 'r2', 'r3'].map(async (run) => (await get('/a', { run })).text));
  expect(texts).toEqual(['1', '1', '1']);
  expect((await get('/a', { run: 'r2' })).text).toBe('2');
  expect((await get('/a')).text).toBe('1');
  expect((await get('/a', { run: 'with space' })).status).toBe(400);
  const more = await Promise.all(Array.from({ length: 98 }, (_, index) => get('/a', { run: `more-${index}` })));
  expect(more.filter(({ status }) => status === 429)).toHaveLength(1);
  await app.sql(`update mock_run set used_at = now() - interval '2 hours' where name like 'more-%'`);
  expect((await get('/a', { run: 'late' })).text).toBe('1');
});

test('bodies that are no text, broken or too large do no harm', async () => {
  const { armed, call } = mockStage(app);
  await armed('bodies', [
    { request: { method: 'POST', path: '/zipped', body: { a: 1 } }, response: { body: 'zipped' } },
    { request: { method: 'POST', path: '/any' }, response: { body: 'any' } },
  ]);
  const zipped = gzipSync('{"a":1}');
  const headers = { 'content-encoding': 'gzip' };
  expect((await call('POST', '/zipped', { body: zipped, headers })).text).toBe('zipped');
  expect((await call('POST', '/zipped', { body: zipped.subarray(0, 12), headers })).status).toBe(404);
  expect((await call('POST', '/any', { body: zipped.subarray(0, 12), headers })).text).toBe('any');
  expect((await call('POST', '/any', { body: gzipSync(Buffer.alloc(50_000_000)), headers })).text).toBe('any');
  expect((await call('POST', '/any', { body: Buffer.from([0xff, 0xfe, 0, 1]) })).text).toBe('any');
  expect((await call('POST', '/any', { body: '"\\u0000\\ud800"' })).text).toBe('any');
  expect((await call('POST', '/any?a=%00', { body: '{"a":"\\u0000"}' })).text).toBe('any');
  expect((await call('POST', '/any', { body: Buffer.alloc(6_000_000) })).status).toBe(413);
});

test('a body without an end is refused once it is too large, whatever is still sent', async () => {
  const { armed, mockPath } = mockStage(app);
  await armed('endless', [{ request: { method: 'POST', path: '/any' }, response: { body: 'any' } }]);
  const outgoing = httpRequest(new URL(`${mockPath()}/any`, app.url), { method: 'POST', agent: false });
  outgoing.on('error', () => undefined);
  const answered = new Promise<number>((resolve) =>
    outgoing.on('response', ({ statusCode = 0 }) => resolve(statusCode)),
  );
  const closed = new Promise<void>((resolve) => outgoing.on('close', () => resolve()));
  const chunk = Buffer.alloc(1_000_000);
  let sent = 0;
  while (sent < 100 && !outgoing.destroyed) {
    sent++;
    // Who is not read any more waits here, until the connection is closed.
    if (!outgoing.write(chunk)) await Promise.race([once(outgoing, 'drain').catch(() => undefined), closed]);
  }
  outgoing.destroy();
  expect(await answered).toBe(413);
  expect(sent).toBeLessThan(100);
});

test('patterns of steps cannot keep the service busy', async () => {
  const { armed, call } = mockStage(app);
  await armed('patterns', [
    { request: { path: `/${'**/a/'.repeat(40)}b` }, response: {} },
    { request: { path: `/${'*a'.repeat(200)}b` }, response: {} },
    { request: { path: '/**', body: { regex: '(a+)+$' } }, response: {} },
    { request: { path: '/**', query: { q: `SELECT ${"'a ".repeat(500)}` } }, response: {} },
  ]);
  const before = process.threadCpuUsage();
  const target = `/${'a/'.repeat(900)}?q=${encodeURIComponent(`SELECT ${"'b ".repeat(500)}`)}`;
  await expect(call('POST', target, { body: `${'a'.repeat(1_000_000)}!` })).resolves.toMatchObject({ status: 404 });
  const { user, system } = process.threadCpuUsage(before);
  expect(user + system).toBeLessThan(2_000_000);
});

test('a step whose patterns take long to compile is refused, and so is a document of many', async () => {
  const { root, member } = mockStage(app);
  const regex = '(a?){480}[^a]';
  const withPatterns = (count: number) => ({
    request: {
      path: '/a',
      headers: Object.fromEntries(Array.from({ length: count }, (_, at) => [`x-${at}`, { regex }])),
    },
    response: {},
  });
  const many = { name: 'many', steps: [withPatterns(100)] };
  await expect(member.post(400, root, many)).resolves.toMatchObject({
    errors: [{ pointer: '#/body/steps/0/request', detail: expect.stringContaining('fewer or shorter patterns') }],
  });
  const together = { name: 'together', steps: Array.from({ length: 100 }, () => withPatterns(30)) };
  await expect(member.post(400, root, together)).resolves.toMatchObject({
    errors: [{ pointer: expect.stringMatching(/^#\/body\/steps\/\d\d\/request$/) }],
  });
  await member.post(201, root, { name: 'few', steps: [withPatterns(10)] });
});

test('calls that another process overtakes wait in line, each with a step of its own', async () => {
  const { armed, get } = mockStage(app);
  const steps = Array.from({ length: 6 }, (_, index) => step('GET', '/a', index));
  await armed('contended', steps, { mode: 'strict' });
  // As if others were faster twenty times.
  await app.sql('create sequence overtaking');
  await app.sql(`
    create function overtaken() returns trigger language plpgsql security definer as $$
    begin return case when nextval('overtaking') <= 20 then null else new end; end $$`);
  await app.sql('create trigger overtaken before update on mock_run for each row execute function overtaken()');
  try {
    const replies = await Promise.all(steps.map(() => get('/a')));
    expect(replies.map(({ status }) => status)).toEqual(steps.map(() => 200));
    expect(replies.map(({ text }) => text).toSorted()).toEqual(['0', '1', '2', '3', '4', '5']);
  } finally {
    await app.sql('drop trigger overtaken on mock_run');
  }
});

test('what tests of steps read of a request is work that is cut, and told', async () => {
  const { armed, call } = mockStage(app);
  const post = (target: string, body: string) => call('POST', target, { body });
  const checks = [{ of: 'body', is: { jsonPath: '$..a', is: { eq: 'never' } } }];
  await armed('judged', [step('POST', '/judged', 1, { request: { method: 'POST', path: '/judged', checks } })]);
  const many = `[${'{"a":1},'.repeat(4_500)}{}]`;
  expect(await post('/judged', many)).toMatchObject({
    status: 422,
    json: { code: 'unprocessable', detail: expect.stringMatching(/patterns and tests/) },
  });
  await expect(post('/judged', '[{"a":"never"}]')).resolves.toMatchObject({ text: '1' });
});
