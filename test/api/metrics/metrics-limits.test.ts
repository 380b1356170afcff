import { createServer } from 'node:http';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { windowEnd } from '../../../domain/metrics/event-rules.ts';
import { type TestApp, testApp } from '../../support/app.ts';
import { eventually, startWorker, startWorkerProcess } from '../../support/worker.ts';

const withApp = async (env: Record<string, string>, work: (app: TestApp) => Promise<void>) => {
  const app = await testApp({ env });
  try {
    await work(app);
  } finally {
    await app.close();
  }
};
const NAME = '__name__';
/** What the store is sent. */
interface Line {
  metric: Record<string, string>;
  values: number[];
  timestamps: number[];
}

const event = (metric: string) => ({ metric, type: 'count' });

test('series past those of a day are refused, and that is announced once', () =>
  withApp({ METRICS_SERIES_PER_DAY: '2', METRICS_URL: '' }, async (app) => {
    await app.as(app.owner).post(201, '/api/webhooks', {
      name: 'limits',
      event: 'metrics_series.limited',
      provider: 'http',
      config: { url: 'http://127.0.0.1:9/' },
    });
    const ingest = (...names: string[]) =>
      app.as(app.application).post(202, '/api/metrics/ingest', { events: names.map(event) });
    expect(await ingest('a', 'b')).toMatchObject({ accepted: 2 });
    expect(await ingest('a', 'c')).toMatchObject({
      accepted: 1,
      rejected: 1,
      errors: [{ pointer: '#/body/events/1', detail: 'is of a new series, and the tenant has had 2 new ones today' }],
    });
    await ingest('d');
    expect(await app.sql('select from webhook_delivery')).toHaveLength(1);
    expect(
      await app.as(app.strangerApplication).post(202, '/api/metrics/ingest', { events: [event('c')] }),
    ).toMatchObject({
      accepted: 1,
    });
  }));

test('series that were forgotten since they were seen are made known again', () =>
  withApp({ METRICS_URL: '' }, async (app) => {
    const ingest = () => app.as(app.application).post(202, '/api/metrics/ingest', { events: [event('a')] });
    await ingest();
    await app.sql('delete from metric_window');
    await app.sql('delete from metric_series');
    expect(await ingest()).toMatchObject({ accepted: 1 });
    expect(await app.sql('select count from metric_window')).toEqual([{ count: 1 }]);
  }));

test('series that several requests bring at once are counted once', () =>
  withApp({ METRICS_SERIES_PER_DAY: '10', METRICS_URL: '' }, async (app) => {
    const events = Array.from({ length: 10 }, (_, index) => event(`s${index}`));
    const replies = await Promise.all(
      Array.from({ length: 6 }, () => app.as(app.application).post(202, '/api/metrics/ingest', { events })),
    );
    expect(replies.map(({ accepted }) => accepted as number)).toEqual([10, 10, 10, 10, 10, 10]);
    const counts = await app.sql<{ count: number }>('select count from metric_window');
    expect(counts.map(({ count }) => count)).toEqual(Array(10).fill(6));
  }));

test('while too many windows wait, events are to be sent later', () =>
  withApp({ METRICS_BUFFER_ROWS: '3', METRICS_URL: '' }, async (app) => {
    const send = () =>
      app.as(app.application).send('POST', '/api/metrics/ingest', { body: { events: ['a', 'b', 'c'].map(event) } });
    expect((await send()).status).toBe(202);
    const refused = await eventually(send, ({ status }) => status !== 202);
    expect(refused.body).toMatchObject({ code: 'unavailable' });
    expect(refused.headers.get('retry-after')).toBe('30');
  }));

test('without a store metrics are accepted, queries are 503, and the service is ready', () =>
  withApp({ METRICS_URL: '' }, async (app) => {
    await app.as(app.application).post(202, '/api/metrics/ingest', { events: [event('a')] });
    await app.as(app.owner).get(503, '/api/metrics/query?query=a');
    expect(await app.as(app.owner).get(503, '/api/metrics/api/v1/query?query=a')).toEqual({
      status: 'error',
      errorType: 'unavailable',
      error: 'The metrics store is not available',
    });
    expect(await app.as().get(200, '/readyz')).toMatchObject({ status: 'degraded', dependencies: { metrics: 'down' } });
  }));

test('nothing is lost while the store is away, or when a worker is killed while it sends', async () => {
  const lines: string[] = [];
  let behaviour: 'away' | 'silent' | 'here' = 'away';
  let asked = 0;
  const store = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      if (request.url?.startsWith('/api/v1/import')) {
        asked++;
        if (behaviour !== 'away') lines.push(...Buffer.concat(chunks).toString().trim().split('\n'));
      }
      // What it took it says only while it is there.
      if (behaviour !== 'silent') response.writeHead(behaviour === 'away' ? 503 : 204).end();
    });
  });
  store.listen(0, '127.0.0.1');
  await once(store, 'listening');
  const url = `http://127.0.0.1:${(store.address() as AddressInfo).port}`;
  await withApp({ METRICS_URL: url }, async (app) => {
    const first = await startWorkerProcess(app, ['system-v1']);
    const ingest = () => app.as(app.application).post(202, '/api/metrics/ingest', { events: [event('a'), event('b')] });
    const until = (isSo: () => boolean) => eventually(() => Promise.resolve(isSo()), Boolean);
    await ingest();
    await until(() => asked > 2);
    behaviour = 'silent';
    await ingest();
    await until(() => lines.length > 0);
    await first.kill('SIGKILL');
    await ingest();
    behaviour = 'here';
    const second = await startWorker(app, ['system-v1']);
    try {
      await eventually(
        () => app.sql('select from metric_window where not is_sent'),
        (rows) => rows.length === 0,
        60_000,
      );
    } finally {
      await second.stop();
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
  store.closeAllConnections();
  store.close();
}, 90_000);
