import { gcChecksSweep } from '../../../../activities/orgs/gc-ledger/gc-checks.sweep.ts';
import { runSweep } from '../../../../activities/kernel/system/run-sweep.ts';
import { activityDeps } from '../../../support/activities.ts';
import { type TestApp, testApp } from '../../../support/app.ts';
import { ledgerOf } from '../../../support/gc-ledger.ts';
import { engineAway, recordingEngine } from '../../../support/launch.ts';

let app: TestApp;
let activities: ReturnType<typeof activityDeps>;
const { seen, launch } = recordingEngine();
const sweep = () => runSweep({ ...activities.deps, launch }, gcChecksSweep);

beforeAll(async () => {
  app = await testApp({ launch: engineAway });
  activities = activityDeps(app);
});
afterAll(async () => {
  await activities.close();
  await app.close();
});

/** A check that was accepted while no engine was there, and last changed so long ago. */
async function accepted(secondsAgo: number): Promise<string> {
  const ledger = await ledgerOf(app);
  await ledger.environment('uat');
  const { repositoryIdentifier } = ledger;
  const { id } = await app.as(app.owner).post(202, '/api/gc-ledger/check', { repositoryIdentifier, branch: 'main' });
  await app.sql('update gc_check set updated_at = now() - make_interval(secs => ?) where id = ?', [secondsAgo, id]);
  return id;
}
const show = (id: string) => app.as(app.member).get(200, `/api/gc-ledger/check/${id}`);

test('a check whose launch was lost is launched', async () => {
  const [id] = [await accepted(31), await accepted(5)];
  seen.started = [];
  await sweep();
  expect(seen.started).toEqual([
    { ...app.tenantKey, checkId: id, branch: 'main', repositoryIdentifier: expect.any(String) },
  ]);
  await expect(show(id)).resolves.toMatchObject({ status: 'queued', endedAt: null });
});

test('a check whose workflow somebody ended fails, and the next one is another', async () => {
  const id = await accepted(601);
  await app.sql("update gc_check set status = 'running' where id = ?", [id]);
  seen.state = 'running';
  await sweep();
  await expect(show(id)).resolves.toMatchObject({ status: 'running' });
  seen.state = 'terminated';
  await sweep();
  const { status, error, endedAt, repositoryIdentifier } = await show(id);
  expect({ status, error, endedAt }).toEqual({
    status: 'failed',
    error: 'The check was ended from outside',
    endedAt: expect.any(String),
  });
  const next = await app.as(app.owner).post(202, '/api/gc-ledger/check', { repositoryIdentifier, branch: 'main' });
  expect(next.id).not.toBe(id);
});
