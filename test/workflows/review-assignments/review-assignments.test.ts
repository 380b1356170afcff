import {
  assignmentChangedSignal,
  reviewAssignmentContract,
} from '../../../workflows/review-assignments/review-assignment.contract.ts';
import { type TestApp, testApp } from '../../support/app.ts';
import type { Json } from '../../support/client.ts';
import { insertWebhook } from '../../support/factories.ts';
import { reviewStage } from '../../support/review.ts';
import { eventually, startWorker, type TestWorker } from '../../support/worker.ts';

let app: TestApp;
let worker: TestWorker;
beforeAll(async () => {
  app = await testApp();
  worker = await startWorker(app, ['environment-locks-v1', 'system-v1']);
});
afterAll(async () => {
  await worker.stop();
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

test('a lease is announced before its end, expires by timer, and the org goes to the next who waits', async () => {
  const { assign, orgs, repositoryIdentifier } = await reviewStage(app, { onRelease: 'reuse' });
  await insertWebhook(app, { event: 'review_environment.*', events: ['review_environment.*'] });
  const [username] = await orgs(1);
  const first = await assign({ assignmentId: '118', branch: 'feature/a' });
  const second = await assign({}, 202);
  await endsIn(first.id, 2);
  const subject = { assignmentId: first.id, repositoryIdentifier, subject: 'pr 118', target: 'review' };
  await app.launch.signalWithStart(reviewAssignmentContract, { ...app.tenantKey, ...subject }, assignmentChangedSignal);
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

test('an extension at the moment of expiry is one or the other', async () => {
  const { assign, orgs } = await reviewStage(app);
  await orgs(4);
  const ends = await Promise.all(
    [0.2, 0.25, 0.3, 0.35].map(async (seconds) => {
      const { id } = await assign({});
      await app.sql(`update review_assignment set expires_at = now() + make_interval(secs => ?) where id = ?`, [
        seconds,
        id,
      ]);
      await new Promise((resolve) => setTimeout(resolve, 250));
      const { status } = await app.as(app.owner).send('POST', `${PATH}/${id}/extend`, { body: { hours: 5 } });
      return { id, status };
    }),
  );
  for (const { id, status } of ends) {
    expect([200, 409]).toContain(status);
    const { state, expiresAt } = status === 200 ? await read(id) : await becomes(id, 'expired');
    if (status === 200) expect([state, Date.parse(expiresAt) > Date.now() + 4 * 3_600_000]).toEqual(['active', true]);
  }
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
  const { assign, orgs, instances } = await reviewStage(app, { onRelease: 'reuse' });
  const expiresAt = new Date(Date.now() + 2_000).toISOString();
  const [ending] = await orgs(1, { expiresAt });
  const { id, ...assigned } = await assign({});
  expect(assigned).toMatchObject({ expiresAt, instance: { username: ending } });
  await orgs(1, { expiresAt });
  await becomes(id, 'expired');
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
}, 40_000);
