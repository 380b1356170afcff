import { type TestApp, testApp } from '../../support/app.ts';
import { idleEngine } from '../../support/launch.ts';
import { eventually, startWorker, startWorkerProcess, type TestWorkerProcess } from '../../support/worker.ts';
import { type WebhookReceiver, webhookReceiver } from '../../simulators/webhook-receiver.ts';

const TRIGGERED = 2_400;
const STORED = 2_000;
/** Of each webhook, as in `pump.activities.ts`. */
const [HELD_MAX, UNRECORDED_MAX] = [96, 128];
const QUEUES = ['webhooks-v1', 'system-v1'];

let app: TestApp;
let receiver: WebhookReceiver;
const workers: TestWorkerProcess[] = [];

beforeEach(async () => {
  app = await testApp();
  receiver = await webhookReceiver();
}, 30_000);
afterEach(async () => {
  for (const worker of workers.splice(0)) await worker.kill('SIGKILL');
  await receiver.close();
  await app.close();
});

const addWebhook = (event: string, url = receiver.url, more = {}) =>
  app.as(app.owner).post(201, '/api/webhooks', { name: event, event, config: { url }, ...more });
const trigger = (event: string, payload: object) =>
  app.as(app.application).post(202, '/api/webhooks/trigger', { event, payload });
const countOf = async (status: string): Promise<number> => {
  const [row] = await app.sql<{ total: number }>(
    'select count(*)::int as total from webhook_delivery where status = ?',
    [status],
  );
  return row?.total ?? 0;
};
async function work(): Promise<TestWorkerProcess> {
  const worker = await startWorkerProcess(app, QUEUES);
  workers.push(worker);
  return worker;
}

test('a worker is killed with -9 while 2,000 deliveries are pending: all arrive', async () => {
  const events = ['kill.a', 'kill.b', 'kill.c', 'kill.d'];
  for (const event of events) await addWebhook(event);
  receiver.answer((response) => setTimeout(() => response.writeHead(200).end(), 50));
  // Most are stored as the API stores them, which takes less time than requests.
  await app.sql(
    `insert into webhook_delivery (id, tenant_id, webhook_id, event, payload)
     select uuidv7(), tenant_id, id, event, json_build_object('n', (row_number() over ()) - 1)
     from webhook, generate_series(1, ?::int / ?::int) where event like 'kill.%'`,
    [STORED, events.length],
  );
  for (let n = STORED; n < TRIGGERED; n += 50) {
    await Promise.all(Array.from({ length: 50 }, (_, at) => trigger(events[at % events.length] ?? '', { n: n + at })));
  }
  const first = await work();
  await receiver.received(50);
  await first.kill('SIGKILL');
  expect(await countOf('pending')).toBeGreaterThanOrEqual(2_000);
  await work();
  const arrived = () => new Set(receiver.requests.map(({ body }) => JSON.parse(body).data.n));
  await eventually(
    async () => arrived().size,
    (count) => count === TRIGGERED,
    60_000,
  );
  await eventually(
    () => countOf('delivered'),
    (count) => count === TRIGGERED,
  );
  // What was under way at the moment of the kill may come twice, and what had been answered and was not recorded yet.
  expect(receiver.requests.length - TRIGGERED).toBeLessThanOrEqual(events.length * (HELD_MAX + UNRECORDED_MAX));
}, 120_000);

test('a worker that is told to stop ends soon though its receiver hangs, and gives back what it had claimed', async () => {
  await addWebhook('hang.a', receiver.url, { timeout: 60_000 });
  receiver.answer(() => undefined);
  const worker = await work();
  for (let n = 0; n < 40; n++) await trigger('hang.a', { n });
  await receiver.received(32);
  const began = Date.now();
  expect(await worker.kill('SIGTERM')).toBe(0);
  expect(Date.now() - began).toBeLessThan(15_000);
  const [leased] = await app.sql<{ total: number }>(
    'select count(*)::int as total from webhook_delivery where lease_until is not null',
  );
  expect(leased?.total).toBe(0);
  receiver.answer(200);
  await work();
  await receiver.received(32 + 40, 30_000);
  await eventually(
    () => countOf('delivered'),
    (count) => count === 40,
  );
  // A request that was cut off is not logged as an attempt: its outcome is unknown.
  expect(await app.sql('select distinct attempts from webhook_delivery')).toEqual([{ attempts: 1 }]);
}, 90_000);

test('a receiver that hangs holds up nobody else', async () => {
  const slow = await webhookReceiver();
  slow.answer(() => undefined);
  await addWebhook('slow.a', slow.url, { timeout: 60_000 });
  await addWebhook('fast.a');
  const worker = await startWorker(app, QUEUES);
  for (let n = 0; n < 100; n++) await trigger('slow.a', { n });
  await slow.received(32);
  const began = Date.now();
  for (let n = 0; n < 50; n++) await trigger('fast.a', { n });
  await receiver.received(50);
  expect(Date.now() - began).toBeLessThan(5_000);
  await slow.close();
  await worker.stop();
}, 60_000);

test('a wake that is lost costs a sweep, not the delivery', async () => {
  const deaf = await testApp({ launch: idleEngine });
  try {
    await deaf
      .as(deaf.owner)
      .post(201, '/api/webhooks', { name: 'a', event: 'lost.wake', config: { url: receiver.url } });
    await deaf.as(deaf.application).post(202, '/api/webhooks/trigger', { event: 'lost.wake', payload: {} });
    const worker = await startWorker(deaf, QUEUES);
    await receiver.received(1, 40_000);
    await worker.stop();
  } finally {
    await deaf.close();
  }
}, 90_000);
