import { readFileSync, writeFileSync } from 'node:fs';
import { Client, Connection } from '@temporalio/client';
import { historyToJSON } from '@temporalio/common/lib/proto-utils.js';
import { DefaultLogger, Runtime, Worker } from '@temporalio/worker';
import { testApp } from '../../support/app.ts';
import { importCommits } from '../../support/imported.ts';
import { eventually, startWorker } from '../../support/worker.ts';

const HISTORY = new URL('../histories/build-impact.json', import.meta.url);

test('a computation of an impact that is under way goes on with the code of today', async () => {
  Runtime.install({ logger: new DefaultLogger('ERROR') });
  const workflowBundle = { codePath: process.env.QS_TEST_BUNDLE ?? '' };
  await Worker.runReplayHistory({ workflowBundle }, JSON.parse(readFileSync(HISTORY, 'utf8')));
});

/** Records the history anew: `RECORD_HISTORIES=1 npm test -- test/workflows/builds/replay`. */
(process.env.RECORD_HISTORIES ? test : test.skip)('records the history', async () => {
  const app = await testApp();
  const worker = await startWorker(app, ['git-v1']);
  const connection = await Connection.connect({ address: process.env.QS_TEST_TEMPORAL_ADDRESS ?? '' });
  try {
    const repositoryIdentifier = 'acme/shop';
    const { id } = await app.as(app.owner).post(201, '/api/projects', { identifier: repositoryIdentifier, platform: 'host-a', configuration: { domains: ['core'] } });
    const [, commitId = ''] = await importCommits(app, id, 2);
    const { impact } = await app.as(app.owner).get(200, `/api/builds/preview?${new URLSearchParams({ repositoryIdentifier, branchName: 'main', commitId })}`);
    const handle = new Client({ connection }).workflow.getHandle(impact.jobId);
    await eventually(() => app.as(app.owner).get(200, `/api/builds/impact-preview?${new URLSearchParams({ repositoryIdentifier, previewKey: impact.previewKey })}`), ({ status }) => status === 'available');
    await handle.result();
    writeFileSync(HISTORY, historyToJSON(await handle.fetchHistory()));
  } finally {
    await worker.kill('SIGTERM');
    await connection.close();
    await app.close();
  }
}, 60_000);
