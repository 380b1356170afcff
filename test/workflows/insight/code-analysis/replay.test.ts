import {
  analysisResultsContract,
  resultsStoredSignal,
} from '../../../../workflows/insight/code-analysis/analysis-results.contract.ts';
import { testApp } from '../../../support/app.ts';
import { recording, replay } from '../../../support/histories.ts';
import { logOf, resultAt } from '../../../support/sarif.ts';
import { startWorker } from '../../../support/worker.ts';

test('a comparison of analyses that is under way goes on with the code of today', () => replay('analysis-results'));

/** Records the history anew: `RECORD_HISTORIES=1 npm test -- test/workflows/insight/code-analysis/replay`. There is a status to write. */
recording('records the history', async ({ keep }) => {
  const app = await testApp();
  const repositoryIdentifier = 'acme/shop';
  const { id: projectId } = await app.as(app.owner).post(201, '/api/projects', {
    identifier: repositoryIdentifier,
    platform: 'host-a',
    configuration: { qualityGate: { maxErrors: 0 } },
  });
  const branch = { ...app.tenantKey, projectId, repositoryIdentifier, branch: 'main' };
  for (const [minute, letter] of ['a', 'b'].entries())
    await app.as(app.application).post(201, '/api/testreports/code-analysis/results', {
      repositoryIdentifier,
      branch: 'main',
      commitId: letter.repeat(40),
      analyzedAt: new Date(Date.UTC(2026, 0, 1, 0, minute)).toISOString(),
      sarif: logOf([resultAt('R', `${letter}.js`, 1)]),
    });
  await app.launch.signalWithStart(analysisResultsContract, branch, resultsStoredSignal);
  const worker = await startWorker(app, ['git-v1']);
  try {
    await keep('analysis-results', app.launch.idOf(analysisResultsContract, branch));
  } finally {
    await worker.stop();
    await app.close();
  }
});
