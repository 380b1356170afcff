import { type TestApp, testApp } from '../../../support/app.ts';
import { reviewStage } from '../../../support/review.ts';
import { engineAway } from '../../../support/launch.ts';
import { eventually, startWorker } from '../../../support/worker.ts';

let app: TestApp;
beforeAll(async () => {
  // The workers reach the engine; they come when it is back.
  app = await testApp({ launch: engineAway, env: { SERVICE_PACE: '0.1' } });
});
afterAll(() => app.close());

test('with the engine away orgs are assigned, extended and released; leases end when it returns', async () => {
  const { assign, orgs } = await reviewStage(app, { onRelease: 'reuse' });
  await orgs(1);
  const owner = app.as(app.owner);
  const path = (id: string) => `/api/review/assignments/${id}`;
  const first = await assign({});
  const [second, third] = [await assign({}, 202), await assign({}, 202)];
  await expect(owner.post(200, `${path(first.id)}/extend`, { hours: 30 })).resolves.toMatchObject({ state: 'active' });
  await expect(owner.post(200, `${path(first.id)}/release`)).resolves.toMatchObject({ state: 'released' });
  await expect(owner.get(200, path(second.id))).resolves.toMatchObject({ state: 'active' });
  await expect(owner.get(200, path(third.id))).resolves.toMatchObject({ state: 'pending', position: 1 });
  await app.sql(
    `update review_assignment set created_at = now() - interval '1 hour', assigned_at = now() - interval '1 hour',
       expires_at = now() - interval '1 minute' where id = ?`,
    [second.id],
  );
  const worker = await startWorker(app, ['environment-locks-v1', 'system-v1']);
  try {
    await eventually(
      () => owner.get(200, path(third.id)),
      ({ state }) => state === 'active',
    );
    await expect(owner.get(200, path(second.id))).resolves.toMatchObject({ state: 'expired' });
  } finally {
    await worker.stop();
  }
});
