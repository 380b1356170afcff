import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pino } from 'pino';
import { flowSchedulesSweep, flowRunsSweep } from '../../activities/delivery/flows/flows.sweep.ts';
import { runSweep } from '../../activities/kernel/system/run-sweep.ts';
import { RESTART_WORKFLOWS } from '../../migrations/restart-workflows.ts';
import { createTemporalClient } from '../../workflows/temporal-client.ts';
import { endWorkflowsOfOldIds } from '../../workflows/temporal-sweeper.ts';
import { flowRunContract } from '../../workflows/delivery/flows/flow-run.contract.ts';
import { scheduledFlowContract } from '../../workflows/delivery/flows/scheduled-flow.contract.ts';
import { temporalLaunch } from '../../workflows/temporal-launch.ts';
import { activityDeps } from '../support/activities.ts';
import { keyOfRun } from '../support/run-key.ts';
import { type TestApp, testApp } from '../support/app.ts';
import type { Json } from '../support/client.ts';
import { cutRelease } from '../support/releases.ts';
import { eventually, startWorker } from '../support/worker.ts';

const client = createTemporalClient({ address: process.env.QS_TEST_TEMPORAL_ADDRESS ?? '', namespace: 'default' });
const folder = mkdtempSync(join(tmpdir(), 'quayside-old-ids-'));
let app: TestApp;
beforeAll(async () => {
  const commandsFile = join(folder, 'commands.json');
  writeFileSync(commandsFile, JSON.stringify({ 'execute-release': { program: '/bin/true' } }));
  app = await testApp({ env: { COMMANDS_FILE: commandsFile } });
});
afterAll(async () => {
  await client.connection.close();
  await app.close();
  rmSync(folder, { recursive: true });
});

test('a run that waits and a schedule, both under ids of an earlier version, are carried on under those of today', async () => {
  const owner = app.as(app.owner);
  const repositoryIdentifier = 'acme/shop';
  await owner.post(201, '/api/projects', {
    identifier: repositoryIdentifier,
    platform: 'host-a',
    configuration: { approvalPolicy: { skipApproval: true } },
  });
  const place = {
    repositoryIdentifier,
    name: 'prod',
    category: 'release',
    approvalPolicy: { allowSelfApproval: true },
  };
  await owner.post(201, '/api/environments', place);
  await cutRelease(app, repositoryIdentifier, 'r1');
  const payload = {
    id: 'execute-release',
    repositoryIdentifier,
    domain: 'core',
    releaseName: 'r1',
    environmentName: 'prod',
  };
  const { id: runId } = await owner.post(202, '/api/flows/run', { payload });
  const schedule = { name: 'nightly', cron: '0 3 * * *', payload };
  const { id: scheduleId } = await owner.post(201, '/api/flows/schedules', schedule);
  const reached = (status: string): Promise<Json> =>
    eventually(
      () => owner.get(200, `/api/flows/runs/${runId}`),
      ({ rawStatus }) => rawStatus === status,
    );
  const queues = ['flows-v1', 'commands-v1', 'approvals-v1', 'environment-locks-v1'];
  const earlier = await startWorker(app, queues);
  await reached('waiting_approval');
  await earlier.stop();

  // What the earlier version left: it named workflows by the id of the tenant.
  const input = await keyOfRun(app, runId);
  const workflowId = app.launch.idOf(flowRunContract, input);
  await client.connection.workflowService.deleteWorkflowExecution({
    namespace: 'default',
    workflowExecution: { workflowId },
  });
  await eventually(
    () =>
      client.workflow
        .getHandle(workflowId)
        .describe()
        .then(
          () => false,
          () => true,
        ),
    (isGone) => isGone,
  );
  const old = `${app.tenant.id}/flow/${runId}`;
  await temporalLaunch(client, { queuePrefix: '', log: pino({ level: 'silent' }) }).start(
    { ...flowRunContract, taskQueue: `${app.queuePrefix}flows-v1`, workflowId: () => old },
    input,
  );
  const times = { ...app.tenantKey, scheduleId, name: 'nightly' };
  await client.schedule.getHandle(app.launch.idOf(scheduledFlowContract, times)).delete();
  const oldSchedule = `${app.queuePrefix}${app.tenant.id}/flow-schedule/${scheduleId}`;
  await client.schedule.create({
    scheduleId: oldSchedule,
    spec: { cronExpressions: ['0 3 * * *'] },
    action: { type: 'startWorkflow', workflowType: 'scheduledFlow', taskQueue: `${app.queuePrefix}flows-v1` },
  });

  await app.sql(RESTART_WORKFLOWS);
  // The lists of Temporal lag behind a little.
  let ended = 0;
  const endAll = async () => {
    ended += await endWorkflowsOfOldIds(client, app.queuePrefix);
    return ended;
  };
  await eventually(endAll, (count) => count >= 2);
  const worker = await startWorker(app, queues);
  const activities = activityDeps(app);
  try {
    await app.sql(`update flow_run set updated_at = now() - interval '1 minute' where id = ?`, [runId]);
    await app.sql(`update flow_schedule set updated_at = now() - interval '1 minute' where id = ?`, [scheduleId]);
    await expect(runSweep(activities.deps, flowRunsSweep)).resolves.toMatchObject({ handled: 1 });
    await expect(runSweep(activities.deps, flowSchedulesSweep)).resolves.toMatchObject({ handled: 1 });
    await reached('waiting_approval');
    const { items } = await owner.get(200, '/api/flows/approvals');
    expect(items).toHaveLength(1);
    await owner.post(200, `/api/flows/approvals/${items[0].id}/approve`, {});
    await reached('succeeded');
  } finally {
    await worker.stop();
    await activities.close();
  }
  expect((await client.workflow.getHandle(old).describe()).status.name).toBe('TERMINATED');
  await expect(client.schedule.getHandle(oldSchedule).describe()).rejects.toThrow(/not found/i);
  await client.schedule.getHandle(app.launch.idOf(scheduledFlowContract, times)).describe();
});

test('workflows whose ids end with the whole UUID of a row are ended, those of today and of old runs go on', async () => {
  const uuid = '01a21bb8-4a31-71d5-a8d1-956e0ab1c2d3';
  const started = async (key: string) => {
    const workflowId = `${app.queuePrefix}:acme/${key}`;
    const args = [{ ...app.tenantKey, exportId: uuid }];
    await client.workflow.start('auditExport', { workflowId, taskQueue: `${app.queuePrefix}audit-v1`, args });
    return client.workflow.getHandle(workflowId);
  };
  const old = await Promise.all([`git-mirror/acme/shop/${uuid}`, `approval/${uuid}`].map(started));
  const todays = await Promise.all([`flow/build/${uuid}`, 'git-mirror/acme/shop/956e0ab1c2d3'].map(started));
  const statusOf = async (handle: (typeof old)[number]) => (await handle.describe()).status.name;
  // The lists of Temporal lag behind a little.
  await eventually(
    async () => {
      await endWorkflowsOfOldIds(client, app.queuePrefix);
      return Promise.all(old.map(statusOf));
    },
    (statuses) => statuses.every((status) => status === 'TERMINATED'),
  );
  expect(await Promise.all(todays.map(statusOf))).toEqual(['RUNNING', 'RUNNING']);
  await Promise.all(todays.map((handle) => handle.terminate()));
});
