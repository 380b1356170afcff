import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { WorkflowFailedError } from '@temporalio/client';
import type { ApplicationFailure } from '@temporalio/common';
import { createTemporalClient } from '../../../../workflows/temporal-client.ts';
import { workflowIdOfRun } from '../../../support/run-key.ts';
import { type TestApp, testApp } from '../../../support/app.ts';
import type { Json } from '../../../support/client.ts';
import {
  eventually,
  startWorker,
  startWorkerProcess,
  type TestWorker,
  type TestWorkerProcess,
} from '../../../support/worker.ts';
import { gitHost, type GitHostSimulator, hostCredentials } from '../../../simulators/git-hosts.ts';

const repositoryIdentifier = 'acme/shop';
const folder = mkdtempSync(join(tmpdir(), 'quayside-lock-lost-'));
/** Is there while a program deploys. */
const deploying = join(folder, 'deploying');
/** Is there once two programs deployed at the same time. */
const overlapped = join(folder, 'overlapped');
let app: TestApp;
let flows: TestWorkerProcess;
let locks: TestWorker;
let host: GitHostSimulator;
const temporal = createTemporalClient({
  address: process.env.QS_TEST_TEMPORAL_ADDRESS ?? '',
  namespace: 'default',
});

const startFlows = () => startWorkerProcess(app, ['flows-v1', 'commands-v1']);

beforeAll(async () => {
  host = await gitHost('host-a');
  const commandsFile = join(folder, 'commands.json');
  const script = `mkdir ${deploying} || touch ${overlapped}
    trap 'sleep 0.3; rmdir ${deploying}; exit 1' TERM
    sleep "$1" & wait $!
    rmdir ${deploying}`;
  const command = { program: '/bin/sh', args: ['-c', script, 'sh', '{payload.seconds}'] };
  writeFileSync(commandsFile, JSON.stringify({ 'install-packages': command }));
  // A program's lease of three seconds.
  const SERVICE_PACE = '0.2';
  app = await testApp({ env: { COMMANDS_FILE: commandsFile, OUTBOUND_ALLOW: '127.0.0.0/8', SERVICE_PACE } });
  [flows, locks] = await Promise.all([startFlows(), startWorker(app, ['environment-locks-v1', 'approvals-v1'])]);
  const owner = app.as(app.owner);
  await owner.post(201, '/api/integrations', {
    kind: 'host-a',
    name: 'host',
    baseUrl: host.url,
    credentials: hostCredentials,
  });
  await owner.post(201, '/api/projects', { identifier: repositoryIdentifier, platform: 'host-a' });
});
afterAll(async () => {
  await flows.kill('SIGKILL');
  await locks.stop();
  await temporal.connection.close();
  await host.close();
  await app.close();
  rmSync(folder, { recursive: true, force: true });
});

let made = 0;
async function environment(): Promise<{ id: string; name: string }> {
  const name = `e${++made}`;
  const { id } = await app.as(app.owner).post(201, '/api/environments', {
    repositoryIdentifier,
    name,
    category: 'test',
    approvalPolicy: { skipApproval: true },
  });
  return { id, name };
}

const start = async (environmentName: string, seconds: number, more: object = {}): Promise<string> =>
  (
    await app.as(app.owner).post(202, '/api/flows/run', {
      payload: { id: 'install-packages', repositoryIdentifier, environmentName, seconds, ...more },
    })
  ).id;
const shown = (id: string): Promise<Json> => app.as(app.owner).get(200, `/api/flows/runs/${id}`);
const reached = (id: string, rawStatus: string): Promise<Json> =>
  eventually(
    () => shown(id),
    (run) => run.rawStatus === rawStatus,
  );
/** Lets the lease of an environment's lock end, as if its time had passed. */
const expireLease = (environmentId: string) =>
  app.sql(
    `update environment_lock_ticket set expires_at = now() - interval '1 second' where environment_id = ? and state = 'held'`,
    [environmentId],
  );
const workflowOf = async (runId: string) => temporal.workflow.getHandle(await workflowIdOfRun(app, runId));
const LOST = {
  status: 'Failed',
  result: { code: 'lock_lost' },
  success: { isSuccess: false, error: expect.stringContaining('lock_lost') },
};

test('a run that loses its lock ends its command, and the next begins only after that', async () => {
  const { id, name } = await environment();
  const first = await start(name, 60);
  await reached(first, 'running');
  await eventually(
    async () => existsSync(deploying),
    (is) => is,
  );
  await expireLease(id);
  const second = await start(name, 1);
  await expect(reached(first, 'failed')).resolves.toMatchObject(LOST);
  await reached(second, 'succeeded');
  expect(existsSync(overlapped)).toBe(false);
  const { cause } = (await (await workflowOf(first)).result().catch((error: unknown) => error)) as WorkflowFailedError;
  expect((cause as ApplicationFailure).type).toBe('lock_lost');
});

test('a run that loses its lock cancels its pipeline, and the next begins only after that', async () => {
  const { id, name } = await environment();
  const pipeline = { pipeline: { id: 'deploy.yml' } };
  const first = await start(name, 0, pipeline);
  await eventually(
    () => shown(first),
    ({ cicdRunUrl }) => cicdRunUrl !== null,
  );
  await expireLease(id);
  const second = await start(name, 1);
  await expect(reached(first, 'failed')).resolves.toMatchObject(LOST);
  expect(host.requests.some(({ method, path }) => method === 'POST' && path.endsWith('/cancel'))).toBe(true);
  await reached(second, 'succeeded');
});

test('a run whose lock was lost before its work began does not begin it', async () => {
  const { id, name } = await environment();
  const owner = app.as(app.owner);
  const path = `/api/environments/${id}/locks`;
  const { ticketId } = await owner.post(201, path, {});
  const run = await start(name, 1);
  await reached(run, 'waiting_lock');
  await flows.kill('SIGKILL');
  await owner.delete(204, `${path}/${ticketId}`);
  await eventually(
    () => owner.get(200, path),
    ({ isLocked }) => isLocked,
  );
  await expireLease(id);
  const next = await owner.post(201, path, {});
  expect(next.state).toBe('queued');
  flows = await startFlows();
  await expect(reached(run, 'failed')).resolves.toMatchObject({ ...LOST, startedAt: null });
  await eventually(
    () => owner.get(200, `${path}/${next.ticketId}`),
    ({ state }) => state === 'held',
  );
});

test('a program ends with its lease while its worker stands still, and the next begins only after that', async () => {
  const { id, name } = await environment();
  const first = await start(name, 60);
  await reached(first, 'running');
  await eventually(
    async () => existsSync(deploying),
    (is) => is,
  );
  const second = await start(name, 1);
  await reached(second, 'waiting_lock');
  flows.signal('SIGSTOP');
  try {
    // The lease of the program, and what it does on SIGTERM.
    await eventually(
      async () => existsSync(deploying),
      (is) => !is,
    );
    await expireLease(id);
    // The engine has given the worker up by then.
    await eventually(
      async () => (await workflowOf(first)).describe(),
      ({ raw }) => raw.pendingActivities?.length === 0,
    );
  } finally {
    flows.signal('SIGCONT');
  }
  await eventually(
    () => shown(first),
    ({ success }) => success !== null,
  );
  expect((await shown(first)).status).toBe('Failed');
  await reached(second, 'succeeded');
  expect(existsSync(overlapped)).toBe(false);
});

test('nobody takes the lock from a run that goes on, or shortens its lease', async () => {
  const { id, name } = await environment();
  const owner = app.as(app.owner);
  const run = await start(name, 60);
  await reached(run, 'running');
  const path = `/api/environments/${id}/locks`;
  const [ticket] = (await owner.get(200, path)).tickets;
  const refused = await owner.post(409, `${path}/${ticket.ticketId}/extend`, { leaseMinutes: 1 });
  expect(refused).toMatchObject({ code: 'invalid_transition', detail: expect.stringContaining(run) });
  await owner.delete(409, `${path}/${ticket.ticketId}`);
  await owner.post(200, `/api/flows/runs/${run}/cancel`);
  await reached(run, 'cancelled');
  await owner.delete(204, `${path}/${ticket.ticketId}`);
});
