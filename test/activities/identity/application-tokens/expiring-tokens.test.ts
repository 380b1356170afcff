import { expiringTokensSweep } from '../../../../activities/identity/application-tokens/application-tokens.sweep.ts';
import type { WorkerBackend } from '../../../../activities/backend.ts';
import { runSweep } from '../../../../activities/kernel/system/run-sweep.ts';
import { expiringTokens } from '../../../../domain/identity/application-tokens/application-tokens.queries.ts';
import { activityDeps } from '../../../support/activities.ts';
import { type TestApp, testApp } from '../../../support/app.ts';

let app: TestApp;
let worker: WorkerBackend;
const announceExpiringTokens = () => runSweep(worker.deps, expiringTokensSweep);
beforeAll(async () => {
  app = await testApp();
  worker = activityDeps(app);
});
afterAll(async () => {
  await worker.close();
  await app.close();
});

/** A token made so many days ago that expires in so many days. */
async function token(name: string, ageDays: number, leftDays: number, owner = app.owner): Promise<string> {
  const { id } = await app.as(owner).post(201, '/api/application-tokens', { name });
  await app.sql(
    `update application_token set created_at = now() - make_interval(secs => ?::float8 * 86400), expires_at = now() + make_interval(secs => ?::float8 * 86400) where id = ?`,
    [ageDays, leftDays, id],
  );
  return id;
}

test('each token that expires soon is announced once, in its tenant alone', async () => {
  for (const owner of [app.owner, app.stranger]) {
    await app.as(owner).post(201, '/api/webhooks', {
      name: 'expiry',
      event: 'application_token.expiring',
      config: { url: 'http://127.0.0.1:9/' },
    });
  }
  await app.sql('update application_token set revoked_at = now()');
  const soon = [await token('in-a-week', 83, 6.9), await token('last-quarter', 0.8, 0.2)];
  await token('later', 82, 7.1);
  await token('young', 0.7, 0.3);
  await token('gone', 30, -0.1);
  const revoked = await token('revoked', 83, 1);
  await app.as(app.owner).delete(204, `/api/application-tokens/${revoked}`);

  await Promise.all([announceExpiringTokens(), announceExpiringTokens()]);
  await expect(announceExpiringTokens()).resolves.toMatchObject({ found: 0, failed: 0 });
  const announced = await app.sql<{ tenant_id: string; payload: { id: string; name: string; expiresAt: string } }>(
    `select tenant_id, payload from webhook_delivery where event = 'application_token.expiring'`,
  );
  expect(announced.map(({ payload }) => payload.id).toSorted()).toEqual(soon.toSorted());
  expect(new Set(announced.map(({ tenant_id }) => tenant_id))).toEqual(new Set([app.tenant.id]));
  expect(announced[0]?.payload.expiresAt).toMatch(/^\d{4}-.*Z$/);

  const [first = ''] = soon;
  await app.as(app.owner).post(200, `/api/application-tokens/${first}/rotate`, { expiresIn: 1 });
  await app.sql(`update application_token set expires_at = now() + interval '1 hour' where id = ?`, [first]);
  await expect(announceExpiringTokens()).resolves.toMatchObject({ found: 0, failed: 0 });
  await app.sql(`update application_token set rotated_at = now() - interval '1 day' where id = ?`, [first]);
  await expect(announceExpiringTokens()).resolves.toMatchObject({ handled: 1, failed: 0 });
});

test('a tenant whose many tokens expire does not hold up the token of another', async () => {
  await app.sql('update application_token set revoked_at = now()');
  const first = await token('first', 80, 1);
  await token('second', 80, 2);
  const other = await token('other', 80, 3, app.stranger);
  const listed = await expiringTokens(worker.deps.system, 2);
  expect(listed.map(({ id }) => id)).toEqual([first, other]);
});
