import type { Json } from '../../../support/client.ts';
import { type TestApp, testApp } from '../../../support/app.ts';
import { eventually } from '../../../support/eventually.ts';
import { insertDeliveries } from '../../../support/factories.ts';
import { idleEngine } from '../../../support/launch.ts';

const RECEIVER = 'http://127.0.0.1:9/hook';
const woken: string[] = [];
const launch = {
  ...idleEngine,
  signalWithStartInBackground: (_: unknown, input: unknown) => {
    woken.push((input as { webhookId: string }).webhookId);
  },
};
let app: TestApp;
let made = 0;

beforeAll(async () => {
  app = await testApp({ launch });
});
afterAll(() => app.close());
beforeEach(() => {
  woken.length = 0;
});

const owner = () => app.as(app.owner);
async function make(event = `test.event-${++made}`) {
  return owner().post(201, '/api/webhooks', { name: event, event, config: { url: RECEIVER } });
}
const trigger = (event: string, payload: object = {}) =>
  app.as(app.application).post(202, '/api/webhooks/trigger', { event, payload });
const list = (id: string, query = '') => owner().get(200, `/api/webhooks/${id}/deliveries${query}`);

test('a trigger queues one delivery for each active subscriber, in the tenant alone', async () => {
  const event = `test.many-${++made}`;
  const webhooks = [await make(event), await make(event), await make(event)];
  await owner().patch(200, `/api/webhooks/${webhooks[2].id}`, { status: 'inactive' });
  await app.as(app.stranger).post(201, '/api/webhooks', { name: 'x', event, config: { url: RECEIVER } });
  woken.length = 0;
  const results = await trigger(event, { n: 1 });
  expect(results).toHaveLength(2);
  expect(results[0]).toMatchObject({ success: true, providerDetails: { queued: true, eventName: event } });
  const rung = await eventually(
    async () => woken.toSorted(),
    ({ length }) => length === 2,
  );
  expect(rung).toEqual([webhooks[0].id, webhooks[1].id].toSorted());
  expect((await list(webhooks[0].id)).deliveries).toMatchObject([
    { status: 'pending', event, attempts: 0, responseStatus: null },
  ]);
});

test('an event without a subscriber is audited, and answers nothing', async () => {
  expect(await trigger('nobody.listens')).toEqual([]);
  const [entry] = await app.sql(
    `select actor->>'email' as email, source from audit_entry where entity_id = 'nobody.listens'`,
  );
  expect(entry).toEqual({ email: 'app:ci', source: 'webhook' });
});

test('many triggers at once: each is queued and audited once, and the chain holds', async () => {
  const webhook = await make();
  const results = await Promise.all(Array.from({ length: 200 }, (_, n) => trigger(webhook.event, { n })));
  expect(new Set(results.map(([result]) => result.providerDetails.deliveryId)).size).toBe(200);
  const rows = await app.sql<{ n: number; id: string }>(
    `select (payload->>'n')::int as n, id from webhook_delivery where webhook_id = ?`,
    [webhook.id],
  );
  for (const { n, id } of rows) expect(results[n][0].providerDetails.deliveryId).toBe(id);
  const [trail] = await app.sql('select count(*)::int as total from audit_entry where entity_id = ?', [webhook.event]);
  expect(trail).toEqual({ total: 200 });
  const [gaps] = await app.sql(
    `select count(*)::int as total from (select prev_hash, lag(hash) over (order by sequence) as before from audit_entry where tenant_id = ?) e where before <> prev_hash`,
    [app.tenant.id],
  );
  expect(gaps).toEqual({ total: 0 });
});

test('a payload is kept as it was given', async () => {
  const webhook = await make();
  const payload = { z: 1, a: { '': null, 'ü"\\': [1.5, true] }, big: 'x'.repeat(10_000) };
  await trigger(webhook.event, payload);
  const [row] = await app.sql<{ text: string }>(
    'select payload::text as text from webhook_delivery where webhook_id = ?',
    [webhook.id],
  );
  expect(row?.text).toBe(JSON.stringify(payload));
});

test.each([
  [{ event: 'Not A Name', payload: {} }, 400],
  [{ event: 'x', payload: [] }, 400],
  [{ event: 'x' }, 400],
  [{ event: 'x', payload: {}, more: 1 }, 400],
  [{ event: 'x', payload: { a: 'b\0' } }, 400],
  [{ event: 'x', payload: { big: 'x'.repeat(1_100_000) } }, 413],
])('refused trigger %#', async (body, status) => {
  await app.as(app.application).post(status, '/api/webhooks/trigger', body);
});

test('many deliveries at once, to webhooks of any name: each is queued and audited once, and the chain holds', async () => {
  await owner().post(201, '/api/projects', { identifier: 'acme/direct', platform: 'host-a' });
  const names = ['plain', 'a "quoted" \\ name', 'ü \u0007 \u007f \u2028 \n €'];
  const webhooks = await Promise.all(
    names.map((name) => owner().post(201, '/api/webhooks', { name, event: 'test.direct', config: { url: RECEIVER } })),
  );
  webhooks.push(
    await owner().post(201, '/api/webhooks', { repositoryIdentifier: 'acme/direct', webhookUrl: RECEIVER }),
  );
  const deliver = (n: number) =>
    app.as(app.application).post(202, `/api/webhooks/${webhooks[n % webhooks.length].id}/deliver`, { payload: { n } });
  const results = await Promise.all(Array.from({ length: 80 }, (_, n) => deliver(n)));
  for (const webhook of webhooks) {
    const rows = await app.sql<{ id: string; n: number; summary: string; repository: string | null }>(
      `select d.id, (d.payload->>'n')::int as n, e.summary, e.repository_identifier as repository
       from webhook_delivery d join audit_entry e on e.entity_id = d.webhook_id::text and e.after->>'deliveryId' = d.id::text
       where d.webhook_id = ?`,
      [webhook.id],
    );
    expect(rows).toHaveLength(20);
    for (const { id, n, summary, repository } of rows) {
      expect(results[n].providerDetails).toMatchObject({ queued: true, deliveryId: id, webhookId: webhook.id });
      expect(summary).toBe(`Webhook ${webhook.name}: delivery queued`);
      expect(repository).toBe(webhook.repositoryIdentifier);
    }
  }
  expect(await owner().get(200, '/api/audit/verify')).toMatchObject({ isIntact: true });
});

test('one webhook is delivered to, unless it is off or not there', async () => {
  const webhook = await make();
  const result = await app.as(app.application).post(202, `/api/webhooks/${webhook.id}/deliver`, { payload: { a: 1 } });
  expect(result).toMatchObject({
    success: true,
    providerDetails: { queued: true, webhookId: webhook.id, eventName: webhook.event, url: RECEIVER, method: 'POST' },
  });
  expect(
    await eventually(
      async () => woken,
      ({ length }) => length > 0,
    ),
  ).toEqual([webhook.id]);
  await owner().patch(200, `/api/webhooks/${webhook.id}`, { status: 'inactive' });
  const refused = await owner().post(202, `/api/webhooks/${webhook.id}/deliver`, { payload: {} });
  expect(refused).toEqual({
    success: false,
    error: 'The webhook is inactive',
    providerDetails: { queued: false, webhookId: webhook.id, eventName: webhook.event, reason: 'inactive' },
  });
  expect((await list(webhook.id)).deliveries).toHaveLength(1);
  const missing = await owner().post(404, `/api/webhooks/${app.tenant.id}/deliver`, { payload: {} });
  expect(missing).toMatchObject({
    code: 'not_found',
    success: false,
    error: 'The webhook was not found',
    providerDetails: { notFound: true },
  });
});

test('the list is paged by cursor, newest first, without loss or repetition', async () => {
  const webhook = await make();
  await insertDeliveries(app, webhook, 120, { status: 'delivered', lastStatusCode: 200 });
  const seen: string[] = [];
  let cursor: string | null = null;
  do {
    const { headers, body } = await owner().request(
      200,
      'GET',
      `/api/webhooks/${webhook.id}/deliveries?limit=50${cursor ? `&cursor=${cursor}` : ''}`,
    );
    seen.push(...body.deliveries.map(({ createdAt }: { createdAt: string }) => createdAt));
    cursor = body.nextCursor;
    expect(headers.get('link') !== null).toBe(cursor !== null);
  } while (cursor);
  expect(seen).toEqual(seen.toSorted().toReversed());
  expect(new Set(seen).size).toBe(120);
});

test('the list is filtered; the totals are those of the window', async () => {
  const webhook = await make();
  await insertDeliveries(app, webhook, 4, { status: 'delivered', lastStatusCode: 200 });
  await insertDeliveries(app, webhook, 3, { status: 'failed', lastStatusCode: 500 });
  await insertDeliveries(app, webhook, 2, { status: 'filtered' });
  await insertDeliveries(app, webhook, 1, { status: 'pending', lastStatusCode: 503 });
  const lengths: Record<string, number> = {};
  for (const query of [
    'status=failed',
    'status=filtered',
    'responseStatus=500',
    'responseStatus=200',
    'from=2026-01-01T00:02:00Z',
    'to=2026-01-01T00:02:00Z',
    'from=2026-01-01T00:02:00Z&to=2026-01-01T00:03:00Z&status=delivered',
  ]) {
    lengths[query] = (await list(webhook.id, `?${query}`)).deliveries.length;
  }
  expect(Object.values(lengths)).toEqual([3, 2, 3, 4, 6, 4, 1]);
  const { totals } = await list(webhook.id, '?from=2026-01-01T00:00:00Z&status=filtered');
  expect(totals).toEqual({ success: 4, failure: 3, pending: 1 });
  for (const query of [
    'status=lost',
    'responseStatus=99',
    'limit=0',
    'limit=201',
    'from=2026-02-30T00:00:00Z',
    'cursor=nonsense',
    'more=1',
  ]) {
    await owner().get(400, `/api/webhooks/${webhook.id}/deliveries?${query}`);
  }
});

test('the deliveries of all webhooks are one list, by cursor and by event, for owners of the tenant', async () => {
  const [one, two] = [await make(), await make()];
  for (const webhook of [one, two]) await insertDeliveries(app, webhook, 30, { status: 'failed', lastStatusCode: 500 });
  const everywhere = (query: string) => owner().get(200, `/api/webhooks/deliveries?${query}`);
  const seen: { id: string; webhookName: string; createdAt: string }[] = [];
  let cursor: string | null = '';
  while (cursor !== null) {
    const page = await everywhere(`limit=25&status=failed&responseStatus=500${cursor && `&cursor=${cursor}`}`);
    seen.push(...page.deliveries);
    cursor = page.nextCursor;
  }
  const times = seen.map(({ createdAt }) => createdAt);
  expect(times).toEqual(times.toSorted().toReversed());
  expect(new Set(seen.map(({ id }) => id)).size).toBe(seen.length);
  for (const { event, name } of [one, two]) {
    expect(seen.filter(({ webhookName }) => webhookName === name)).toHaveLength(30);
    const { deliveries } = await everywhere(`event=${event}&limit=200`);
    expect(deliveries.map(({ webhookName }: Json) => webhookName)).toEqual(Array.from({ length: 30 }, () => name));
  }
  expect(await everywhere('repositoryIdentifier=acme/none')).toEqual({ deliveries: [], nextCursor: null });
  await app.as(app.member).get(403, '/api/webhooks/deliveries');
  expect(await app.as(app.stranger).get(200, '/api/webhooks/deliveries')).toEqual({ deliveries: [], nextCursor: null });
});

test('nothing is sent again for a webhook that is off, or for a delivery of another', async () => {
  const [webhook, other] = [await make(), await make()];
  await insertDeliveries(app, webhook, 1, { status: 'failed', lastStatusCode: 500 });
  const [delivery] = (await list(webhook.id)).deliveries;
  await owner().post(404, `/api/webhooks/${other.id}/deliveries/${delivery.id}/redeliver`);
  await owner().get(404, `/api/webhooks/${other.id}/deliveries/${delivery.id}/attempts`);
  await owner().patch(200, `/api/webhooks/${webhook.id}`, { status: 'inactive' });
  expect(await owner().post(202, `/api/webhooks/${webhook.id}/deliveries/${delivery.id}/redeliver`)).toMatchObject({
    success: false,
  });
  expect(
    await owner().post(202, `/api/webhooks/${webhook.id}/recover`, { since: '2026-01-01T00:00:00Z' }),
  ).toMatchObject({ success: false, recovered: 0 });
});

test('a recovery takes failed ones of its window, and says when there are more', async () => {
  const webhook = await make();
  await insertDeliveries(app, webhook, 3, { status: 'failed', lastStatusCode: 500 });
  await insertDeliveries(app, webhook, 2, { status: 'delivered', lastStatusCode: 200 });
  const window = { since: '2026-01-01T00:01:00Z', until: '2026-01-01T00:03:00Z' };
  expect(await owner().post(202, `/api/webhooks/${webhook.id}/recover`, window)).toEqual({
    success: true,
    recovered: 2,
    hasMore: false,
  });
  expect(await owner().post(202, `/api/webhooks/${webhook.id}/recover`, window)).toMatchObject({ recovered: 0 });
  await owner().post(400, `/api/webhooks/${webhook.id}/recover`, { since: window.until, until: window.since });
  await owner().post(400, `/api/webhooks/${webhook.id}/recover`, {});
  await insertDeliveries(app, webhook, 10_001, { status: 'failed', lastStatusCode: 500 });
  expect(
    await owner().post(202, `/api/webhooks/${webhook.id}/recover`, { since: '2026-01-01T00:00:00Z' }),
  ).toMatchObject({ recovered: 10_000, hasMore: true });
});

test('what the service itself announces is queued in the transaction of its cause', async () => {
  const webhook = await make('project.created');
  woken.length = 0;
  await owner().post(201, '/api/projects', { identifier: 'acme/announced', platform: 'host-b' });
  await owner().post(409, '/api/projects', { identifier: 'acme/announced', platform: 'host-b' });
  const rows = await app.sql('select event, payload from webhook_delivery where webhook_id = ?', [webhook.id]);
  expect(rows).toMatchObject([
    { event: 'project.created', payload: { repositoryIdentifier: 'acme/announced', platform: 'host-b' } },
  ]);
  expect(
    await eventually(
      async () => woken,
      ({ length }) => length > 0,
    ),
  ).toEqual([webhook.id]);
});
