import { readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client, Connection } from '@temporalio/client';
import pg from 'pg';
import { flowRunContract } from '../../../../workflows/delivery/flows/flow-run.contract.ts';
import type { Json } from '../../../support/client.ts';
import { type TestApp, testApp } from '../../../support/app.ts';
import { keyOfRun, workflowIdOfRun } from '../../../support/run-key.ts';
import { tracedRuns } from '../../../support/traced-runs.ts';
import { engineAway } from '../../../support/launch.ts';
import { eventually, startWorker, type TestWorker } from '../../../support/worker.ts';

const QUEUES = ['flows-v1', 'commands-v1', 'environment-locks-v1', 'approvals-v1'];

let app: TestApp;
/** Where the command that builds leaves the number of its process. */
const pidFile = join(tmpdir(), `quayside-building-${process.pid}`);
const runs = tracedRuns(() => app, {
  analyze: 'true',
  build: `echo $$ > ${pidFile}; exec sleep 600`,
  'execute-release': 'true',
  'install-packages': 'sleep 600',
});
const { repositoryIdentifier, start, reached, ran } = runs;
let worker: TestWorker;
beforeAll(async () => {
  app = await testApp({ env: { COMMANDS_FILE: runs.commandsFile } });
  worker = await startWorker(app, QUEUES);
  const owner = app.as(app.owner);
  await owner.post(201, '/api/projects', {
    identifier: repositoryIdentifier,
    platform: 'host-a',
    configuration: { approvalPolicy: { skipApproval: true } },
  });
  for (const name of ['one', 'two', 'three'])
    await owner.post(201, '/api/environments', { repositoryIdentifier, name, category: 'test' });
  await owner.post(201, '/api/environments', {
    repositoryIdentifier,
    name: 'guarded',
    category: 'test',
    approvalPolicy: { allowSelfApproval: true },
  });
});
afterAll(async () => {
  await worker.stop();
  await app.close();
  runs.remove();
  rmSync(pidFile, { force: true });
});

const cancel = (id: string, status = 200) => app.as(app.owner).post(status, `/api/flows/runs/${id}/cancel`);
const lockHolder = async (name: string): Promise<Json> =>
  (await app.as(app.owner).get(200, `/api/environments?repositoryIdentifier=${repositoryIdentifier}`)).find(
    (each: Json) => each.name === name,
  ).lockStatus;

test('a run that is cancelled while it waits for approval, for a lock, and in execution leaves nothing held', async () => {
  const executing = await start({ id: 'install-packages', environmentName: 'two' });
  await reached(executing.id, 'running');
  const queued = await start({ id: 'execute-release', environmentName: 'two' });
  await reached(queued.id, 'waiting_lock');
  const waiting = await start({ id: 'execute-release', environmentName: 'guarded' });
  await reached(waiting.id, 'waiting_approval');
  for (const { id } of [waiting, queued, executing]) {
    await cancel(id);
    await reached(id, 'cancelled');
  }
  expect([ran(queued.note), ran(waiting.note)]).toEqual([0, 0]);
  await eventually(
    () => lockHolder('two'),
    (lock) => !lock.isLocked && lock.waiting === 0,
  );
  const next = await start({ id: 'execute-release', environmentName: 'two' });
  await reached(next.id, 'succeeded');
});

test('a run that is cancelled in the midst of its first step, which starts its command, ends the command', async () => {
  await app.sql(
    `create function wait_to_claim() returns trigger language plpgsql as 'begin perform pg_advisory_xact_lock_shared(1); return new; end'`,
  );
  await app.sql(
    `create trigger wait_to_claim before update on flow_run for each row
     when (old.program_started_at is null and new.program_started_at is not null) execute function wait_to_claim()`,
  );
  const gate = new pg.Client(app.databaseUrl);
  await gate.connect();
  await gate.query('select pg_advisory_lock(1)');
  const connection = await Connection.connect({ address: app.env.TEMPORAL_ADDRESS ?? '' });
  const { id } = await start({ id: 'build' });
  const run = new Client({ connection }).workflow.getHandle(await workflowIdOfRun(app, id));
  // The engine does not know of it at once.
  const events = async () => (await run.fetchHistory().catch(() => undefined))?.events ?? [];
  await eventually(events, (all) => all.some(({ workflowTaskStartedEventAttributes: started }) => started));
  await app.launch.cancel(flowRunContract, await keyOfRun(app, id));
  // While its step waits, the workflow is told of the cancellation by a task of its own.
  await eventually(events, (all) => {
    const asked = all.findIndex(({ workflowExecutionCancelRequestedEventAttributes: cancelled }) => cancelled);
    return asked >= 0 && all.slice(asked).some(({ workflowTaskStartedEventAttributes: started }) => started);
  });
  await gate.end();
  await reached(id, 'cancelled');
  const pid = Number(readFileSync(pidFile, 'utf8'));
  expect(() => process.kill(pid, 0)).toThrow('ESRCH');
  await app.sql('drop trigger wait_to_claim on flow_run');
  await connection.close();
});

test('runs that are posted while the engine is away all run later, and none twice', async () => {
  const away = await testApp({
    launch: engineAway,
    env: { COMMANDS_FILE: app.env.COMMANDS_FILE ?? '', SERVICE_PACE: '0.1' },
  });
  const owner = away.as(away.owner);
  const posted = await Promise.all(
    Array.from({ length: 20 }, (_, n) =>
      owner.post(202, '/api/flows/run', { payload: { id: 'analyze', note: `away-${n}` } }),
    ),
  );
  const cancelled = await owner.post(202, '/api/flows/run', { payload: { id: 'analyze', note: 'away-cancelled' } });
  await owner.post(200, `/api/flows/runs/${cancelled.id}/cancel`);
  expect(await owner.get(200, '/api/flows/runs')).toMatchObject({
    totalCount: 21,
    runs: expect.arrayContaining([expect.objectContaining({ status: 'Waiting' })]),
  });
  await away.sql(
    `update flow_run set created_at = created_at - interval '1 minute', updated_at = updated_at - interval '1 minute'`,
  );
  // Each sweeps when it starts.
  const workers = await Promise.all([startWorker(away), startWorker(away)]);
  try {
    await eventually(
      () => owner.get(200, '/api/flows/runs?status=Completed'),
      ({ totalCount }) => totalCount === posted.length,
    );
    await eventually(
      () => owner.get(200, '/api/flows/runs?status=Cancelled'),
      ({ totalCount }) => totalCount === 1,
    );
    expect(posted.map((_, n) => ran(`away-${n}`))).toEqual(posted.map(() => 1));
    expect(ran('away-cancelled')).toBe(0);
  } finally {
    await Promise.all(workers.map((each) => each.stop()));
    await away.close();
  }
});

test('a payload of 2 MB is taken, and too large a one refused', async () => {
  const { id } = await start({ id: 'analyze', filling: 'x'.repeat(2_000_000) });
  await reached(id, 'succeeded');
  await app.as(app.owner).post(413, '/api/flows/run', { payload: { id: 'analyze', filling: 'x'.repeat(6_000_000) } });
});

test('a second request of the same key starts no second run', async () => {
  const payload = { id: 'analyze', note: 'keyed' };
  const send = () => app.as(app.owner).post(202, '/api/flows/run', { payload }, { 'idempotency-key': 'one' });
  const [first, second] = [await send(), await send()];
  expect(second.id).toBe(first.id);
  await reached(first.id, 'succeeded');
  expect(ran('keyed')).toBe(1);
});
