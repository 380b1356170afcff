import { sql } from 'kysely';
import { json } from '../../../../domain/kernel/data/columns.ts';
import { connectDatabase, type DatabaseConnection } from '../../../../domain/kernel/data/database.ts';
import { newId } from '../../../../domain/kernel/shared/ids.ts';
import type { NextStep } from '../../../../domain/events/webhooks/delivery-rules.ts';
import {
  type ClaimedDelivery,
  createLaneStore,
  type LaneKey,
  type LaneStore,
} from '../../../../domain/events/webhooks/lane-store.queries.ts';
import type { Outcome } from '../../../../domain/events/webhooks/outcomes.queries.ts';
import { type TestApp, testApp } from '../../../support/app.ts';
import { insertDeliveries } from '../../../support/factories.ts';

let app: TestApp;
let system: DatabaseConnection;
let store: LaneStore;

beforeAll(async () => {
  app = await testApp();
  system = connectDatabase({ databaseUrl: app.databaseUrl, role: 'quayside_app_system', poolSize: 4 }, () => undefined);
  store = createLaneStore(system.db);
});
afterAll(async () => {
  await system.close();
  await app.close();
});

async function newLane(deliveries = 0): Promise<LaneKey> {
  const event = `lane.${newId()}`;
  const { id } = await app
    .as(app.owner)
    .post(201, '/api/webhooks', { name: 'a', event, config: { url: 'http://127.0.0.1:9/' } });
  await insertDeliveries(app, { id, event }, deliveries, { payload: json({ a: 1 }), createdAt: new Date() });
  return { ...app.tenantKey, webhookId: id };
}
const outcome = (delivery: ClaimedDelivery, next: NextStep | { status: 'filtered' }): Outcome => ({
  delivery,
  next,
  ...(next.status !== 'filtered' && {
    attempt: {
      url: 'http://127.0.0.1:9/',
      method: 'POST',
      sentBody: true as const,
      startedAt: new Date(),
      durationMs: 5,
      statusCode: 200,
      responseBody: 'ok {"\\',
    },
  }),
});
const DELIVERED: NextStep = { status: 'delivered' };
const EXHAUSTED: NextStep = { status: 'failed', isExhausted: true, isGone: false };
const webhookRow = async ({ webhookId }: LaneKey) =>
  (
    await app.sql(
      'select error_count as errors, exhausted_in_a_row as streak, delivered_count::int as delivered, failed_count::int as failed, failure_reason as reason from webhook where id = ?',
      [webhookId],
    )
  )[0];
const statusOf = async ({ id }: ClaimedDelivery) =>
  (await app.sql('select status, attempts from webhook_delivery where id = ?', [id]))[0];

test('two workers that claim at once never hold the same delivery', async () => {
  const lane = await newLane(60);
  const claims = await Promise.all([store.claim(lane, 20), store.claim(lane, 20), store.claim(lane, 20)]);
  const ids = claims.flat().map(({ id }) => id);
  expect(new Set(ids).size).toBe(ids.length);
  expect(ids.length + (await store.claim(lane, 60)).length).toBe(60);
  expect(await store.claim(lane, 60)).toEqual([]);
});

test('a claim that was lost can be taken again, and then the first one no longer counts', async () => {
  const lane = await newLane(1);
  const [first] = await store.claim(lane, 1);
  await store.releaseAll(lane);
  const [second] = await store.claim(lane, 1);
  if (!first || !second) throw new Error('nothing claimed');
  expect(second.claim).toBe(first.claim + 1);
  await store.record([outcome(first, EXHAUSTED)]);
  expect(await statusOf(first)).toEqual({ status: 'pending', attempts: 0 });
  await store.record([outcome(second, DELIVERED)]);
  expect(await statusOf(first)).toEqual({ status: 'delivered', attempts: 1 });
  expect(await webhookRow(lane)).toMatchObject({ delivered: 1, failed: 0 });
});

test('what was recorded once is not counted again', async () => {
  const lane = await newLane(1);
  const [delivery] = await store.claim(lane, 1);
  if (!delivery) throw new Error('nothing claimed');
  await store.record([outcome(delivery, DELIVERED)]);
  await store.record([outcome(delivery, DELIVERED)]);
  expect(await webhookRow(lane)).toMatchObject({ delivered: 1 });
});

test('a run of exhausted deliveries is counted over batches, and broken by a success in the midst of one', async () => {
  const lane = await newLane(60);
  const claimed = await store.claim(lane, 60);
  const next = (count: number, step: NextStep) => claimed.splice(0, count).map((delivery) => outcome(delivery, step));
  expect(await store.record(next(15, EXHAUSTED))).toEqual([]);
  expect(await store.record([...next(4, EXHAUSTED), ...next(1, DELIVERED), ...next(3, EXHAUSTED)])).toEqual([]);
  expect(await webhookRow(lane)).toMatchObject({ errors: 3, streak: 3, delivered: 1, failed: 22, reason: null });
  expect(await store.record(next(2, { status: 'failed', isExhausted: false, isGone: false }))).toEqual([]);
  expect(await webhookRow(lane)).toMatchObject({ errors: 5, streak: 3 });
  expect(await store.record(next(17, EXHAUSTED))).toMatchObject([lane]);
  expect(await store.toDisable(100)).toContainEqual(lane);
});

test('batches of several lanes are told apart', async () => {
  const lanes = [await newLane(2), await newLane(2)];
  const claims = (await Promise.all(lanes.map((lane) => store.claim(lane, 2)))) as [ClaimedDelivery, ClaimedDelivery][];
  const [[a1, a2], [b1, b2]] = claims as [[ClaimedDelivery, ClaimedDelivery], [ClaimedDelivery, ClaimedDelivery]];
  await store.record([
    outcome(a1, DELIVERED),
    outcome(b1, EXHAUSTED),
    outcome(b2, { status: 'filtered' }),
    outcome(a2, EXHAUSTED),
  ]);
  expect(await webhookRow(lanes[0] as LaneKey)).toMatchObject({ delivered: 1, failed: 1, streak: 1 });
  expect(await webhookRow(lanes[1] as LaneKey)).toMatchObject({ delivered: 0, failed: 1, streak: 1 });
  expect(await statusOf(b2)).toEqual({ status: 'filtered', attempts: 0 });
});

test('a lane says when it has more, and waitForDue when it is due', async () => {
  const lane = await newLane(1);
  expect(await store.dueWebhooks([lane.webhookId])).toEqual([lane.webhookId]);
  const [delivery] = await store.claim(lane, 1);
  if (!delivery) throw new Error('nothing claimed');
  expect(await store.dueWebhooks([lane.webhookId])).toEqual([]);
  const recordedAt = performance.now();
  await store.record([outcome(delivery, { status: 'pending', retryInMs: 60_000 })]);
  expect(await store.dueWebhooks([lane.webhookId])).toEqual([]);
  const inMs = await store.nextDueInMs(lane);
  const agoMs = performance.now() - recordedAt;
  expect(inMs).toBeGreaterThan(59_990 - agoMs);
  expect(inMs).toBeLessThanOrEqual(60_000);
});

test('a webhook that is off is neither claimed nor rung nor overdue', async () => {
  const lane = await newLane(1);
  await app.sql(`update webhook_delivery set due_at = now() - interval '1 minute' where webhook_id = ?`, [
    lane.webhookId,
  ]);
  expect(await store.overdue(5_000, 500)).toContainEqual({ ...lane, laneName: expect.any(String) });
  await app.as(app.owner).patch(200, `/api/webhooks/${lane.webhookId}`, { status: 'inactive' });
  expect(await store.claim(lane, 1)).toEqual([]);
  expect(await store.dueWebhooks([lane.webhookId])).toEqual([]);
  expect(await store.overdue(5_000, 500)).not.toContainEqual({ ...lane, laneName: expect.any(String) });
  expect(await store.nextDueInMs(lane)).toBeUndefined();
});

test('one that was cancelled meanwhile stays so, unless it arrived', async () => {
  const lane = await newLane(2);
  const [first, second] = await store.claim(lane, 2);
  if (!first || !second) throw new Error('nothing claimed');
  await app.as(app.owner).delete(204, `/api/webhooks/${lane.webhookId}`);
  await store.record([outcome(first, EXHAUSTED), outcome(second, DELIVERED)]);
  expect(await statusOf(first)).toEqual({ status: 'cancelled', attempts: 1 });
  expect(await statusOf(second)).toEqual({ status: 'delivered', attempts: 1 });
});

test('old deliveries go with their attempts; pending ones of an active webhook stay', async () => {
  const lane = await newLane(5);
  const [delivery] = await store.claim(lane, 1);
  if (!delivery) throw new Error('nothing claimed');
  await store.record([outcome(delivery, DELIVERED)]);
  await app.sql(`update webhook_delivery set created_at = now() - interval '91 days' where webhook_id = ?`, [
    lane.webhookId,
  ]);
  expect(await store.purge(90)).toBe(1);
  expect(await app.sql('select from webhook_attempt where delivery_id = ?', [delivery.id])).toEqual([]);
  await app.sql(`update webhook set status = 'inactive' where id = ?`, [lane.webhookId]);
  expect(await store.purge(90)).toBe(4);
});

test('the role of the system reads no credentials and inserts no deliveries', async () => {
  const run = (statement: string) => sql.raw(statement).execute(system.db);
  for (const table of ['audit_entry', 'application_token', 'user_account', 'auth_session']) {
    await expect(run(`select from ${table}`)).rejects.toThrow(/permission denied/);
  }
  await expect(run('insert into webhook_delivery (id, tenant_id) values (uuidv7(), uuidv7())')).rejects.toThrow(
    /permission denied/,
  );
  await expect(run('delete from webhook')).rejects.toThrow(/permission denied/);
});
