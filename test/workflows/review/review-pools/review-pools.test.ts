import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestApp, testApp } from '../../../support/app.ts';
import type { Json } from '../../../support/client.ts';
import { insertWebhook } from '../../../support/factories.ts';
import { reviewStage } from '../../../support/review.ts';
import { eventually, startWorker, type TestWorker } from '../../../support/worker.ts';

const folder = mkdtempSync(join(tmpdir(), 'quayside-review-pools-'));
const commandsFile = join(folder, 'commands.json');
const released = join(folder, 'released');
/**
 * Makes as many orgs as it is asked for. By the pool's name: `broken` fails, `dying` fails with its orgs half made,
 * `idle` makes none, and ends once there is the file of that name.
 */
const BUILDER = `
  const { QUAYSIDE_TOKEN: token, QUAYSIDE_URL: url, QUAYSIDE_RUN_ID: runId } = process.env;
  const [poolId, count, tag] = process.argv.slice(1);
  if (tag === 'broken') process.exit(1);
  const call = async (method, path, body) => {
    const headers = { authorization: 'Bearer ' + token, 'content-type': 'application/json' };
    const reply = await fetch(url + path, { method, headers, body: body && JSON.stringify(body) });
    console.log(method, path, reply.status);
  };
  if (tag === 'idle') setInterval(() => process.getBuiltinModule('fs').existsSync('${released}') && process.exit(0), 100);
  else (async () => {
    const instances = '/api/review/pools/' + poolId + '/instances';
    const state = tag === 'dying' ? 'provisioning' : 'available';
    for (let n = 0; n < Number(count); n++)
      await call('POST', instances, { username: runId + '-' + n + '@acme.example.com', state });
    if (tag === 'dying') process.exit(1);
    await call('GET', instances);
    await call('POST', '/api/review/pools/' + runId + '/instances', { username: 'elsewhere@acme.example.com' });
  })();`;

let app: TestApp;
let worker: TestWorker;
beforeAll(async () => {
  const args = ['-e', BUILDER, '{payload.poolId}', '{payload.count}', '{payload.poolTag}'];
  writeFileSync(commandsFile, JSON.stringify({ 'pool-prepare': { program: process.execPath, args } }));
  app = await testApp({ env: { COMMANDS_FILE: commandsFile } });
  app.env.INTERNAL_URL = app.url;
  worker = await startWorker(app, ['environment-locks-v1', 'flows-v1', 'commands-v1', 'system-v1']);
});
afterAll(async () => {
  await worker.stop();
  await app.close();
  rmSync(folder, { recursive: true });
});

const runsOf = async (poolId: string): Promise<Json[]> =>
  app.sql(
    `select id, status, result, payload, output_tail as output from flow_run where payload->>'poolId' = ? order by created_at`,
    [poolId],
  );

test('a pool gets the orgs that it is to have available, and more for those that are taken', async () => {
  const { poolId, pool, assign, path, repositoryIdentifier } = await reviewStage(app, {
    minAvailable: 2,
    maxInstances: 3,
    definition: { size: 'small' },
  });
  const has = (counts: object) =>
    eventually(pool, ({ instances }) => Object.entries(counts).every(([state, count]) => instances[state] === count));
  await has({ available: 2 });
  const [run] = await runsOf(poolId);
  expect(run?.payload).toMatchObject({
    id: 'pool-prepare',
    poolTag: 'review',
    repositoryIdentifier,
    count: 2,
    refresh: [],
    definition: { size: 'small' },
  });
  // It registers orgs of its pool, and does nothing else.
  await expect(
    eventually(
      () => runsOf(poolId),
      ([first]) => first?.status === 'succeeded',
    ),
  ).resolves.toMatchObject([{ output: expect.stringMatching(/(POST \S+ 201\s+){2}GET \S+ 403\s+POST \S+ 403/) }]);
  const first = await assign({});
  await has({ available: 2, assigned: 1 });
  // The pool has all that it may have; what is released is discarded, and made anew.
  await assign({});
  await has({ available: 1, assigned: 2 });
  await app.as(app.owner).post(200, `/api/review/assignments/${first.id}/release`);
  await has({ available: 2, assigned: 1, expired: 1 });
  await expect(pool()).resolves.toMatchObject({
    builder: 'command',
    prepareFailures: 0,
    prepareError: null,
    prepareDueAt: null,
  });
  // Who registers an org by the token of a run has the run's name in the trail.
  const [entry] = await app.sql<{ actor: Json }>(
    `select actor from audit_entry where action = 'review_instance.registered' and repository_identifier = ? limit 1`,
    [repositoryIdentifier],
  );
  expect(entry?.actor).toMatchObject({ type: 'run', email: `run:${run?.id}` });
  await expect(app.as(app.application).get(200, `${path}/instances`)).resolves.toMatchObject({ total: 4 });
});

test('a pool whose builder always fails is announced as low once, and tried again after 1, 2, 4 … minutes', async () => {
  await insertWebhook(app, { event: 'review_pool.low' });
  const { newPool } = await reviewStage(app);
  const { id } = await newPool('broken', { minAvailable: 1 });
  const path = `/api/review/pools/${id}`;
  const failed = (failures: number): Promise<Json> =>
    eventually(
      () => app.as(app.owner).get(200, path),
      ({ prepareFailures }) => prepareFailures === failures,
    );
  for (const [failures, minutes] of [
    [1, 1],
    [2, 2],
    [3, 4],
  ] as const) {
    const { prepareDueAt, prepareError } = await failed(failures);
    expect(prepareError).toEqual(expect.any(String));
    const inMinutes = (Date.parse(prepareDueAt) - Date.now()) / 60_000;
    expect([inMinutes > minutes - 0.5, inMinutes <= minutes]).toEqual([true, true]);
    await app.sql(`update review_pool set prepare_due_at = now() - interval '1 second' where id = ?`, [id]);
    await app.as(app.owner).patch(200, path, { description: undefined, leaseHours: 20 + failures });
  }
  await failed(4);
  const low = await app.sql<{ payload: Json }>(
    `select payload from webhook_delivery where event = 'review_pool.low' and payload->>'poolId' = ?`,
    [id],
  );
  expect(low.map(({ payload }) => payload)).toEqual([
    expect.objectContaining({ poolTag: 'broken', available: 0, minAvailable: 1, waiting: 0 }),
  ]);
  await app.as(app.owner).patch(200, path, { isActive: false });
  await expect(runsOf(id)).resolves.toHaveLength(4);
});

test('orgs that a failed run left half made have failed, and the pool tries again', async () => {
  const { newPool } = await reviewStage(app);
  const { id } = await newPool('dying', { minAvailable: 2, maxInstances: 2 });
  const path = `/api/review/pools/${id}`;
  const failed = (failures: number): Promise<Json> =>
    eventually(
      () => app.as(app.owner).get(200, path),
      ({ prepareFailures }) => prepareFailures === failures,
    );
  await expect(failed(1)).resolves.toMatchObject({ instances: { provisioning: 0, failed: 2 } });
  await app.sql(`update review_pool set prepare_due_at = now() - interval '1 second' where id = ?`, [id]);
  await app.as(app.owner).patch(200, path, { leaseHours: 20 });
  await expect(failed(2)).resolves.toMatchObject({ instances: { provisioning: 0, failed: 4 } });
  await app.as(app.owner).patch(200, path, { isActive: false });
});

test('an org that others registered and never finished fails after a day', async () => {
  const { poolId, orgs, instances, pool } = await reviewStage(app);
  await orgs(1, { state: 'provisioning' });
  await app.sql(`update review_instance set state_changed_at = now() - interval '25 hours' where pool_id = ?`, [
    poolId,
  ]);
  await app.as(app.owner).patch(200, `/api/review/pools/${poolId}`, { leaseHours: 20 });
  await eventually(pool, (shown) => shown.instances.failed === 1);
  await expect(instances()).resolves.toMatchObject([{ reason: 'the org did not become available in time' }]);
});

test('a pool that keeps no org available builds for those who wait', async () => {
  await insertWebhook(app, { event: 'review_pool.low' });
  const { poolId, assign, pool } = await reviewStage(app);
  await expect(assign({}, 202)).resolves.toMatchObject({ position: 1 });
  await eventually(pool, ({ instances }) => instances.assigned === 1);
  await expect(pool()).resolves.toMatchObject({ minAvailable: 0, instances: { available: 0 } });
  const low = await app.sql<{ payload: string }>(
    `select distinct payload::text from webhook_delivery where event = 'review_pool.low' and payload->>'poolId' = ?`,
    [poolId],
  );
  expect(low.map(({ payload }): Json => JSON.parse(payload))).toEqual([
    expect.objectContaining({ waiting: 1, minAvailable: 0 }),
  ]);
});

test('a run that makes nothing is put off, also when somebody releases an org meanwhile', async () => {
  const { newPool, assign } = await reviewStage(app);
  const { id } = await newPool('idle', { onRelease: 'reuse', maxInstances: 3 });
  const path = `/api/review/pools/${id}`;
  await app.as(app.application).post(201, `${path}/instances`, { username: `idle-${id}@acme.example.com` });
  const had = await assign({ poolTag: 'idle' });
  await app.as(app.owner).patch(200, path, { minAvailable: 2 });
  await eventually(
    () => runsOf(id),
    (runs) => runs.length === 1,
  );
  await app.as(app.owner).post(200, `/api/review/assignments/${had.id}/release`);
  writeFileSync(released, '');
  await expect(
    eventually(
      () => app.as(app.owner).get(200, path),
      ({ prepareFailures }) => prepareFailures > 0,
    ),
  ).resolves.toMatchObject({ prepareFailures: 1 });
});
