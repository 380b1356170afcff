import { cpSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type RunningTemporal, startTemporal } from '../../../../tools/temporal-dev-server.ts';
import { browserSessionContract } from '../../../../workflows/review/browser-sessions/browser-session.contract.ts';
import { flowRunContract, windowChangedSignal } from '../../../../workflows/delivery/flows/flow-run.contract.ts';
import { scheduledFlowContract } from '../../../../workflows/delivery/flows/scheduled-flow.contract.ts';
import { gitHost, type GitHostSimulator, hostCredentials } from '../../../simulators/git-hosts.ts';
import { keyOfRun } from '../../../support/run-key.ts';
import { type TestApp, testApp } from '../../../support/app.ts';
import type { Json } from '../../../support/client.ts';
import { freePort } from '../../../support/free-port.ts';
import { tracedRuns } from '../../../support/traced-runs.ts';
import {
  eventually,
  startWorker,
  startWorkerProcess,
  type TestWorker,
  type TestWorkerProcess,
} from '../../../support/worker.ts';

const HOUR_MS = 3_600_000;
const LONG = `sleep ${20_000_000 + process.pid}`;
const folder = mkdtempSync(join(tmpdir(), 'quayside-engine-'));
let app: TestApp;
let host: GitHostSimulator;
let temporal: RunningTemporal;
let killed: TestWorkerProcess;
let worker: TestWorker | undefined;
const runs = tracedRuns(() => app, { 'execute-release': 'true', 'install-packages': LONG });
const { repositoryIdentifier, start, shown, reached, ran } = runs;

const ports = Promise.all([freePort(), freePort()]);
const startEngine = async (store: string): Promise<void> => {
  const [port, uiPort] = await ports;
  temporal = await startTemporal({ dataDir: join(folder, store), port, uiPort });
};
beforeAll(async () => {
  await startEngine('first');
  host = await gitHost('host-a');
  const env = { COMMANDS_FILE: runs.commandsFile, OUTBOUND_ALLOW: '127.0.0.0/8', SERVICE_PACE: '0.2' };
  app = await testApp({ env: { ...env, TEMPORAL_ADDRESS: temporal.address } });
  killed = await startWorkerProcess(app);
});
afterAll(async () => {
  await killed.kill('SIGKILL');
  await worker?.stop();
  await temporal.stop();
  await app.close();
  await host.close();
  runs.remove();
  rmSync(folder, { recursive: true, force: true });
});

/** What happens on a bad day: the workers end, and the engine comes back with another store. */
async function restart(store: string): Promise<void> {
  await killed.kill('SIGKILL');
  await worker?.stop();
  await temporal.stop();
  await startEngine(store);
  // As it is some minutes later.
  await app.sql(`update flow_run set updated_at = now() - interval '11 minutes', launched_at = null`);
  await app.sql(`update browser_session set seen_at = now() - interval '6 minutes'`);
  await app.sql(`update flow_schedule set synced_at = now() - interval '6 minutes'`);
  worker = await startWorker(app);
}

const stateOfRun = async (runId: string) => app.launch.stateOf(flowRunContract, await keyOfRun(app, runId));
const isCarriedOn = (runId: string) =>
  eventually(
    () => stateOfRun(runId),
    (state) => state === 'running',
  );
const approve = async (executionId: string): Promise<void> => {
  await reached(executionId, 'waiting_approval');
  const { items } = await app.as(app.owner).get(200, '/api/flows/approvals');
  const { id } = items.find((each: Json) => each.executionId === executionId);
  await app.as(app.owner).post(200, `/api/flows/approvals/${id}/approve`, {});
};

test('what waits goes on with an engine whose store is empty, older or newer, and what began is not done twice', async () => {
  const owner = app.as(app.owner);
  const credentials = { kind: 'host-a', name: 'host', baseUrl: host.url, credentials: hostCredentials };
  await owner.post(201, '/api/integrations', credentials);
  const configuration = { approvalPolicy: { skipApproval: true }, recordPipeline: { id: 'record.yml' } };
  await owner.post(201, '/api/projects', { identifier: repositoryIdentifier, platform: 'host-a', configuration });
  const environments: Record<string, string> = {};
  const freeze = { from: new Date(Date.now() - HOUR_MS), to: new Date(Date.now() + HOUR_MS), reason: 'year end' };
  for (const [name, more] of [
    ['guarded', { category: 'release', approvalPolicy: { allowSelfApproval: true } }],
    ['frozen', { category: 'release', promotion: { freezes: [freeze] } }],
    ['locked', { category: 'release' }],
    ['busy', { category: 'test' }],
    [
      'review',
      { category: 'test', orgUsername: 'review@acme.example.com', browser: { allowedHosts: ['*.example.com'] } },
    ],
  ] as const)
    environments[name] = (await owner.post(201, '/api/environments', { repositoryIdentifier, name, ...more })).id;

  const approved = await start({ id: 'execute-release', environmentName: 'guarded' });
  await reached(approved.id, 'waiting_approval');
  const windowed = await start({ id: 'execute-release', environmentName: 'frozen' });
  await reached(windowed.id, 'waiting_window');
  const locks = `/api/environments/${environments.locked}/locks`;
  const { ticketId } = await owner.post(201, locks, {});
  const queued = await start({ id: 'execute-release', environmentName: 'locked' });
  await reached(queued.id, 'waiting_lock');
  const begun = await start({ id: 'install-packages', environmentName: 'busy' });
  await eventually(
    async () => ran(begun.note),
    (times) => times === 1,
  );
  await owner.post(201, '/api/review/assignments', {
    repositoryIdentifier,
    assignmentType: 'pr',
    assignmentId: '7',
    environmentName: 'review',
  });
  const session = await owner.post(202, `/api/environments/${environments.review}/browser/record`, {});
  await app.as(app.application).patch(200, `/api/browser-sessions/${session.id}`, { status: 'live' });
  await eventually(
    () => shown(session.flowRunId),
    ({ cicdRunUrl }) => cicdRunUrl !== null,
  );
  const dispatches = () => host.requests.filter(({ body }) => JSON.stringify(body).includes(session.flowRunId)).length;
  const name = 'nightly';
  const schedule = await owner.post(201, '/api/flows/schedules', {
    name,
    cron: '0 3 1 1 *',
    payload: {
      id: 'execute-release',
      repositoryIdentifier,
      environmentName: 'guarded',
      domain: 'core',
      releaseName: '1',
    },
  });
  const scheduleId = app.launch.idOf(scheduledFlowContract, { ...app.tenantKey, scheduleId: schedule.id, name });
  const isScheduled = () =>
    eventually(
      () => app.launch.scheduleIds(),
      (ids) => ids.has(scheduleId),
    );
  await isScheduled();

  await restart('empty');
  for (const { id } of [approved, windowed, queued]) await isCarriedOn(id);
  await isCarriedOn(session.flowRunId);
  await isScheduled();
  await expect(reached(begun.id, 'failed')).resolves.toMatchObject({
    success: { error: expect.stringContaining('after its program had begun') },
  });
  await eventually(
    () =>
      app.launch.stateOf(browserSessionContract, {
        ...app.tenantKey,
        sessionId: session.id,
        repositoryIdentifier,
        subject: '',
      }),
    (state) => state === 'running',
  );
  await expect(owner.get(200, `/api/browser-sessions/${session.id}`)).resolves.toMatchObject({ status: 'live' });
  await approve(approved.id);
  await reached(approved.id, 'succeeded');
  await temporal.stop();
  cpSync(join(folder, 'empty'), join(folder, 'older'), { recursive: true });
  await startEngine('empty');
  await owner.delete(204, `${locks}/${ticketId}`);
  await owner.patch(200, `/api/environments/${environments.frozen}`, { promotion: null });
  await reached(queued.id, 'succeeded');
  await reached(windowed.id, 'succeeded');
  await app.as(app.application).post(204, `/api/flows/internal/${session.flowRunId}/callback`, { event: 'completed' });
  await reached(session.flowRunId, 'succeeded');
  const later = await start({ id: 'execute-release', environmentName: 'guarded' });
  await reached(later.id, 'waiting_approval');

  await restart('older');
  await isCarriedOn(later.id);
  // The older store has it wait still.
  expect(await stateOfRun(windowed.id)).toBe('running');
  await app.launch.signal(flowRunContract, await keyOfRun(app, windowed.id), windowChangedSignal);
  await eventually(
    () => stateOfRun(windowed.id),
    (state) => state !== 'running',
  );
  await approve(later.id);
  await reached(later.id, 'succeeded');
  for (const { id, note } of [approved, windowed, queued, later]) {
    expect(await shown(id)).toMatchObject({ rawStatus: 'succeeded' });
    expect(ran(note)).toBe(1);
  }
  expect(ran(begun.note)).toBe(1);
  expect(dispatches()).toBe(1);

  // The database is the older one: its rows wait for workflows that have ended.
  await app.sql(
    `update flow_run set status = 'waiting_approval', display_status = 'Waiting', ended_at = null, launched_at = null,
       program_started_at = null, reported_end = null, updated_at = now() - interval '11 minutes' where id = ?`,
    [later.id],
  );
  await expect(reached(later.id, 'failed')).resolves.toMatchObject({
    success: { error: 'The workflow of the run ended (completed) without closing it' },
  });
});
