import pg from 'pg';
import { createReviewActivities } from '../../../../activities/review/review-assignments/review-assignments.activities.ts';
import {
  assignmentChangedSignal,
  reviewAssignmentContract,
} from '../../../../workflows/review/review-assignments/review-assignment.contract.ts';
import {
  poolChangedSignal,
  reviewPoolContract,
} from '../../../../workflows/review/review-pools/review-pool.contract.ts';
import { activityDeps } from '../../../support/activities.ts';
import { type TestApp, testApp } from '../../../support/app.ts';
import type { Json } from '../../../support/client.ts';
import { insertWebhook } from '../../../support/factories.ts';
import { reviewStage } from '../../../support/review.ts';
import { eventually, startWorker, type TestWorker } from '../../../support/worker.ts';

let app: TestApp;
let worker: TestWorker;
let activities: ReturnType<typeof activityDeps>;
beforeAll(async () => {
  app = await testApp();
  activities = activityDeps(app);
  worker = await startWorker(app, ['environment-locks-v1', 'system-v1']);
});
afterAll(async () => {
  await worker.stop();
  await activities.close();
  await app.close();
});

const PATH = '/api/review/assignments';
const read = (id: string): Promise<Json> => app.as(app.member).get(200, `${PATH}/${id}`);
const becomes = (id: string, state: string): Promise<Json> =>
  eventually(
    () => read(id),
    (assignment) => assignment.state === state,
  );
/** Has the lease end so many seconds from now, as if it had begun a day ago. */
const endsIn = (id: string, seconds: number) =>
  app.sql(
    `update review_assignment set assigned_at = now() - interval '1 day',
       expires_at = now() + make_interval(secs => ?), warned_at = null where id = ?`,
    [seconds, id],
  );
const announced = async (event: string, id: string): Promise<Json[]> => {
  const rows = await app.sql<{ payload: Json }>(
    `select payload from webhook_delivery where event = ? and payload->>'assignmentId' = ?`,
    [event, id],
  );
  return rows.map(({ payload }) => payload);
};
/** Its workflow looks at it again, and finds what the test made of its row. */
const wake = (id: string) => app.as(app.owner).post(200, `${PATH}/${id}/extend`, { hours: 1 });
/** The same without a change. */
const awaken = (assignmentId: string, repositoryIdentifier: string) =>
  app.launch.signalWithStart(
    reviewAssignmentContract,
    { ...app.tenantKey, assignmentId, repositoryIdentifier, subject: 'any', target: 'review' },
    assignmentChangedSignal,
  );

test('a lease is announced before its end, expires by timer, and the org goes to the next who waits', async () => {
  const { assign, orgs, repositoryIdentifier } = await reviewStage(app, { onRelease: 'reuse' });
  await insertWebhook(app, { event: 'review_environment.*', events: ['review_environment.*'] });
  const [username] = await orgs(1);
  const first = await assign({ assignmentId: '118', branch: 'feature/a' });
  const second = await assign({}, 202);
  await endsIn(first.id, 2);
  await awaken(first.id, repositoryIdentifier);
  const expired = await becomes(first.id, 'expired');
  expect(Date.parse(expired.endedAt)).toBeGreaterThanOrEqual(Date.parse(expired.expiresAt));
  await expect(becomes(second.id, 'active')).resolves.toMatchObject({ instance: { username } });
  const about = {
    assignmentId: first.id,
    repositoryIdentifier,
    poolTag: 'review',
    orgUsername: username,
    prNumber: 118,
  };
  for (const event of ['assigned', 'expiring', 'expired'])
    await expect(announced(`review_environment.${event}`, first.id)).resolves.toEqual([expect.objectContaining(about)]);
  await expect(announced('review_environment.assigned', second.id)).resolves.toHaveLength(1);
  await app.as(app.owner).post(200, `${PATH}/${second.id}/release`);
  await expect(announced('review_environment.released', second.id)).resolves.toHaveLength(1);
});

describe('an extension at the moment of expiry is one or the other', () => {
  const hours = 5;
  const extend = (id: string) => app.as(app.owner).send('POST', `${PATH}/${id}/extend`, { body: { hours } });
  /** As the workflow of the assignment does. */
  const reevaluate = (assignmentId: string) =>
    createReviewActivities(activities.deps).reevaluateAssignment({ ...app.tenantKey, assignmentId });
  /** Keeps those waiting who write a lease, as long as it has the lock. */
  let gate: pg.Client;
  beforeAll(async () => {
    await app.sql(
      `create function wait_to_write() returns trigger language plpgsql as 'begin perform pg_advisory_xact_lock_shared(1); return new; end'`,
    );
    await app.sql(
      `create trigger wait_to_write before update on review_assignment for each row
         when (new.state = 'expired' and old.state = 'active' or new.expires_at > old.expires_at + interval '1 hour')
         execute function wait_to_write()`,
    );
    gate = new pg.Client(app.databaseUrl);
    await gate.connect();
  });
  afterAll(async () => {
    await app.sql('drop trigger wait_to_write on review_assignment');
    await gate.end();
  });
  const shut = () => gate.query('select pg_advisory_lock(1)');
  const open = () => gate.query('select pg_advisory_unlock_all()');
  /** Until one waits at the gate, and so many in all, the others for what that one holds. */
  const waiting = (count: number) =>
    eventually(
      () =>
        app.sql<{ wait_event: string }>(
          `select wait_event from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`,
        ),
      (rows) => rows.length >= count && rows.some(({ wait_event: event }) => event === 'advisory'),
    );

  test('the expiry is first', async () => {
    const { assign, orgs } = await reviewStage(app);
    await orgs(1);
    const { id } = await assign({});
    await endsIn(id, 0);
    await shut();
    const expiring = reevaluate(id);
    await waiting(1);
    const extending = extend(id);
    await waiting(2);
    await open();
    await expect(expiring).resolves.toMatchObject({ state: 'expired' });
    expect((await extending).status).toBe(409);
    expect((await read(id)).state).toBe('expired');
  });

  test('the extension is first', async () => {
    const { assign, orgs } = await reviewStage(app);
    const { id, extending } = await extendingAtGate();
    await eventually(
      () => app.sql('select 1 from review_assignment where id = ? and expires_at < clock_timestamp()', [id]),
      (rows) => rows.length === 1,
    );
    const expiring = reevaluate(id);
    await waiting(2);
    await open();
    expect((await extending).status).toBe(200);
    await expect(expiring).resolves.toMatchObject({ state: 'active' });
    const { state, expiresAt } = await read(id);
    expect([state, Date.parse(expiresAt) > Date.now() + (hours - 1) * 3_600_000]).toEqual(['active', true]);

    /** On a slow machine the lease is over before it is extended; the next is longer. */
    async function extendingAtGate(seconds = 1): Promise<{ id: string; extending: ReturnType<typeof extend> }> {
      await orgs(1);
      const { id: assigned } = await assign({});
      await shut();
      await app.sql(
        'update review_assignment set expires_at = clock_timestamp() + make_interval(secs => ?) where id = ?',
        [seconds, assigned],
      );
      const pending = extend(assigned);
      const isRefused = await Promise.race([pending.then(() => true), waiting(1).then(() => false)]);
      if (!isRefused) return { id: assigned, extending: pending };
      await open();
      expect((await pending).status).toBe(409);
      return extendingAtGate(seconds * 2);
    }
  });
});

test('an extension moves the timer; what was released is refused one, and released again as it is', async () => {
  const { assign, orgs } = await reviewStage(app, { maxLeaseHours: 48 });
  await orgs(1);
  const { id } = await assign({});
  await endsIn(id, 3_600);
  const member = app.as(app.member);
  await member.post(403, `${PATH}/${id}/extend`, { hours: 5 });
  await wake(id);
  const owner = app.as(app.owner);
  await expect(owner.post(409, `${PATH}/${id}/extend`, { hours: 25 })).resolves.toMatchObject({
    code: 'invalid_transition',
  });
  const released = await app.as(app.application).post(200, `${PATH}/${id}/release`);
  expect(released.state).toBe('released');
  await expect(owner.post(200, `${PATH}/${id}/release`)).resolves.toEqual(released);
  await owner.post(409, `${PATH}/${id}/extend`, { hours: 1 });
  const [entry] = await app.sql<{ actor: string }>(
    `select actor->>'email' as actor from audit_entry where entity_id = ? and action = 'review_assignment.released'`,
    [id],
  );
  expect(entry?.actor).toBe('app:ci');
});

test('an org that ends takes its assignment along, and leaves its pool', async () => {
  const { assign, orgs, instances, poolId, repositoryIdentifier } = await reviewStage(app, { onRelease: 'reuse' });
  const expiresAt = new Date(Date.now() + 24 * 3_600_000).toISOString();
  const [ending] = await orgs(1, { expiresAt });
  const { id, ...assigned } = await assign({});
  expect(assigned).toMatchObject({ expiresAt, instance: { username: ending } });
  await orgs(1, { expiresAt });
  await app.sql(`update review_instance set expires_at = now() - interval '1 second' where pool_id = ?`, [poolId]);
  await endsIn(id, -1);
  await awaken(id, repositoryIdentifier);
  await becomes(id, 'expired');
  const pool = { poolId, poolTag: 'review', repositoryIdentifier };
  await app.launch.signalWithStart(reviewPoolContract, { ...app.tenantKey, ...pool }, poolChangedSignal);
  const retired = await eventually(
    () => instances('?state=expired'),
    (items) => items.length === 2,
  );
  expect(new Set(retired.map(({ reason }) => reason))).toEqual(new Set(['the org has ended']));
});

test('what a lost signal, or a process that died between two steps, left undone is found by the sweep', async () => {
  const { assign, orgs, instances, path } = await reviewStage(app, { onRelease: 'reuse' });
  const [username] = await orgs(1);
  const lost = await assign({});
  // As if its workflow had never been started, and the lease had ended long ago.
  await app.sql(
    `update review_assignment set seen_at = null, created_at = now() - interval '2 days', assigned_at = now() - interval '2 days',
       expires_at = now() - interval '1 day' where id = ?`,
    [lost.id],
  );
  await becomes(lost.id, 'expired');
  // As if an org had become available between two lines of its builder, and nobody had looked at the line.
  const waiting = await assign({});
  const other = await assign({}, 202);
  await app.as(app.owner).post(200, `${PATH}/${waiting.id}/release`);
  await expect(becomes(other.id, 'active')).resolves.toMatchObject({ instance: { username } });
  const [instance] = await instances();
  await app.sql(`update review_assignment set state = 'pending', instance_id = null where id = ?`, [other.id]);
  await app.sql(`update review_instance set state = 'available' where id = ?`, [instance.id]);
  await app.sql(`update review_pool set checked_at = now() - interval '1 minute' where id = ?`, [
    path.split('/').at(-1),
  ]);
  await becomes(other.id, 'active');
});
