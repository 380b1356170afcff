import { readFileSync, writeFileSync } from 'node:fs';
import { Client, Connection } from '@temporalio/client';
import { historyToJSON } from '@temporalio/common/lib/proto-utils.js';
import { DefaultLogger, Runtime, Worker } from '@temporalio/worker';
import { createEnvironmentLockActivities } from '../../../activities/environment-locks/environment-locks.activities.ts';
import { environmentLock } from '../../../workflows/environment-locks/environment-lock.contract.ts';
import { activityDeps } from '../../support/activities.ts';
import { testApp } from '../../support/app.ts';
import { insertRun } from '../../support/runs.ts';
import { eventually, startWorker } from '../../support/worker.ts';

const HISTORY = new URL('../histories/environment-lock.json', import.meta.url);

test('a lock that is in use goes on with the code of today', async () => {
  Runtime.install({ logger: new DefaultLogger('ERROR') });
  const workflowBundle = { codePath: process.env.QS_TEST_BUNDLE ?? '' };
  await Worker.runReplayHistory({ workflowBundle }, JSON.parse(readFileSync(HISTORY, 'utf8')));
});

/**
 * Records the history anew: `RECORD_HISTORIES=1 npm test -- test/workflows/environment-locks/replay`. The lock goes from
 * a person to a run, which is told, then to one whose lease runs out; the workflow completes when nobody wants it.
 */
(process.env.RECORD_HISTORIES ? test : test.skip)('records the history', async () => {
  const app = await testApp();
  const worker = await startWorker(app, ['environment-locks-v1']);
  const activities = activityDeps(app);
  const connection = await Connection.connect({ address: process.env.QS_TEST_TEMPORAL_ADDRESS ?? '' });
  try {
    const repositoryIdentifier = 'acme/shop';
    const owner = app.as(app.owner);
    await owner.post(201, '/api/projects', { identifier: repositoryIdentifier, platform: 'host-a' });
    const { id: environmentId } = await owner.post(201, '/api/environments', { repositoryIdentifier, name: 'prod', category: 'release' });
    const path = `/api/environments/${environmentId}/locks`;
    const locks = createEnvironmentLockActivities(activities.deps);
    const run = { tenantId: app.tenant.id, runId: await insertRun(app, { repositoryIdentifier, environmentId, requestedBy: app.owner.email }) };
    const first = await owner.post(201, path, {});
    const { ticketId } = await locks.takeLock({ ...run, environmentId });
    await Promise.all([1, 2, 3].map((n) => app.as(app.application).post(201, path, { executionId: `${n}`, leaseMinutes: 0.01 })));
    await owner.post(200, `${path}/${first.ticketId}/extend`, { leaseMinutes: 5 });
    await owner.delete(204, `${path}/${first.ticketId}`);
    await eventually(() => locks.lockState({ ...run, environmentId, ticketId }), ({ state }) => state === 'held');
    await locks.returnLock(run);
    const input = { tenantId: app.tenant.id, environmentId, environmentName: 'prod', repositoryIdentifier };
    const handle = new Client({ connection }).workflow.getHandle(environmentLock.workflowId(input));
    await eventually(async () => (await handle.describe()).status.name, (status) => status === 'COMPLETED', 60_000);
    writeFileSync(HISTORY, historyToJSON(await handle.fetchHistory()));
  } finally {
    await worker.kill('SIGTERM');
    await Promise.all([connection.close(), activities.close()]);
    await app.close();
  }
}, 120_000);
