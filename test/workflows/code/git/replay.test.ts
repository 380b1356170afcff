import { fetchSignal, gitMirrorContract } from '../../../../workflows/code/git/git-mirror.contract.ts';
import { testApp } from '../../../support/app.ts';
import { recording, replay } from '../../../support/histories.ts';
import { newRepository } from '../../../support/repository.ts';
import { startWorker } from '../../../support/worker.ts';

test('a mirror that is under way goes on with the code of today', () => replay('git-mirror'));

/** Records the history anew: `RECORD_HISTORIES=1 npm test -- test/workflows/code/git/replay`. The mirror is asked again while it fetches. */
recording('records the history', async ({ keep }) => {
  const remote = newRepository();
  const app = await testApp({ env: { ALLOW_LOCAL_GIT: 'true' } });
  const worker = await startWorker(app, ['git-v1']);
  try {
    remote.commit({ files: { a: '1' }, message: 'one' });
    const repositoryIdentifier = 'acme/shop';
    const { id: projectId } = await app
      .as(app.owner)
      .post(201, '/api/projects', { identifier: repositoryIdentifier, platform: 'host-a', remoteUrl: remote.path });
    const mirror = { ...app.tenantKey, projectId, repositoryIdentifier };
    for (let n = 0; n < 3; n++) await app.launch.signalWithStart(gitMirrorContract, mirror, fetchSignal);
    await keep('git-mirror', app.launch.idOf(gitMirrorContract, mirror));
  } finally {
    await worker.stop();
    await app.close();
    remote.remove();
  }
});
