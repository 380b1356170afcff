import { type TestApp, testApp } from '../../../support/app.ts';
import { eventually, startWorker, startWorkerProcess, type TestWorker } from '../../../support/worker.ts';
import { type WebhookReceiver, webhookReceiver } from '../../../simulators/webhook-receiver.ts';

const TRIGGERED = 2_400;
const STORED = 2_000;
/** Bounds of each webhook, as in `pump.activities.ts` and `row-pump.ts`. */
const [HELD_MAX, UNRECORDED_MAX] = [96, 128];
const QUEUES = ['webhooks-v1', 'system-v1'];

let app: TestApp;
let receiver: WebhookReceiver;
let worker: TestWorker | undefined;

beforeAll(async () => {
  app = await testApp({ env: { SERVICE_PACE: '0.1' } });
});
afterAll(() => app.close());
beforeEach(async () => {
  receiver = await webhookReceiver();
});
afterEach(async () => {
  await worker?.stop();
  worker = undefined;
  await receiver.close();
});

const addWebhook = (event: string, url = receiver.url, more = {}) =>
  app.as(app.owner).post(201, '/api/webhooks', { name: event, event, config: { url }, ...more });
const trigger = (event: string, payload: object) =>
  app.as(app.application).post(202, '/api/webhooks/trigger', { event, payload });
/** @param events their names begin so. */
const countOf = async (events: string, status: string): Promise<number> => {
  const [row] = await app.sql<{ total: number }>(
    'select count(*)::int as total from webhook_delivery where event like ? and status = ?',
    [`${events}%`, status],
  );
  return row?.total ?? 0;
};

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
  const first = await startWorkerProcess(app, QUEUES);
  await receiver.received(50);
  await first.kill('SIGKILL');
  expect(await countOf('kill.', 'pending')).toBeGreaterThanOrEqual(2_000);
  worker = await startWorker(app, QUEUES);
  const arrived = () => new Set(receiver.requests.map(({ body }) => JSON.parse(body).data.n));
  await eventually(
    async () => arrived().size,
    (count) => count === TRIGGERED,
  );
  await eventually(
    () => countOf('kill.', 'delivered'),
    (count) => count === TRIGGERED,
  );
  // What was under way at the moment of the kill may come twice, and what had been answered and was not recorded yet.
  expect(receiver.requests.length - TRIGGERED).toBeLessThanOrEqual(events.length * (HELD_MAX + UNRECORDED_MAX));
});

test('a worker that is told to stop ends soon though its receiver hangs, and gives back what it had claimed', async () => {
  await addWebhook('hang.a', receiver.url, { timeout: 60_000 });
  receiver.answer(() => undefined);
  const stopped = await startWorker(app, QUEUES);
  for (let n = 0; n < 40; n++) await trigger('hang.a', { n });
  await receiver.received(32);
  await stopped.stop();
  const [leased] = await app.sql<{ total: number }>(
    'select count(*)::int as total from webhook_delivery where lease_until is not null',
  );
  expect(leased?.total).toBe(0);
  receiver.answer(200);
  worker = await startWorker(app, QUEUES);
  await receiver.received(32 + 40);
  await eventually(
    () => countOf('hang.', 'delivered'),
    (count) => count === 40,
  );
  // A request that was cut off is not logged as an attempt: its outcome is unknown. One that was waited for would be.
  expect(await app.sql(`select distinct attempts from webhook_delivery where event = 'hang.a'`)).toEqual([
    { attempts: 1 },
  ]);
});

test('a receiver that hangs holds up nobody else', async () => {
  const slow = await webhookReceiver();
  slow.answer(() => undefined);
  await addWebhook('slow.a', slow.url, { timeout: 60_000 });
  await addWebhook('fast.a');
  worker = await startWorker(app, QUEUES);
  for (let n = 0; n < 100; n++) await trigger('slow.a', { n });
  await slow.received(32);
  for (let n = 0; n < 50; n++) await trigger('fast.a', { n });
  await receiver.received(50);
  const attempted = await app.sql(`select 1 from webhook_delivery where event = 'slow.a' and attempts > 0`);
  expect([attempted, slow.requests.length]).toEqual([[], 32]);
  await slow.close();
});

test('a wake that is lost costs a sweep, not the delivery', async () => {
  const { id } = await addWebhook('lost.wake');
  // As if the process that stored it had ended before it told the lane.
  await app.sql(
    `insert into webhook_delivery (id, tenant_id, webhook_id, event, payload, due_at)
     values (uuidv7(), ?, ?, 'lost.wake', '{}', now() - interval '1 minute')`,
    [app.tenant.id, id],
  );
  worker = await startWorker(app, QUEUES);
  await receiver.received(1);
});
