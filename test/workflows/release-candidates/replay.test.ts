import { readFileSync, writeFileSync } from 'node:fs';
import { Client, Connection } from '@temporalio/client';
import { historyToJSON } from '@temporalio/common/lib/proto-utils.js';
import { DefaultLogger, Runtime, Worker } from '@temporalio/worker';
import { releaseDomain } from '../../../workflows/release-candidates/release-domain.contract.ts';
import { testApp } from '../../support/app.ts';
import { eventually, startWorker } from '../../support/worker.ts';

const HISTORY = new URL('../histories/release-domain.json', import.meta.url);

test('a domain that is under way goes on with the code of today', async () => {
  Runtime.install({ logger: new DefaultLogger('ERROR') });
  const workflowBundle = { codePath: process.env.QS_TEST_BUNDLE ?? '' };
  await Worker.runReplayHistory({ workflowBundle }, JSON.parse(readFileSync(HISTORY, 'utf8')));
});

/**
 * Records the history anew: `RECORD_HISTORIES=1 npm test -- test/workflows/release-candidates/replay`. One event starts
 * the domain, some come at once, one after a pause, and the domain completes when it was quiet for long enough.
 */
(process.env.RECORD_HISTORIES ? test : test.skip)('records the history', async () => {
  const app = await testApp();
  const worker = await startWorker(app, ['releases-v1']);
  const connection = await Connection.connect({ address: process.env.QS_TEST_TEMPORAL_ADDRESS ?? '' });
  try {
    const repositoryIdentifier = 'acme/shop';
    const owner = app.as(app.owner);
    const { id: projectId } = await owner.post(201, '/api/projects', { identifier: repositoryIdentifier, platform: 'host-a', configuration: { autoReleaseFinalization: true } });
    for (const name of ['uat', 'prod']) await owner.post(201, '/api/environments', { repositoryIdentifier, name, category: 'release' });
    const candidate = { repositoryIdentifier, domain: 'core', releaseName: 'r1' };
    await owner.post(201, '/api/release-candidates', { ...candidate, commitSha: 'abcdef0', value: {} });
    const event = (environmentName: string) =>
      owner.post(200, '/api/release-candidates/release-event', { ...candidate, environmentName, deploymentStatus: 'Success' });
    await event('uat');
    await Promise.all(Array.from({ length: 10 }, () => event('uat')));
    await new Promise((resolve) => setTimeout(resolve, 2_000));
    await event('prod');
    const workflowId = releaseDomain.workflowId({ tenantId: app.tenant.id, projectId, repositoryIdentifier, domain: 'core' });
    const handle = new Client({ connection }).workflow.getHandle(workflowId);
    await eventually(async () => (await handle.describe()).status.name, (name) => name === 'COMPLETED', 120_000);
    writeFileSync(HISTORY, historyToJSON(await handle.fetchHistory()));
  } finally {
    await worker.kill('SIGTERM');
    await connection.close();
    await app.close();
  }
}, 180_000);
