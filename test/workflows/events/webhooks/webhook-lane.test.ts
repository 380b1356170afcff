import { Webhook } from 'standardwebhooks';
import { type TestApp, testApp } from '../../../support/app.ts';
import { eventually, startWorker, type TestWorker } from '../../../support/worker.ts';
import { type ReceivedRequest, type WebhookReceiver, webhookReceiver } from '../../../simulators/webhook-receiver.ts';

let app: TestApp;
let worker: TestWorker;
let receiver: WebhookReceiver;
let made = 0;

beforeAll(async () => {
  app = await testApp();
  worker = await startWorker(app, ['webhooks-v1']);
});
afterAll(async () => {
  await worker.stop();
  await app.close();
});
beforeEach(async () => {
  receiver = await webhookReceiver();
});
afterEach(() => receiver.close());

const owner = () => app.as(app.owner);
const path = (id: string) => `/api/webhooks/${id}`;

/** A webhook with an event of its own that points to the test's receiver. */
async function addWebhook(options: Record<string, unknown> = {}, config: Record<string, unknown> = {}) {
  const event = `test.event-${++made}`;
  const body = { name: event, event, retryDelay: 100, ...options, config: { url: receiver.url, ...config } };
  return owner().post(201, '/api/webhooks', body);
}
const trigger = (event: string, payload: object = { a: 1 }, headers = {}) =>
  app.as(app.application).post(202, '/api/webhooks/trigger', { event, payload }, headers);
const verified = (secret: string, { body, headers }: ReceivedRequest) =>
  new Webhook(secret).verify(body, headers as Record<string, string>);
const deliveriesOf = async (id: string) => (await owner().get(200, `${path(id)}/deliveries`)).deliveries;
const settled = (id: string) =>
  eventually(
    () => deliveriesOf(id),
    (list) => list.length > 0 && list.every(({ status }: { status: string }) => status !== 'pending'),
  );
const attemptsOf = (id: string, deliveryId: string) =>
  owner().get(200, `${path(id)}/deliveries/${deliveryId}/attempts`);
const dueLongAgo = (webhookId: string) =>
  app.sql(`update webhook_delivery set due_at = now() - interval '1 minute' where webhook_id = ?`, [webhookId]);
/** Lanes look together for what is due: what another one finds after that was found before it. */
async function otherIsDelivered(): Promise<void> {
  const other = await webhookReceiver();
  const { event } = await addWebhook({}, { url: other.url });
  for (const count of [1, 2, 3]) {
    await trigger(event);
    await other.received(count);
  }
  await other.close();
}
const seconds = (from: string, to: string) => (Date.parse(to) - Date.parse(from)) / 1_000;

test('what is triggered arrives, signed, and its way can be read', async () => {
  const webhook = await addWebhook({}, { headers: { Authorization: 'Bearer s3cret', 'X-Team': 'a' } });
  receiver.answer((response) => response.writeHead(200, { 'set-cookie': 'a=b', 'x-answer': 'yes' }).end('ok'));
  const traceparent = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01';
  const [result] = await trigger(webhook.event, { z: 1, a: [2] }, { traceparent });
  const [request] = await receiver.received(1);
  if (!request) throw new Error('nothing came');
  expect(verified(webhook.secret, request)).toEqual({
    id: result.providerDetails.deliveryId,
    type: webhook.event,
    timestamp: expect.stringMatching(/^\d{4}-.*Z$/),
    data: { z: 1, a: [2] },
  });
  expect(request.body).toContain('"data":{"z":1,"a":[2]}');
  expect(request.headers).toMatchObject({
    authorization: 'Bearer s3cret',
    'x-team': 'a',
    'content-type': 'application/json',
  });
  expect(request.headers.traceparent).toMatch(/^00-0af7651916cd43dd8448eb211c80319c-/);
  const [delivery] = await settled(webhook.id);
  expect(delivery).toMatchObject({
    status: 'delivered',
    attempts: 1,
    responseStatus: 200,
    error: null,
    nextAttemptAt: null,
  });
  const [attempt] = await attemptsOf(webhook.id, delivery.id);
  expect(attempt).toMatchObject({
    attempt: 1,
    statusCode: 200,
    responseBody: 'ok',
    sentBody: request.body,
    templateError: null,
  });
  expect(attempt.responseHeaders).toMatchObject({ 'set-cookie': '[redacted]', 'x-answer': 'yes' });
  const shown = await owner().get(200, path(webhook.id));
  expect(shown.statistics).toEqual({ success: 1, failure: 0, pending: 0, successRate: 1 });
  expect(shown.lastDeliveryAt).not.toBeNull();
});

test('failures are retried with growing waits under the same id, and every attempt is logged', async () => {
  const webhook = await addWebhook({ retryDelay: 200 });
  let count = 0;
  receiver.answer((response) => response.writeHead(++count < 3 ? 503 : 200).end());
  await trigger(webhook.event);
  const requests = await receiver.received(3);
  expect(new Set(requests.map(({ headers }) => headers['webhook-id'])).size).toBe(1);
  const [delivery] = await settled(webhook.id);
  expect(delivery).toMatchObject({ status: 'delivered', attempts: 3 });
  const attempts = await attemptsOf(webhook.id, delivery.id);
  expect(
    attempts.map(({ attempt, statusCode }: { attempt: number; statusCode: number }) => [attempt, statusCode]),
  ).toEqual([
    [3, 200],
    [2, 503],
    [1, 503],
  ]);
  expect(seconds(attempts[2].startedAt, attempts[1].startedAt)).toBeGreaterThanOrEqual(0.2);
  expect(seconds(attempts[1].startedAt, attempts[0].startedAt)).toBeGreaterThanOrEqual(0.4);
});

/** As a date, which has no fractions of a second, at least two seconds. */
const RETRY_AFTER_MS = 2_999;

test.each([
  ['seconds', () => '2'],
  ['a date', () => new Date(Date.now() + RETRY_AFTER_MS).toUTCString()],
])('Retry-After as %s is waited for', async (_, value) => {
  const webhook = await addWebhook();
  let count = 0;
  receiver.answer((response) => (++count === 1 ? response.writeHead(429, { 'retry-after': value() }) : response).end());
  await trigger(webhook.event);
  await receiver.received(2);
  const [delivery] = await settled(webhook.id);
  const [second, first] = await attemptsOf(webhook.id, delivery.id);
  expect(seconds(first.startedAt, second.startedAt)).toBeGreaterThan(1.5);
});

test('a client error is final', async () => {
  const webhook = await addWebhook();
  receiver.answer(422);
  await trigger(webhook.event);
  const [delivery] = await settled(webhook.id);
  const error = 'the receiver answered 422, which is not retried';
  expect(delivery).toMatchObject({ status: 'failed', attempts: 1, responseStatus: 422, error });
  expect(await attemptsOf(webhook.id, delivery.id)).toMatchObject([{ statusCode: 422, error }]);
  expect(await owner().get(200, path(webhook.id))).toMatchObject({ status: 'active', errorCount: 1 });
});

test('a redirect is final and not followed', async () => {
  const webhook = await addWebhook();
  receiver.answer((response) => response.writeHead(307, { location: `${receiver.url}/elsewhere` }).end());
  await trigger(webhook.event);
  expect((await settled(webhook.id))[0]).toMatchObject({
    status: 'failed',
    attempts: 1,
    responseStatus: 307,
    error: 'the receiver answered 307; redirects are not followed',
  });
  expect(receiver.requests).toHaveLength(1);
});

test('an address that is private fails the delivery for good', async () => {
  const webhook = await addWebhook();
  await app.sql(`update webhook set url = 'http://10.0.0.1/', revision = revision + 1 where id = ?`, [webhook.id]);
  await trigger(webhook.event);
  expect((await settled(webhook.id))[0]).toMatchObject({
    status: 'failed',
    attempts: 1,
    error: expect.stringContaining('10.0.0.1'),
  });
});

test('410 disables the webhook, and others hear of it', async () => {
  const webhook = await addWebhook({}, { url: `${receiver.url}/gone?token=secret` });
  const watcher = await owner().post(201, '/api/webhooks', {
    name: 'watcher',
    event: 'webhook.disabled',
    config: { url: `${receiver.url}/watch` },
  });
  receiver.answer((response, request) => response.writeHead(request.path.startsWith('/gone') ? 410 : 200).end());
  await trigger(webhook.event);
  await receiver.received(2);
  expect(await owner().get(200, path(webhook.id))).toMatchObject({
    status: 'failed',
    failureReason: expect.stringContaining('410'),
  });
  const announced = JSON.parse(receiver.requests.find((request) => request.path === '/watch')?.body ?? '');
  expect(announced).toMatchObject({ type: 'webhook.disabled', data: { id: webhook.id, url: `${receiver.url}/gone` } });
  expect(await trigger(webhook.event)).toEqual([]);
  const refused = await owner().post(202, `${path(webhook.id)}/deliver`, { payload: {} });
  expect(refused).toMatchObject({ success: false, providerDetails: { queued: false, reason: 'failed' } });
  const [entry] = await app.sql(
    `select actor->>'type' as type from audit_entry where action = 'webhook.disabled' and entity_id = ?`,
    [webhook.id],
  );
  expect(entry).toEqual({ type: 'system' });
  await owner().delete(204, path(watcher.id));
});

test('twenty deliveries in a row that use up their attempts disable the webhook; active again, it starts from zero', async () => {
  const webhook = await addWebhook({ retryCount: 1 });
  receiver.answer(500);
  for (let count = 0; count < 19; count++) await trigger(webhook.event);
  await settled(webhook.id);
  expect(await owner().get(200, path(webhook.id))).toMatchObject({ status: 'active', errorCount: 19 });
  await trigger(webhook.event);
  await eventually(
    () => owner().get(200, path(webhook.id)),
    ({ status }) => status === 'failed',
  );
  expect(receiver.requests).toHaveLength(40);
  const revived = await owner().patch(200, path(webhook.id), { status: 'active' });
  expect(revived).toMatchObject({ status: 'active', errorCount: 0, failureReason: null });
  receiver.answer(200);
  await trigger(webhook.event);
  await receiver.received(41);
});

test('a success in between starts the count anew', async () => {
  const webhook = await addWebhook({ retryCount: 0 });
  receiver.answer(500);
  for (let count = 0; count < 19; count++) await trigger(webhook.event);
  await settled(webhook.id);
  receiver.answer(200);
  await trigger(webhook.event);
  await settled(webhook.id);
  expect(await owner().get(200, path(webhook.id))).toMatchObject({ status: 'active', errorCount: 0 });
});

test('what the filter does not want is recorded and not sent', async () => {
  const webhook = await addWebhook(
    {},
    { filter: { 'data.domain': ['sales'], 'data.count': { gte: 2 }, type: { regex: '^test' } } },
  );
  await trigger(webhook.event, { domain: 'service', count: 5 });
  await trigger(webhook.event, { domain: 'sales', count: 1 });
  await trigger(webhook.event, { domain: 'sales', count: 2 });
  await receiver.received(1);
  const deliveries = await settled(webhook.id);
  expect(deliveries.map(({ status }: { status: string }) => status).toSorted()).toEqual([
    'delivered',
    'filtered',
    'filtered',
  ]);
  const filtered = deliveries.find(({ status }: { status: string }) => status === 'filtered');
  expect(filtered).toMatchObject({ attempts: 0, responseStatus: null });
  expect(await attemptsOf(webhook.id, filtered.id)).toEqual([]);
});

test('a template makes the body; an unknown path fails the delivery and sends nothing', async () => {
  const webhook = await addWebhook(
    {},
    {
      body: '{"text":{{ data.name | json }},"by":"{{ type }}"}',
      method: 'PUT',
      headers: { 'Content-Type': 'text/x-mine' },
    },
  );
  await trigger(webhook.event, { name: 'a "b"' });
  const [request] = await receiver.received(1);
  expect(request).toMatchObject({
    method: 'PUT',
    body: `{"text":"a \\"b\\"","by":"${webhook.event}"}`,
    headers: { 'content-type': 'text/x-mine' },
  });
  const [first] = await settled(webhook.id);
  expect((await attemptsOf(webhook.id, first.id))[0].sentBody).toBe(request?.body);
  await trigger(webhook.event, { other: 1 });
  const [delivery] = await settled(webhook.id);
  expect(delivery).toMatchObject({ status: 'failed', attempts: 1, error: 'unknown path data.name' });
  expect((await attemptsOf(webhook.id, delivery.id))[0]).toMatchObject({
    templateError: 'unknown path data.name',
    sentBody: null,
  });
  expect(receiver.requests).toHaveLength(1);
});

test('after a rotation both secrets sign, and after a day only the new one', async () => {
  const webhook = await addWebhook();
  const { secret, previousSecretValidUntil } = await owner().post(200, `${path(webhook.id)}/rotate-secret`);
  expect(seconds(new Date().toISOString(), previousSecretValidUntil) / 3_600).toBeCloseTo(24, 1);
  await trigger(webhook.event);
  const [during] = await receiver.received(1);
  if (!during) throw new Error('nothing came');
  verified(webhook.secret, during);
  verified(secret, during);
  await app.sql(
    `update webhook set previous_secret_until = now() - interval '1 second', revision = revision + 1 where id = ?`,
    [webhook.id],
  );
  await trigger(webhook.event);
  const [, after] = await receiver.received(2);
  if (!after) throw new Error('nothing came');
  verified(secret, after);
  expect(() => verified(webhook.secret, after)).toThrow();
});

test('a change is effective for what is sent next', async () => {
  const webhook = await addWebhook();
  await trigger(webhook.event);
  await receiver.received(1);
  await owner().patch(200, path(webhook.id), { config: { url: `${receiver.url}/new`, headers: { 'X-New': '1' } } });
  await trigger(webhook.event);
  const [, second] = await receiver.received(2);
  expect(second).toMatchObject({ path: '/new', headers: { 'x-new': '1' } });
});

test('an inactive webhook keeps what is pending until it is active again', async () => {
  const webhook = await addWebhook({ retryDelay: 1_000 });
  receiver.answer(503);
  await trigger(webhook.event);
  await eventually(
    () => deliveriesOf(webhook.id),
    ([delivery]) => delivery.attempts === 1,
  );
  await owner().patch(200, path(webhook.id), { status: 'inactive' });
  expect(await trigger(webhook.event)).toEqual([]);
  await dueLongAgo(webhook.id);
  await otherIsDelivered();
  expect(receiver.requests).toHaveLength(1);
  receiver.answer(200);
  await owner().patch(200, path(webhook.id), { status: 'active' });
  await receiver.received(2);
  expect((await settled(webhook.id))[0]).toMatchObject({ status: 'delivered', attempts: 2 });
});

test('deleting cancels what is pending and keeps the log', async () => {
  const webhook = await addWebhook({ retryDelay: 1_000 });
  receiver.answer(503);
  await trigger(webhook.event);
  await receiver.received(1);
  await eventually(
    () => deliveriesOf(webhook.id),
    ([delivery]) => delivery.attempts === 1,
  );
  await owner().delete(204, path(webhook.id));
  expect(await deliveriesOf(webhook.id)).toMatchObject([{ status: 'cancelled', attempts: 1 }]);
  await dueLongAgo(webhook.id);
  await otherIsDelivered();
  expect(receiver.requests).toHaveLength(1);
  await owner().get(404, path(webhook.id));
});

test('redeliver and recover send again, linked to the first', async () => {
  const webhook = await addWebhook({ retryCount: 0 });
  receiver.answer(500);
  await trigger(webhook.event, { n: 1 });
  await trigger(webhook.event, { n: 2 });
  const failed = await settled(webhook.id);
  receiver.answer(200);
  const since = failed.at(-1).createdAt;
  const again = await owner().post(202, `${path(webhook.id)}/deliveries/${failed[0].id}/redeliver`);
  await receiver.received(3);
  expect(await owner().post(202, `${path(webhook.id)}/recover`, { since })).toEqual({
    success: true,
    recovered: 1,
    hasMore: false,
  });
  await receiver.received(4);
  expect(await owner().post(202, `${path(webhook.id)}/recover`, { since })).toMatchObject({ recovered: 0 });
  const deliveries = await settled(webhook.id);
  expect(
    deliveries
      .map(({ redeliveryOf }: { redeliveryOf: string }) => redeliveryOf)
      .filter(Boolean)
      .toSorted(),
  ).toEqual(failed.map(({ id }: { id: string }) => id).toSorted());
  expect(deliveries.some(({ id }: { id: string }) => id === again.providerDetails.deliveryId)).toBe(true);
  expect(new Set(receiver.requests.slice(2).map(({ body }) => JSON.parse(body).data.n))).toEqual(new Set([1, 2]));
});

test('a test sends the sample of the catalog', async () => {
  const webhook = await owner().post(201, '/api/webhooks', {
    name: 'sample',
    event: 'release.published',
    config: { url: receiver.url },
  });
  await owner().post(202, `${path(webhook.id)}/test`);
  const [request] = await receiver.received(1);
  expect(JSON.parse(request?.body ?? '')).toMatchObject({
    type: 'release.published',
    data: { releaseName: '2026.03' },
  });
  await owner().delete(204, path(webhook.id));
});
