import { auditExportContract } from '../../../../workflows/kernel/audit/audit-export.contract.ts';
import { testApp } from '../../../support/app.ts';
import { recording, replay } from '../../../support/histories.ts';
import { eventually, startWorker } from '../../../support/worker.ts';

test.each(['completed', 'failed'])('an export that is under way goes on with the code of today: %s', (name) =>
  replay(`audit-export-${name}`),
);

/**
 * Records the history of an export that is written anew: `RECORD_HISTORIES=1 npm test -- test/workflows/kernel/audit/replay`. For
 * the one that fails, the store could not be written to until all tries were used up: today that takes an hour.
 */
recording('records the history', async ({ keep }) => {
  const app = await testApp();
  const worker = await startWorker(app, ['audit-v1']);
  try {
    const { id: exportId } = await app.as(app.owner).post(202, '/api/audit/exports', {});
    await eventually(
      () => app.as(app.owner).get(200, `/api/audit/exports/${exportId}`),
      ({ status }) => status === 'completed',
    );
    await keep('audit-export-completed', app.launch.idOf(auditExportContract, { ...app.tenantKey, exportId }));
  } finally {
    await worker.stop();
    await app.close();
  }
});
