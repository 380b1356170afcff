import { createServer } from 'node:http';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { WINDOW_MS, windowEnd } from '../../../../domain/insight/metrics/event-rules.ts';
import { type TestApp, testApp } from '../../../support/app.ts';
import { eventually, startWorker, startWorkerProcess } from '../../../support/worker.ts';

let app: TestApp;
beforeAll(async () => {
  app = await testApp({ env: { METRICS_SERIES_PER_DAY: '10', METRICS_BUFFER_ROWS: '100', METRICS_URL: '' } });
});
afterAll(() => app.close());
afterEach(async () => {
  for (const table of ['metric_window', 'metric_series', 'metric_series_day']) await app.sql(`delete from ${table}`);
});

const NAME = '__name__';
/** What the store is sent. */
interface Line {
  metric: Record<string, string>;
  values: number[];
  timestamps: number[];
}

const event = (metric: string) => ({ metric, type: 'count' });
const events = (count: number, name = 's') => Array.from({ length: count }, (_, index) => event(`${name}${index}`));
const send = (given: object[], caller = app.application) =>
  app.as(caller).send('POST', '/api/metrics/ingest', { body: { events: given } });
/** As soon as nothing of the test before is counted any more. */
const ingest = async (given: object[], caller = app.application) =>
  (
    await eventually(
      () => send(given, caller),
      ({ status }) => status === 202,
    )
  ).body as { accepted: number };

test('series past those of a day are refused, and that is announced once', async () => {
  await app.as(app.owner).post(201, '/api/webhooks', {
    name: 'limits',
    event: 'metrics_series.limited',
    provider: 'http',
    config: { url: 'http://127.0.0.1:9/' },
  });
  expect(await ingest(events(9))).toMatchObject({ accepted: 9 });
  expect(await ingest([event('s0'), event('a'), event('b')])).toMatchObject({
    accepted: 2,
    rejected: 1,
    errors: [{ pointer: '#/body/events/2', detail: 'is of a new series, and the tenant has had 10 new ones today' }],
  });
  await ingest([event('c')]);
  expect(await app.sql('select from webhook_delivery')).toHaveLength(1);
  expect(await ingest([event('c')], app.strangerApplication)).toMatchObject({ accepted: 1 });
});

test('series that were forgotten since they were seen are made known again', async () => {
  await ingest([event('a')]);
  await app.sql('delete from metric_window');
  await app.sql('delete from metric_series');
  expect(await ingest([event('a')])).toMatchObject({ accepted: 1 });
  expect(await app.sql('select count from metric_window')).toEqual([{ count: 1 }]);
});

test('series that several requests bring at once are counted once', async () => {
  const replies = await Promise.all(Array.from({ length: 6 }, () => ingest(events(7, 'at-once'))));
  expect(replies.map(({ accepted }) => accepted)).toEqual([7, 7, 7, 7, 7, 7]);
  const counts = await app.sql<{ count: number }>('select count from metric_window');
  expect(counts.map(({ count }) => count)).toEqual(Array(7).fill(6));
});

test('a tenant that fills the buffer leaves room for others, and what was sent does not count', async () => {
  const windows = (count: number) =>
    Array.from({ length: count }, (_, index) => ({ ...event('s'), timestamp: Date.now() - index * WINDOW_MS }));
  await ingest(windows(80));
  const refused = await eventually(
    () => send([event('s')]),
    ({ status }) => status !== 202,
  );
  expect(refused.body).toMatchObject({
    code: 'unavailable',
    detail: 'Too many metrics of the tenant wait for the store; send these again later',
  });
  expect(refused.headers.get('retry-after')).toBe('30');
  expect((await send(windows(20), app.strangerApplication)).status).toBe(202);
  const full = await eventually(
    () => send([event('s')], app.strangerApplication),
    ({ status }) => status !== 202,
  );
  expect(full.body).toMatchObject({ detail: 'Too many metrics wait for the store; send these again later' });
  await app.sql('update metric_window set is_sent = true');
  await ingest([event('s')]);
});

test('without a store metrics are accepted, queries are 503, and the service is ready', async () => {
  await ingest([event('a')]);
  await app.as(app.owner).get(503, '/api/metrics/query?query=a');
  expect(await app.as(app.owner).get(503, '/api/metrics/api/v1/query?query=a')).toEqual({
    status: 'error',
    errorType: 'unavailable',
    error: 'The metrics store is not available',
  });
  expect(await app.as().get(200, '/readyz')).toMatchObject({ status: 'degraded', dependencies: { metrics: 'down' } });
});

test('nothing is lost while the store is away, or when a worker is killed while it sends', async () => {
  const lines: string[] = [];
  let behaviour: 'away' | 'silent' | 'here' = 'away';
  let asked = 0;
  const store = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const isImport = request.url?.startsWith('/api/v1/import') === true;
      if (isImport) {
        asked++;
        if (behaviour !== 'away') lines.push(...Buffer.concat(chunks).toString().trim().split('\n'));
      }
      // What it took it says only while it is there.
      if (!isImport) response.writeHead(404).end();
      else if (behaviour !== 'silent') response.writeHead(behaviour === 'away' ? 503 : 204).end();
    });
  });
  store.listen(0, '127.0.0.1');
  await once(store, 'listening');
  const url = `http://127.0.0.1:${(store.address() as AddressInfo).port}`;
  const other = await testApp({ hasOwnTenants: true, env: { METRICS_URL: url } });
  const first = await startWorkerProcess(other, ['system-v1']);
  const ingestBoth = () =>
    other.as(other.application).post(202, '/api/metrics/ingest', { events: [event('a'), event('b')] });
  const until = (isSo: () => boolean) => eventually(() => Promise.resolve(isSo()), Boolean);
  await ingestBoth();
  await until(() => asked > 0);
  behaviour = 'silent';
  await ingestBoth();
  await until(() => lines.length > 0);
  const [second] = await Promise.all([startWorker(other, ['system-v1']), first.kill('SIGKILL')]);
  await ingestBoth();
  behaviour = 'here';
  try {
    await eventually(
      () => other.sql('select from metric_window where not is_sent'),
      (rows) => rows.length === 0,
    );
  } finally {
    await second.stop();
    await other.close();
    store.closeAllConnections();
    store.close();
  }
  // As the store keeps them: of each window what was sent last.
  const kept = new Map<string, [name: string, count: number]>();
  for (const line of lines) {
    const { metric, values, timestamps } = JSON.parse(line) as Line;
    const name = metric[NAME] ?? '';
    kept.set(`${name} ${windowEnd(timestamps[0] ?? 0)}`, [name, values[0] ?? 0]);
  }
  expect(lines.length).toBeGreaterThan(kept.size);
  for (const name of ['a', 'b'])
    expect([...kept.values()].reduce((sum, [each, count]) => sum + (each === name ? count : 0), 0)).toBe(3);
});
