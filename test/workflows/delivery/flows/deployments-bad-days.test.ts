import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { freePort } from '../../../support/free-port.ts';
import { type RunningTemporal, startTemporal } from '../../../../tools/temporal-dev-server.ts';
import { startApi } from '../../../support/api-process.ts';
import { type TestApp, testApp } from '../../../support/app.ts';
import { ApiClient } from '../../../support/client.ts';
import { DEPLOYING_QUEUES, deployingRuns, repositoryIdentifier } from '../../../support/deploying-runs.ts';
import {
  eventually,
  startWorker,
  startWorkerProcess,
  type TestWorker,
  type TestWorkerProcess,
} from '../../../support/worker.ts';

let app: TestApp;
let dying: TestWorkerProcess;
let worker: TestWorker | undefined;
let temporal: RunningTemporal;
const folder = mkdtempSync(join(tmpdir(), 'quayside-deployments-'));
let startEngine: () => Promise<RunningTemporal>;
const runs = deployingRuns(() => app);
const { cut, start, endless, reached, deploymentsOf, statusOf } = runs;
/** Keeps those waiting who record a deployment, or end a run, as long as it has the lock of that name. */
let gate: pg.Client;
/** After so many seconds another worker takes the workflow task of one that died. */
const SOON_GIVEN_UP = { 'history.defaultWorkflowTaskTimeout': 3 };
const RECORD = 1;
const END = 2;

beforeAll(async () => {
  const [port, uiPort] = [await freePort(), await freePort()];
  startEngine = () => startTemporal({ dataDir: folder, port, uiPort, dynamicConfig: SOON_GIVEN_UP });
  temporal = await startEngine();
  app = await testApp({
    env: { COMMANDS_FILE: runs.commandsFile, TEMPORAL_ADDRESS: temporal.address, SERVICE_PACE: '0.2' },
  });
  dying = await startWorkerProcess(app, DEPLOYING_QUEUES);
  await runs.prepare();
  for (const [name, key, event, condition] of [
    ['record', RECORD, 'insert on release_deployment', 'true'],
    ['end', END, 'update on flow_run', 'old.ended_at is null and new.ended_at is not null'],
  ]) {
    await app.sql(
      `create function wait_to_${name}() returns trigger language plpgsql as 'begin perform pg_advisory_xact_lock_shared(${key}); return new; end'`,
    );
    await app.sql(
      `create trigger wait_to_${name} before ${event} for each row when (${condition}) execute function wait_to_${name}()`,
    );
  }
  gate = new pg.Client(app.databaseUrl);
  await gate.connect();
});
afterAll(async () => {
  await dying.kill('SIGKILL');
  await worker?.stop();
  await gate.end();
  await app.close();
  await temporal.stop();
  runs.remove();
  rmSync(folder, { recursive: true, force: true });
});

const shut = (key: number) => gate.query('select pg_advisory_lock($1)', [key]);
const open = () => gate.query('select pg_advisory_unlock_all()');
const waitingAtGate = (key: number, count = 1) =>
  eventually(
    () =>
      app.sql(
        `select 1 from pg_locks where locktype = 'advisory' and objid = ? and not granted and database = (select oid from pg_database where datname = current_database())`,
        [key],
      ),
    (rows) => rows.length === count,
  );
const programStarted = (id: string) =>
  eventually(
    () => app.sql('select 1 from flow_run where id = ? and program_started_at is not null', [id]),
    (rows) => rows.length > 0,
  );

test('a worker that dies between recording and closing leaves one deployment, and the run ends as it did', async () => {
  await cut('r1');
  await shut(END);
  const id = await start({ releaseName: 'r1', environmentName: 'uat' });
  await waitingAtGate(END);
  await dying.kill('SIGKILL');
  await open();
  dying = await startWorkerProcess(app, DEPLOYING_QUEUES);
  await reached(id, 'succeeded');
  expect(await deploymentsOf(id)).toMatchObject([{ status: 'Success' }]);
  expect(await statusOf('r1')).toBe('in_progress');
});

test('a worker that dies between deploying and recording leaves one deployment that failed, since nobody can tell', async () => {
  await cut('r2');
  await shut(RECORD);
  const id = await start({ releaseName: 'r2', environmentName: 'uat' });
  await waitingAtGate(RECORD);
  await dying.kill('SIGKILL');
  await open();
  worker = await startWorker(app, DEPLOYING_QUEUES);
  await reached(id, 'timed_out');
  expect(await deploymentsOf(id)).toMatchObject([{ status: 'Failed' }]);
  // Whoever looked reports how it really ended.
  const event = { repositoryIdentifier, domain: 'core', releaseName: 'r2', environmentName: 'uat' };
  await app
    .as(app.application)
    .post(200, '/api/release-candidates/release-event', { ...event, deploymentStatus: 'Success' });
  expect(await statusOf('r2')).toBe('in_progress');
});

// The lock of uat is kept until the program of the lost worker has ended.
test('an event and a run that report the same deployment at the same instant make one', async () => {
  await cut('r3');
  await shut(RECORD);
  const id = await start({ releaseName: 'r3', environmentName: 'prod' });
  await waitingAtGate(RECORD);
  const event = {
    repositoryIdentifier,
    domain: 'core',
    releaseName: 'r3',
    environmentName: 'prod',
    deploymentStatus: 'Success',
    executionId: id,
  };
  const reported = Array.from({ length: 3 }, () =>
    app.as(app.application).post(200, '/api/release-candidates/release-event', event),
  );
  await waitingAtGate(RECORD, 4);
  await open();
  await Promise.all(reported);
  await reached(id, 'succeeded');
  expect(await deploymentsOf(id)).toHaveLength(1);
  const [told] = await app.sql<{ total: number }>(
    `select count(*)::int as total from audit_entry where action = 'release.deployment_recorded' and after ->> 'executionId' = ?`,
    [id],
  );
  expect(told?.total).toBe(1);
});

test('an API that dies while a worker outside reports its end records all or nothing, and what it recorded is applied', async () => {
  await cut('r4');
  const { act, end } = endless();
  const parent = await start({ releaseName: 'r4', environmentName: 'prod', act });
  const { executionId: id } = await app.as(app.application).post(201, '/api/flows/internal/register-child', {
    parentTaskExecutionId: parent,
    taskType: 'execute-release',
    flowPath: 'outside',
    repositoryIdentifier,
    domainName: 'core',
    environmentName: 'uat',
  });
  const callback = (api: ApiClient) =>
    api.send('POST', `/api/flows/internal/${id}/callback`, { body: { event: 'completed' } });
  const first = await startApi(app);
  await shut(RECORD);
  const unanswered = callback(new ApiClient(first.url, app.application)).catch(() => undefined);
  await waitingAtGate(RECORD);
  await first.kill('SIGKILL');
  await open();
  expect(await unanswered).toBeUndefined();
  await reached(id, 'running');
  expect(await deploymentsOf(id)).toEqual([]);

  const second = await startApi(app, { TEMPORAL_ADDRESS: '127.0.0.1:1' });
  expect((await callback(new ApiClient(second.url, app.application))).status).toBe(204);
  await second.kill('SIGKILL');
  expect(await deploymentsOf(id)).toMatchObject([{ status: 'Success' }]);
  expect(await statusOf('r4')).toBe('in_progress');
  await app.as(app.owner).post(200, `/api/flows/runs/${parent}/cancel`);
  await reached(parent, 'cancelled');
  end();
});

test('a deployment that the database does not take at once is recorded when it does', async () => {
  await cut('r6');
  await app.sql('create sequence refused');
  await app.sql('grant all on sequence refused to public');
  await app.sql(
    `create function refuse_record() returns trigger language plpgsql as 'begin perform nextval($$refused$$); raise exception $$not now$$; end'`,
  );
  await app.sql(
    'create trigger refuse_record before insert on release_deployment for each row execute function refuse_record()',
  );
  const id = await start({ releaseName: 'r6', environmentName: 'prod' });
  await eventually(
    () => app.sql<{ times: number }>('select last_value::int as times from refused'),
    ([row]) => (row?.times ?? 0) >= 2,
  );
  await reached(id, 'running');
  await app.sql('drop trigger refuse_record on release_deployment');
  await reached(id, 'succeeded');
  expect(await deploymentsOf(id)).toMatchObject([{ status: 'Success' }]);
});

test('a run that ends while the engine is away is recorded at once, and once', async () => {
  const deploying = endless();
  await cut('r5');
  const id = await start({
    releaseName: 'r5',
    environmentName: 'uat',
    act: deploying.act,
  });
  await programStarted(id);
  temporal.kill();
  await temporal.ended;
  deploying.end();
  const recorded = () => app.sql('select status, applied_at from release_deployment where execution_id = ?', [id]);
  expect(await eventually(recorded, (rows) => rows.length > 0)).toMatchObject([
    { status: 'Success', applied_at: null },
  ]);
  await reached(id, 'running');
  temporal = await startEngine();
  await reached(id, 'succeeded');
  expect(await deploymentsOf(id)).toMatchObject([{ status: 'Success' }]);
  expect(await statusOf('r5')).toBe('in_progress');
});
