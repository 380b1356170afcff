import { aiReportContract } from '../../../../workflows/insight/ai-reports/ai-report.contract.ts';
import { modelSimulator } from '../../../simulators/models/simulator.ts';
import { reportedProject } from '../../../support/ai-reports.ts';
import { testApp } from '../../../support/app.ts';
import { recording, replay } from '../../../support/histories.ts';
import { refresh, useModel } from '../../../support/model-reports.ts';
import { startWorker } from '../../../support/worker.ts';

test('a report that is being generated goes on with the code of today', () => replay('ai-report'));

/** Records the history anew: `RECORD_HISTORIES=1 npm test -- test/workflows/insight/ai-reports/replay`. */
recording('records the history', async ({ keep }) => {
  const models = await modelSimulator();
  const app = await testApp();
  const worker = await startWorker(app, ['ai-v1']);
  try {
    await useModel(app, models);
    models.next({ kind: 'invalid-json' });
    const project = await reportedProject(app);
    const { taskExecutionId: reportId } = await refresh(app, project);
    const { repositoryIdentifier } = project;
    const input = { ...app.tenantKey, reportId, repositoryIdentifier, branch: 'main' };
    await keep('ai-report', app.launch.idOf(aiReportContract, input));
  } finally {
    await worker.stop();
    await app.close();
    await models.close();
  }
});
