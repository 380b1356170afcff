import type { Json } from '../../../support/client.ts';
import { type TestApp, testApp } from '../../../support/app.ts';
import { DEPLOYING_QUEUES, deployingRuns, repositoryIdentifier } from '../../../support/deploying-runs.ts';
import { startWorker, type TestWorker } from '../../../support/worker.ts';

let app: TestApp;
let worker: TestWorker;
const runs = deployingRuns(() => app);
const { cut, start, reached, deploymentsOf } = runs;

beforeAll(async () => {
  app = await testApp({ env: { COMMANDS_FILE: runs.commandsFile } });
  worker = await startWorker(app, DEPLOYING_QUEUES);
  await runs.prepare();
  const owner = app.as(app.owner);
  for (const name of ['first', 'second', 'third', 'guarded'])
    await owner.post(201, '/api/environments', {
      repositoryIdentifier,
      name,
      category: 'test',
      ...(name === 'guarded' && { approvalPolicy: { allowSelfApproval: true } }),
    });
  await owner.post(201, '/api/webhooks', {
    name: 'rollbacks',
    events: ['deployment.started', 'release.rolled_back'],
    config: { url: 'http://127.0.0.1:9/' },
  });
  for (const releaseName of ['r1', 'r2', 'r3']) await cut(releaseName, `${releaseName.slice(1)}.0.0`);
});
afterAll(async () => {
  await worker.stop();
  await app.close();
  runs.remove();
});

const deploy = (releaseName: string, environmentName: string, deploymentStatus = 'Success'): Promise<Json> =>
  app.as(app.application).post(200, '/api/release-candidates/release-event', {
    repositoryIdentifier,
    domain: 'core',
    releaseName,
    environmentName,
    deploymentStatus,
  });
const rollBack = (environmentName: string, more: object = {}): Promise<string> =>
  start({ id: 'rollback-release', environmentName, act: 'echo "deploys $2"', ...more });
const refused = async (status: number, payload: object): Promise<Json> =>
  app.as(app.owner).post(status, '/api/flows/run', {
    payload: { id: 'rollback-release', repositoryIdentifier, domain: 'core', act: 'true', ...payload },
  });
const rolledBack = (environment: string): Promise<Json[]> =>
  app.sql(
    `select d.release_name as release from release_deployment d join environment e on e.id = d.environment_id
     where e.name = ? and d.rolled_back_at is not null order by d.deployed_at`,
    [environment],
  );

test('a rollback deploys what was there before by the command that deploys releases, and is recorded as one', async () => {
  await deploy('r1', 'first');
  await deploy('r2', 'first');
  const id = await rollBack('first');
  expect(await reached(id, 'succeeded')).toMatchObject({
    taskType: 'rollback-release',
    outputTail: 'deploys r1\n',
    payload: { toReleaseName: 'r1' },
  });
  const [deployment, ...more] = await deploymentsOf(id);
  expect(more).toEqual([]);
  expect(deployment).toMatchObject({
    release_name: 'r1',
    status: 'Success',
    installed: { app: '1.0.0', lib: '2.0.0' },
    rollback: {
      rolledBackFrom: 'r2',
      rolledBackBy: app.owner.email,
      packageChanges: [{ name: 'app', from: '2.0.0', to: '1.0.0', direction: 'downgrade' }],
    },
  });
  expect(await rolledBack('first')).toEqual([{ release: 'r2' }]);
  const events = await app.sql<{ event: string; payload: Json }>(
    `select event, payload from webhook_delivery where payload ->> 'environmentName' = 'first' order by created_at`,
  );
  expect(events).toMatchObject([
    { event: 'deployment.started', payload: { releaseName: 'r1', executionId: id } },
    { event: 'release.rolled_back', payload: { releaseName: 'r2', by: app.owner.email } },
  ]);
  const again = await app.as(app.owner).post(409, `/api/flows/runs/${id}/rerun`);
  expect(again.detail).toBe('There is nothing to roll back to: r1 is installed there already');
  const none = await refused(409, { environmentName: 'first' });
  expect(none).toMatchObject({
    code: 'invalid_transition',
    detail: 'There is nothing to roll back to: nothing was installed there before r1',
  });
  // Afterwards, the way forward is open.
  await reached(await start({ releaseName: 'r3', environmentName: 'first' }), 'succeeded');
  expect((await reached(await rollBack('first'), 'succeeded')).outputTail).toBe('deploys r1\n');
});

test('a rollback is refused at once where there is nothing to go back to', async () => {
  for (const [payload, why] of [
    [{ environmentName: 'prod' }, 'nothing was ever deployed there'],
    [{ environmentName: 'first', toReleaseName: 'r9' }, 'r9 was never installed there'],
  ] as const) {
    expect((await refused(409, payload)).detail).toBe(`There is nothing to roll back to: ${why}`);
  }
  const named = await refused(400, { environmentName: 'first', releaseName: 'r1' });
  expect(named.errors).toMatchObject([{ pointer: '#/body/payload/releaseName' }]);
  await refused(400, {});
  const runsOf = await app.as(app.owner).get(200, '/api/flows/runs?taskType=rollback-release&status=Failed');
  expect(runsOf.totalCount).toBe(0);
});

test('a rollback goes further back when it names the release, and takes back all in between', async () => {
  for (const releaseName of ['r1', 'r2', 'r3']) await deploy(releaseName, 'second');
  const id = await rollBack('second', { toReleaseName: 'r1' });
  await reached(id, 'succeeded');
  expect(await deploymentsOf(id)).toMatchObject([{ release_name: 'r1', rollback: { rolledBackFrom: 'r3' } }]);
  expect(await rolledBack('second')).toEqual([{ release: 'r2' }, { release: 'r3' }]);
});

test('a rollback that fails takes nothing back, and one after a deployment that failed goes to what is installed', async () => {
  await deploy('r1', 'third');
  await deploy('r2', 'third');
  const failing = await rollBack('third', { act: 'exit 1' });
  await reached(failing, 'failed');
  expect(await deploymentsOf(failing)).toMatchObject([{ release_name: 'r1', status: 'Failed', rollback: null }]);
  expect(await rolledBack('third')).toEqual([]);
  // Tried again, it goes to the same release.
  const again = await rollBack('third', { act: 'exit 1' });
  await reached(again, 'failed');
  expect(await deploymentsOf(again)).toMatchObject([{ release_name: 'r1', status: 'Failed' }]);
  await deploy('r3', 'third', 'Failed');
  const id = await rollBack('third');
  expect((await reached(id, 'succeeded')).outputTail).toBe('deploys r2\n');
  expect(await deploymentsOf(id)).toMatchObject([{ release_name: 'r2', status: 'Success', rollback: null }]);
});

test('a rollback waits for the window of its environment, but for no other environment, unless that is overridden', async () => {
  const owner = app.as(app.owner);
  const place = { repositoryIdentifier, category: 'test' };
  const freeze = { from: '2020-01-01T00:00:00Z', to: '2099-01-01T00:00:00Z', reason: 'always' };
  const { id } = await owner.post(201, '/api/environments', { ...place, name: 'frozen' });
  await deploy('r1', 'frozen');
  await deploy('r2', 'frozen');
  await owner.patch(200, `/api/environments/${id}`, { promotion: { after: ['guarded'], freezes: [freeze] } });
  const waiting = await rollBack('frozen');
  expect((await reached(waiting, 'waiting_window')).waitsFor).toMatch(/^frozen is frozen/);
  await owner.post(200, `/api/flows/runs/${waiting}/cancel`);
  await reached(waiting, 'cancelled');
  const overriding = await rollBack('frozen', { override: { reason: 'outage' } });
  expect(await reached(overriding, 'succeeded')).toMatchObject({ override: { by: app.owner.email } });
});

test('a rollback waits for approval and lock as a deployment does, and fails when it has become pointless', async () => {
  await deploy('r1', 'guarded');
  await deploy('r2', 'guarded');
  const approved = async (id: string) => {
    await reached(id, 'waiting_approval');
    const { items } = await app.as(app.owner).get(200, '/api/flows/approvals');
    const approval = items.find((each: Json) => each.executionId === id);
    expect(approval).toMatchObject({ environmentName: 'guarded', releaseName: 'r1', taskType: 'rollback-release' });
    await app.as(app.owner).post(200, `/api/flows/approvals/${approval.id}/approve`, {});
  };
  const late = await rollBack('guarded');
  await reached(late, 'waiting_approval');
  await app.as(app.owner).post(204, '/api/releases/rollback-annotation', {
    repositoryIdentifier,
    domain: 'core',
    environment: 'guarded',
    target: 'r1',
    rolledBackFrom: 'r2',
    rolledBackBy: 'dana@example.com',
  });
  await approved(late);
  expect((await reached(late, 'failed')).success.error).toContain('r1 is installed there already');
  expect(await deploymentsOf(late)).toEqual([]);
  await deploy('r2', 'guarded');
  const id = await rollBack('guarded');
  await approved(id);
  await reached(id, 'succeeded');
  expect(await deploymentsOf(id)).toMatchObject([{ approval: { status: 'approved' } }]);
  const tickets = await app.sql('select state from environment_lock_ticket where run_id = ?', [id]);
  expect(tickets).toEqual([{ state: 'released' }]);
});
