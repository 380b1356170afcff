import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { freePort } from '../../../support/free-port.ts';
import { type RunningTemporal, startTemporal } from '../../../../tools/temporal-dev-server.ts';
import { type TestApp, testApp } from '../../../support/app.ts';
import { eventually, startWorker, type TestWorker } from '../../../support/worker.ts';
import { type WebhookReceiver, webhookReceiver } from '../../../simulators/webhook-receiver.ts';

const QUEUES = ['webhooks-v1', 'system-v1'];
/** Longer than an activity may be silent, and than clients try to reach the engine. */
const AWAY_MS = 7_000;

let app: TestApp;
let receiver: WebhookReceiver;
let worker: TestWorker | undefined;

beforeEach(async () => {
  receiver = await webhookReceiver();
});
afterEach(async () => {
  await worker?.stop();
  worker = undefined;
  // Calls of an engine that was away may be retried still: closing waits for these.
  await app.close();
  await receiver.close();
});

const addWebhook = (event: string) =>
  app
    .as(app.owner)
    .post(201, '/api/webhooks', { name: event, event, retryDelay: 100, retryCount: 10, config: { url: receiver.url } });
const arrived = () => new Set(receiver.requests.map(({ body }) => JSON.parse(body).data.n));
const undelivered = async () => {
  const [row] = await app.sql<{ total: number }>(
    `select count(*)::int as total from webhook_delivery where status <> 'delivered'`,
  );
  return row?.total;
};

/** Triggers steadily until told to stop; answers the numbers that were accepted and the statuses of all the others. */
function keepTriggering(events: readonly string[]) {
  const accepted: number[] = [];
  const refused: number[] = [];
  const over = new AbortController();
  let n = 0;
  const triggering = (async () => {
    while (!over.signal.aborted) {
      const body = { event: events[n % events.length], payload: { n } };
      const { status } = await app.as(app.application).send('POST', '/api/webhooks/trigger', { body });
      if (status === 202) accepted.push(n);
      else refused.push(status);
      n++;
      await sleep(20);
    }
  })();
  return async () => {
    over.abort();
    await triggering;
    return { accepted, refused };
  };
}

test('Temporal is away for a while under load: triggers are accepted all the time, and all that was accepted arrives', async () => {
  const dataDir = mkdtempSync(join(tmpdir(), 'quayside-engine-'));
  chmodSync(dataDir, 0o755);
  const options = { dataDir, port: await freePort(), uiPort: await freePort() };
  let engine: RunningTemporal = await startTemporal(options);
  try {
    app = await testApp({ env: { TEMPORAL_ADDRESS: engine.address, SERVICE_PACE: '0.1' } });
    await addWebhook('away.hot');
    await addWebhook('away.cold');
    worker = await startWorker(app, QUEUES);
    const hot = keepTriggering(['away.hot']);
    await receiver.received(20);
    await engine.stop();
    const cold = keepTriggering(['away.cold']);
    await sleep(AWAY_MS);
    const triggered = [await hot(), await cold()];
    const accepted = triggered.flatMap((run) => run.accepted).length;
    expect(triggered.map((run) => run.refused)).toEqual([[], []]);
    expect(triggered.every((run) => run.accepted.length > 0)).toBe(true);
    engine = await startTemporal(options);
    await eventually(
      async () => undelivered(),
      (total) => total === 0,
    );
    const rows = await app.sql('select from webhook_delivery');
    expect(rows).toHaveLength(accepted);
    expect(new Set(receiver.requests.map(({ headers }) => headers['webhook-id'])).size).toBe(accepted);
  } finally {
    await worker?.stop();
    worker = undefined;
    await engine.stop();
    rmSync(dataDir, { recursive: true, force: true });
  }
});

test('connections to the database are cut again and again under load: all that was accepted arrives', async () => {
  app = await testApp({ env: { SERVICE_PACE: '0.1' } });
  const events = ['cut.a', 'cut.b'];
  for (const event of events) await addWebhook(event);
  worker = await startWorker(app, QUEUES);
  const stop = keepTriggering(events);
  for (let count = 0; count < 6; count++) {
    await sleep(500);
    await app.sql(
      'select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()',
    );
  }
  const { accepted } = await stop();
  expect(accepted).not.toEqual([]);
  await eventually(
    async () => accepted.filter((n) => !arrived().has(n)).length,
    (missing) => missing === 0,
  );
  await eventually(
    async () => undelivered(),
    (total) => total === 0,
  );
});
