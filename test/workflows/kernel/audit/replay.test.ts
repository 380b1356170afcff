import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { auditExportContract } from '../../../../workflows/kernel/audit/audit-export.contract.ts';
import { testApp } from '../../../support/app.ts';
import { recording, replay } from '../../../support/histories.ts';
import { eventually, startWorker } from '../../../support/worker.ts';

test.each(['completed', 'failed'])('an export that is under way goes on with the code of today: %s', (name) =>
  replay(`audit-export-${name}`),
);

/**
 * Records the histories anew: `RECORD_HISTORIES=1 npm test -- test/workflows/kernel/audit/replay`. One export is written; for
 * the other the store cannot be written to until all tries are used up, which takes two minutes.
 */
recording('records the histories', async ({ keep }) => {
  const app = await testApp();
  const worker = await startWorker(app, ['audit-v1']);
  try {
    const record = async (name: string) => {
      const { id: exportId } = await app.as(app.owner).post(202, '/api/audit/exports', {});
      await eventually(
        () => app.as(app.owner).get(200, `/api/audit/exports/${exportId}`),
        ({ status }) => status === name,
      );
      await keep(`audit-export-${name}`, app.launch.idOf(auditExportContract, { ...app.tenantKey, exportId }));
    };
    await record('completed');
    const folder = join(app.dataDir, 'objects');
    rmSync(folder, { recursive: true });
    writeFileSync(folder, 'a file where the folder was');
    await record('failed');
  } finally {
    await worker.stop();
    await app.close();
  }
});
