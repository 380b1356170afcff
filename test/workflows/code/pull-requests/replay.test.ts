import {
  pullRequestsContract,
  refreshDueSignal,
} from '../../../../workflows/code/pull-requests/pull-requests.contract.ts';
import { testApp } from '../../../support/app.ts';
import { recording, replay } from '../../../support/histories.ts';
import { startWorker } from '../../../support/worker.ts';

test('a refresh of pull requests that is under way goes on with the code of today', () => replay('pull-requests'));

/** Records the history anew: `RECORD_HISTORIES=1 npm test -- test/workflows/code/pull-requests/replay`. It is asked for again meanwhile. */
recording('records the history', async ({ keep }) => {
  const app = await testApp();
  const repositoryIdentifier = 'acme/shop';
  const { id: projectId } = await app
    .as(app.owner)
    .post(201, '/api/projects', { identifier: repositoryIdentifier, platform: 'host-a' });
  const project = { ...app.tenantKey, projectId, repositoryIdentifier };
  for (let n = 0; n < 3; n++) await app.launch.signalWithStart(pullRequestsContract, project, refreshDueSignal);
  const worker = await startWorker(app, ['git-v1']);
  try {
    await keep('pull-requests', app.launch.idOf(pullRequestsContract, project));
  } finally {
    await worker.stop();
    await app.close();
  }
});
