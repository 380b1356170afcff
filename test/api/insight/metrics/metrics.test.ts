import { HOSTILE_QUERIES, long, nested } from '../../../support/hostile-queries.ts';
import { type TestApp, testApp } from '../../../support/app.ts';
import type { Json } from '../../../support/client.ts';
import { eventually, startWorker, type TestWorker } from '../../../support/worker.ts';

const STORE = process.env.QS_TEST_METRICS_URL ?? '';
const NAME = '__name__';
const V1 = '/api/metrics/api/v1';

let app: TestApp;
let worker: TestWorker;
beforeAll(async () => {
  app = await testApp({ hasOwnTenants: true });
  worker = await startWorker(app, ['system-v1']);
});
afterAll(async () => {
  await worker.stop();
  await app.close();
});

const ingest = (events: unknown[], headers: Record<string, string> = {}) =>
  app.as(app.application).post(202, '/api/metrics/ingest', { events }, headers);
const at = (path: string, query: Record<string, string> | [string, string][]) =>
  `${path}?${new URLSearchParams(query)}`;

/** Waits until the store has everything that was sent. */
async function sent(): Promise<void> {
  await eventually(
    () => app.sql<{ n: number }>('select count(*)::int as n from metric_window where not is_sent'),
    ([row]) => row?.n === 0,
  );
  await fetch(`${STORE}/internal/force_flush`);
}

const values = async (query: string, caller = app.owner) => {
  const { result } = await app.as(caller).get(200, at('/api/metrics/query', { query }));
  return (result as Json[]).map(({ metric, value }) => [metric, Number(value[1])]);
};

test('events are counted, and queried as Prometheus answers', async () => {
  const now = Date.now();
  const reply = await ingest([
    { metric: 'deploy.count', type: 'count', value: 99, tags: { org: 'uat' }, timestamp: now - 2 },
    { metric: 'deploy.count', type: 'count', tags: { org: 'uat' }, timestamp: now - 1 },
    { metric: 'queue.size', type: 'gauge', value: 7, timestamp: now - 2 },
    { metric: 'deploy.duration', type: 'timers', value: 250, timestamp: now - 2 },
    { metric: 'deploy.duration', type: 'timers', value: 150, timestamp: now - 2 },
    { metric: 'deploy.count', type: 'meter' },
  ]);
  expect(reply).toEqual({
    accepted: 5,
    rejected: 1,
    message: '5 accepted, 1 rejected',
    errors: [{ pointer: '#/body/events/5/type', detail: 'must be one of count, guage, timers' }],
  });
  await sent();
  await ingest([{ metric: 'deploy.count', type: 'count', tags: { org: 'uat' }, timestamp: now }]);
  await sent();
  const sums = await values('sum_over_time(deploy.count[1h])');
  expect(sums.map(([, value]) => value)).toEqual([3]);
  expect(await values('queue.size')).toEqual([[{ __name__: 'queue_size', metric_type: 'guage' }, 7]]);
  const total = async (name: string) => (await values(`sum(sum_over_time(${name}[1h]))`))[0]?.[1];
  expect(await total('deploy.duration_count')).toBe(2);
  expect(await total('deploy.duration_sum')).toBe(400);
  const answer = await app.as(app.member).get(200, at(`${V1}/query`, { query: 'deploy.count' }));
  expect(Object.keys(answer)).toEqual(['status', 'data']);
  expect(answer.data.result[0].metric).toEqual({ __name__: 'deploy_count', metric_type: 'count', org: 'uat' });
  const range = { query: 'deploy.count', start: String(now / 1000 - 600), end: String(now / 1000), step: '60' };
  expect((await app.as(app.owner).get(200, at(`${V1}/query_range`, range))).data.resultType).toBe('matrix');
  expect((await app.as(app.owner).get(200, '/api/metrics/label/org/values')).result).toEqual(['uat']);
  expect((await app.as(app.owner).get(200, `${V1}/label/org/values`)).data).toEqual(['uat']);
});

test('Grafana asks by forms', async () => {
  const form = async (path: string, fields: [string, string][]) => {
    const { body } = await app.as(app.owner).request(200, 'POST', `${V1}/${path}`, {
      rawBody: String(new URLSearchParams(fields)),
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
    });
    return body.data;
  };
  expect((await form('query', [['query', 'queue.size']])).result).toHaveLength(1);
  const both: [string, string][] = [
    ['match[]', 'queue.size'],
    ['match[]', '{__name__="deploy.count"}'],
  ];
  expect((await form('series', both)).map((one: Record<string, string>) => one[NAME]).toSorted()).toEqual([
    'deploy_count',
    'queue_size',
  ]);
  expect(await form('labels', both)).toEqual(['__name__', 'metric_type', 'org']);
  expect((await app.as(app.owner).get(200, `${V1}/status/buildinfo`)).data.version).toBe('2.24.0');
  expect(await app.as(app.owner).get(200, `${V1}/metadata`)).toEqual({ status: 'success', data: {} });
});

describe('another tenant', () => {
  const attacks = ['{__name__!=""}', '{__name__="queue_size"}', 'queue_size or {metric_type!=""}'];

  test.each(attacks)('sees nothing by %s', async (query) => {
    const extras: [string, string][] = [
      ['extra_label', `__tenant_id__=${app.tenant.id}`],
      ['extra_filters[]', '{__name__!=""}'],
    ];
    for (const extra of [[], ...extras.map((one) => [one])])
      expect(
        (await app.as(app.stranger).get(200, at(`${V1}/query`, [['query', query], ...extra]))).data.result,
      ).toEqual([]);
  });

  const naming = [
    '{__tenant_id__="TENANT"}',
    'queue_size or {__tenant_id__="TENANT"}',
    'WITH (f = {__tenant_id__="TENANT"}) f',
    'label_replace(vector(1), "__tenant_id__", "TENANT", "", "")',
  ];

  test.each(naming)('is not named by %s', async (attack) => {
    const query = attack.replace('TENANT', app.tenant.id);
    expect(await app.as(app.stranger).get(400, at(`${V1}/query`, { query }))).toMatchObject({ errorType: 'bad_data' });
    expect(await app.as(app.stranger).get(400, at(`${V1}/labels`, { 'match[]': query }))).toMatchObject({
      errorType: 'bad_data',
    });
  });

  test('sees nothing by what a form adds, by series or by labels', async () => {
    const { body } = await app
      .as(app.stranger)
      .request(200, 'POST', `${V1}/query?extra_label=__tenant_id__=${app.tenant.id}`, {
        rawBody: String(new URLSearchParams({ query: 'queue_size', extra_label: `__tenant_id__=${app.tenant.id}` })),
        headers: { 'content-type': 'application/x-www-form-urlencoded' },
      });
    expect(body.data.result).toEqual([]);
    const stranger = app.as(app.stranger);
    expect((await stranger.get(200, '/api/metrics/label/__name__/values')).result).toEqual([]);
    await stranger.get(400, '/api/metrics/label/__tenant_id__/values');
  });

  test('the label never shows', async () => {
    for (const query of ['queue_size', 'absent(no_such)', '{__name__!=""}', 'x * on () group_left(*) queue_size']) {
      const { text } = await app.as(app.owner).request(200, 'GET', at(`${V1}/query`, { query }));
      expect(text).not.toContain('__tenant_id__');
    }
  });
});

test.each([
  [{ query: 'a{' }, 400, 'bad_data', /^invalid parameter "query": parse error: /],
  [{}, 400, 'bad_data', /^invalid parameter "query": 1:1: parse error: no expression found in input$/],
  [{ query: 'x', timeout: 'xx' }, 400, 'bad_data', /^invalid parameter "timeout"/],
] as const)('a query %j is refused as Prometheus does, or by a problem', async (query, status, errorType, error) => {
  const body = await app.as(app.owner).get(status, at(`${V1}/query`, query));
  expect(body).toEqual({ status: 'error', errorType, error: expect.stringMatching(error) as string });
  const problem = await app.as(app.owner).get(status, at('/api/metrics/query', query));
  expect(problem).toMatchObject({ code: 'invalid_request', detail: expect.stringMatching(error) as string });
});

test('an expression has at most 16 KB', async () => {
  const ask = async (status: number, length: number) => {
    const { body } = await app.as(app.owner).request(status, 'POST', `${V1}/query`, {
      rawBody: String(new URLSearchParams({ query: 'none'.padEnd(length) })),
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
    });
    return body;
  };
  expect((await ask(200, 16_384)).data.result).toEqual([]);
  expect(await ask(400, 16_385)).toEqual({
    status: 'error',
    errorType: 'bad_data',
    error: 'invalid parameter "query": must not be longer than 16384 bytes',
  });
});

test('what would end the store, or take it for long, is refused, and the rest leaves it alive', async () => {
  const startedAt = async () =>
    /^process_start_time_seconds .*$/m.exec(await (await fetch(`${STORE}/metrics`)).text())?.[0];
  const before = await startedAt();
  expect(before).toBeDefined();
  for (const [, query] of HOSTILE_QUERIES)
    await app.as(app.stranger).request(400, 'POST', `${V1}/query`, {
      rawBody: String(new URLSearchParams({ query })),
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
    });
  const heaviest = [
    nested(10, 'label_set(', 'vector(1)', `,"k","${long(1_000)}")`),
    `label_join(label_set(vector(1),"k","${long(1_000)}"),"z","","k","k","k")`,
    `label_replace(label_set(vector(1),"k","${long(1_000)}"),"k","$1$1","k","(.*)")`,
    `label_set(vector(1)${Array.from({ length: 20 }, (_, index) => `,"k${index}","${long(200)}"`).join('')})`,
    `vector(1)${'+vector(1)'.repeat(199)}`,
    nested(49, 'abs(', 'vector(1)', ')'),
    'count_over_time(vector(1)[1d:1s])',
    `{org=~"${'(a|b)?'.repeat(1_000)}"}`,
  ];
  for (const query of heaviest)
    await app.as(app.stranger).request(200, 'POST', `${V1}/query`, {
      rawBody: String(new URLSearchParams({ query })),
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
    });
  expect((await values('queue.size'))[0]?.[1]).toBe(7);
  expect(await startedAt()).toBe(before);
});

test('an expression that would explode elsewhere is answered', async () => {
  expect(await values('{__name__=~"(((a+)+)+)+b"}')).toEqual([]);
});

test('what people send is accepted and ignored, and malformed requests are refused', async () => {
  const events = [{ metric: 'ignored', type: 'count' }];
  const before = await app.sql('select from metric_series');
  expect(await app.as(app.owner).post(202, '/api/metrics/ingest', { events })).toMatchObject({
    accepted: 0,
    rejected: 0,
  });
  expect(await app.sql('select from metric_series')).toHaveLength(before.length);
  await app.as(app.member).post(202, '/api/metrics/ingest', { events });
  for (const body of [{}, { events: [] }, { events: 'x' }, { events: Array(5_001).fill(events[0]) }])
    await app.as(app.application).post(400, '/api/metrics/ingest', body);
});

test('a batch that is repeated counts again, unless it has a key', async () => {
  const events = [{ metric: 'repeated', type: 'count' }];
  await ingest(events, { 'idempotency-key': 'batch-1' });
  const [key] = await app.sql<{ done: Date | null }>(
    `select done_at as done from idempotency_key where key = 'batch-1'`,
  );
  expect(key?.done).not.toBeNull();
  await ingest(events, { 'idempotency-key': 'batch-1' });
  await ingest(events);
  await sent();
  expect((await values('sum(sum_over_time(repeated[1h]))')).map(([, value]) => value)).toEqual([2]);
});

test('the use of AI is added up in rows, exactly', async () => {
  const repositoryIdentifier = 'acme/ai';
  await app.as(app.owner).post(201, '/api/projects', {
    identifier: repositoryIdentifier,
    remoteUrl: 'https://github.com/acme/ai.git',
    platform: 'host-a',
    defaultBranch: 'main',
  });
  const usage = () => app.as(app.member).get(200, at('/api/metrics/ai-usage', { repositoryIdentifier }));
  expect(await usage()).toMatchObject({ repositoryIdentifier, windowDays: 30, sessions: 0, cost: null });
  const tags = { repository: repositoryIdentifier };
  const timestamp = Date.now();
  const tokens = { metric: 'ai.tokens', type: 'guage', value: 10, timestamp, tags: { ...tags, kind: 'output' } };
  await ingest([
    tokens,
    tokens,
    { metric: 'ai.sessions', type: 'count', tags },
    { metric: 'ai.cost', type: 'guage', value: 0.25, tags },
    { metric: 'ai.duration', type: 'timers', value: 1_500, tags },
    { metric: 'ai.turns', type: 'count', tags: { repository: 'acme/unknown' } },
  ]);
  expect(await usage()).toEqual({
    repositoryIdentifier,
    windowDays: 30,
    sessions: 1,
    prompts: 0,
    promptsFailed: 0,
    tokens: { input: 0, output: 20, reasoning: 0, cacheRead: 0, cacheWrite: 0 },
    turns: 0,
    durationMs: 1_500,
    cost: 0.25,
  });
  await app.as(app.owner).get(400, at('/api/metrics/ai-usage', { repositoryIdentifier: 'acme/unknown' }));
  await app.as(app.owner).get(400, at('/api/metrics/ai-usage', { repositoryIdentifier, windowDays: '91' }));
});
