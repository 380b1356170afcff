import { testApp } from '../../../support/app.ts';
import { recording, replay } from '../../../support/histories.ts';
import { insertCommits } from '../../../support/factories.ts';
import { eventually, startWorker } from '../../../support/worker.ts';

test('a computation of an impact that is under way goes on with the code of today', () => replay('build-impact'));

/** Records the history anew: `RECORD_HISTORIES=1 npm test -- test/workflows/ci/builds/replay`. */
recording('records the history', async ({ keep }) => {
  const app = await testApp();
  const worker = await startWorker(app, ['git-v1']);
  try {
    const repositoryIdentifier = 'acme/shop';
    const { id } = await app.as(app.owner).post(201, '/api/projects', {
      identifier: repositoryIdentifier,
      platform: 'host-a',
      configuration: { domains: ['core'] },
    });
    const [, commitId = ''] = await insertCommits(app, id, 2);
    const { impact } = await app
      .as(app.owner)
      .get(200, `/api/builds/preview?${new URLSearchParams({ repositoryIdentifier, branchName: 'main', commitId })}`);
    await eventually(
      () =>
        app
          .as(app.owner)
          .get(
            200,
            `/api/builds/impact-preview?${new URLSearchParams({ repositoryIdentifier, previewKey: impact.previewKey })}`,
          ),
      ({ status }) => status === 'available',
    );
    await keep('build-impact', impact.jobId);
  } finally {
    await worker.stop();
    await app.close();
  }
});
