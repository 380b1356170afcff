import { execFileSync } from 'node:child_process';
import pg from 'pg';
import { createTemporalClient } from '../../../../workflows/temporal-client.ts';
import { workflowIdOfRun } from '../../../support/run-key.ts';
import type { Json } from '../../../support/client.ts';
import { type TestApp, testApp } from '../../../support/app.ts';
import { tracedRuns } from '../../../support/traced-runs.ts';
import {
  eventually,
  startWorker,
  startWorkerProcess,
  type TestWorker,
  type TestWorkerProcess,
} from '../../../support/worker.ts';
import { gitHost, type GitHostSimulator, hostCredentials } from '../../../simulators/git-hosts.ts';

const QUEUES = ['flows-v1', 'commands-v1', 'environment-locks-v1', 'approvals-v1'];

let app: TestApp;
/** A program that no other run of the tests on this machine has. */
const LONG = `sleep ${10_000_000 + process.pid}`;
const runs = tracedRuns(() => app, {
  analyze: 'true',
  'execute-release': 'true',
  'install-packages': `echo begun; ${LONG}`,
});
const { repositoryIdentifier, start, shown, reached, ran } = runs;
let dying: TestWorkerProcess;
let worker: TestWorker | undefined;
let host: GitHostSimulator;
const temporal = createTemporalClient({ address: process.env.QS_TEST_TEMPORAL_ADDRESS ?? '', namespace: 'default' });
/** Keeps those waiting who begin or end a run, as long as it has the lock of that name. */
let gate: pg.Client;
const BEGIN = 1;
const END = 2;
/** State of a pending activity that has started, as the engine's interface numbers it. */
const STARTED = 2;

beforeAll(async () => {
  host = await gitHost('host-a');
  app = await testApp({
    env: { COMMANDS_FILE: runs.commandsFile, OUTBOUND_ALLOW: '127.0.0.0/8', SERVICE_PACE: '0.2' },
  });
  dying = await startWorkerProcess(app, QUEUES);
  const owner = app.as(app.owner);
  await owner.post(201, '/api/integrations', {
    kind: 'host-a',
    name: 'host',
    baseUrl: host.url,
    credentials: hostCredentials,
  });
  await owner.post(201, '/api/projects', {
    identifier: repositoryIdentifier,
    platform: 'host-a',
    configuration: { approvalPolicy: { skipApproval: true } },
  });
  await owner.post(201, '/api/environments', { repositoryIdentifier, name: 'one', category: 'test' });
  await owner.post(201, '/api/environments', {
    repositoryIdentifier,
    name: 'guarded',
    category: 'release',
    approvalPolicy: { allowSelfApproval: true },
  });
  for (const [name, key, condition] of [
    ['begin', BEGIN, 'old.engine_run_id is null and new.engine_run_id is not null'],
    ['end', END, 'old.ended_at is null and new.ended_at is not null'],
  ]) {
    await app.sql(
      `create function wait_to_${name}() returns trigger language plpgsql as 'begin perform pg_advisory_xact_lock_shared(${key}); return new; end'`,
    );
    await app.sql(
      `create trigger wait_to_${name} before update on flow_run for each row when (${condition}) execute function wait_to_${name}()`,
    );
  }
  gate = new pg.Client(app.databaseUrl);
  await gate.connect();
});
afterAll(async () => {
  await dying.kill('SIGKILL');
  await worker?.stop();
  await temporal.connection.close();
  await gate.end();
  await app.close();
  await host.close();
  runs.remove();
});

const isProgramRunning = (): boolean => execFileSync('ps', ['-eo', 'args'], { encoding: 'utf8' }).includes(LONG);
/** A process that was killed is still listed until its parent, or init, has taken note. */
const noProgramRuns = () =>
  eventually(
    async () => isProgramRunning(),
    (isRunning) => !isRunning,
  );
const waitingAtGate = async (key: number): Promise<void> => {
  const blocked = () =>
    app.sql(
      `select 1 from pg_locks where locktype = 'advisory' and objid = ? and not granted and database = (select oid from pg_database where datname = current_database())`,
      [key],
    );
  await eventually(blocked, (rows) => rows.length > 0);
};
const approve = async (executionId: string): Promise<void> => {
  const { items } = await app.as(app.owner).get(200, '/api/flows/approvals');
  const approval = items.find((each: Json) => each.executionId === executionId);
  // A worker that has just come may not be quick enough for the first.
  await eventually(
    () => app.as(app.owner).send('POST', `/api/flows/approvals/${approval.id}/approve`, { body: {} }),
    ({ status }) => status === 200,
  );
};

test('a worker that is killed in any step of a run loses none, and nothing is done twice', async () => {
  const executing = await start({ id: 'install-packages', environmentName: 'one' });
  await reached(executing.id, 'running');
  const inLine = await start({ id: 'execute-release', environmentName: 'one' });
  await reached(inLine.id, 'waiting_lock');
  const followed = await start({ id: 'install-packages' });
  await eventually(
    () => shown(followed.id),
    ({ outputTail }) => outputTail === 'begun\n',
  );
  const unapproved = await start({ id: 'execute-release', environmentName: 'guarded' });
  await reached(unapproved.id, 'waiting_approval');
  const piped = await start({ id: 'build', pipeline: { id: 'build.yml' } });
  await eventually(
    () => shown(piped.id),
    ({ cicdRunUrl }) => cicdRunUrl !== null,
  );
  const staged = await start({ id: 'request-release' });
  const [child] = (
    await eventually(
      () => shown(staged.id),
      ({ children }) => children.length === 1,
    )
  ).children;
  await reached(child.id, 'waiting_approval');
  await gate.query('select pg_advisory_lock($1)', [END]);
  const closing = await start({ id: 'analyze' });
  await waitingAtGate(END);
  await gate.query('select pg_advisory_lock($1)', [BEGIN]);
  const beginning = await start({ id: 'analyze' });
  await waitingAtGate(BEGIN);

  await dying.kill('SIGKILL');
  await noProgramRuns();
  await gate.query('select pg_advisory_unlock_all()');
  expect([(await shown(closing.id)).rawStatus, (await shown(beginning.id)).rawStatus]).toEqual([
    'running',
    'dispatched',
  ]);
  worker = await startWorker(app, QUEUES);

  await approve(unapproved.id);
  await approve(child.id);
  await app.as(app.application).post(204, `/api/flows/internal/${piped.id}/callback`, { event: 'completed' });
  for (const { id } of [unapproved, child, staged, piped, beginning]) await reached(id, 'succeeded');
  // A program of the dead worker is not run again: whoever started it looks.
  for (const { id } of [executing, followed, closing]) {
    expect(await reached(id, 'timed_out')).toMatchObject({
      status: 'Failed',
      success: { error: 'The worker was lost, or took too long, in the step execute' },
    });
  }
  const { text, headers } = await app.as(app.owner).request(200, 'GET', `/api/flows/runs/${followed.id}/output`);
  expect([text, headers.get('x-output-complete')]).toEqual(['begun\n', 'false']);
  await reached(inLine.id, 'succeeded');
  expect([executing, followed, inLine, unapproved, staged, closing, beginning].map(({ note }) => ran(note))).toEqual([
    1, 1, 1, 1, 1, 1, 1,
  ]);
  expect(host.requests.filter(({ body }) => JSON.stringify(body).includes(piped.id))).toHaveLength(1);
});

test('a worker that is stopped ends the commands that it runs, and their runs say so', async () => {
  const { id, note } = await start({ id: 'install-packages' });
  await reached(id, 'running');
  // The program goes on for so long that an activity follows it.
  const { workflow } = temporal;
  const workflowId = await workflowIdOfRun(app, id);
  await eventually(
    () => workflow.getHandle(workflowId).describe(),
    ({ raw }) => raw.pendingActivities?.some(({ state }) => Number(state) === STARTED) === true,
  );
  await worker?.stop();
  await noProgramRuns();
  worker = await startWorker(app, QUEUES);
  expect((await reached(id, 'failed')).success.error).toBe('The worker was stopped while the command ran');
  expect(ran(note)).toBe(1);
});
