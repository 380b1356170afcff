import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Client, Connection } from '@temporalio/client';
import { historyToJSON } from '@temporalio/common/lib/proto-utils.js';
import { DefaultLogger, Runtime, Worker } from '@temporalio/worker';
import { auditExport } from '../../../workflows/audit/audit-export.contract.ts';
import { testApp } from '../../support/app.ts';
import { eventually, startWorker } from '../../support/worker.ts';

const fileOf = (name: string) => new URL(`../histories/audit-export-${name}.json`, import.meta.url);

beforeAll(() => {
  Runtime.install({ logger: new DefaultLogger('ERROR') });
});

test.each(['completed', 'failed'])('an export that is under way goes on with the code of today: %s', async (name) => {
  const workflowBundle = { codePath: process.env.QS_TEST_BUNDLE ?? '' };
  await Worker.runReplayHistory({ workflowBundle }, JSON.parse(readFileSync(fileOf(name), 'utf8')));
});

/**
 * Records the histories anew: `RECORD_HISTORIES=1 npm test -- test/workflows/audit/replay`. One export is written; for
 * the other the store cannot be written to until all tries are used up, which takes two minutes.
 */
(process.env.RECORD_HISTORIES ? test : test.skip)('records the histories', async () => {
  const app = await testApp();
  const worker = await startWorker(app, ['audit-v1']);
  const connection = await Connection.connect({ address: process.env.QS_TEST_TEMPORAL_ADDRESS ?? '' });
  try {
    const record = async (name: string) => {
      const { id: exportId } = await app.as(app.owner).post(202, '/api/audit/exports', {});
      await eventually(() => app.as(app.owner).get(200, `/api/audit/exports/${exportId}`), ({ status }) => status === name, 180_000);
      const handle = new Client({ connection }).workflow.getHandle(auditExport.workflowId({ tenantId: app.tenant.id, exportId }));
      await handle.result();
      // Without what tells of the machine that it was recorded on.
      const history: unknown = JSON.parse(historyToJSON(await handle.fetchHistory()).replaceAll(app.dataDir, '/data'));
      writeFileSync(fileOf(name), JSON.stringify(history, (member, value: unknown) => (member === 'stackTrace' ? undefined : value), 2));
    };
    await record('completed');
    const folder = join(app.dataDir, 'objects');
    rmSync(folder, { recursive: true });
    writeFileSync(folder, 'a file where the folder was');
    await record('failed');
  } finally {
    await worker.kill('SIGTERM');
    await connection.close();
    await app.close();
  }
}, 240_000);
