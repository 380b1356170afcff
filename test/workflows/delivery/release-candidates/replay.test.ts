import { releaseDomainContract } from '../../../../workflows/delivery/release-candidates/release-domain.contract.ts';
import { testApp } from '../../../support/app.ts';
import { recording, replay } from '../../../support/histories.ts';
import { startWorker } from '../../../support/worker.ts';

test('a domain of releases goes on with the code of today', () => replay('release-domain'));

/**
 * Records the history anew: `RECORD_HISTORIES=1 npm test -- test/workflows/delivery/release-candidates/replay`. One event starts
 * the domain, some come at once, one after a pause, and the domain completes when it was quiet for long enough.
 */
recording('records the history', async ({ keep }) => {
  const app = await testApp();
  const worker = await startWorker(app, ['releases-v1']);
  try {
    const repositoryIdentifier = 'acme/shop';
    const owner = app.as(app.owner);
    const { id: projectId } = await owner.post(201, '/api/projects', {
      identifier: repositoryIdentifier,
      platform: 'host-a',
      configuration: { autoReleaseFinalization: true },
    });
    for (const name of ['uat', 'prod'])
      await owner.post(201, '/api/environments', { repositoryIdentifier, name, category: 'release' });
    const candidate = { repositoryIdentifier, domain: 'core', releaseName: 'r1' };
    await owner.post(201, '/api/release-candidates', { ...candidate, commitSha: 'abcdef0', value: {} });
    const event = (environmentName: string) =>
      owner.post(200, '/api/release-candidates/release-event', {
        ...candidate,
        environmentName,
        deploymentStatus: 'Success',
      });
    await event('uat');
    await Promise.all(Array.from({ length: 10 }, () => event('uat')));
    await new Promise((resolve) => setTimeout(resolve, 2_000));
    await event('prod');
    await keep(
      'release-domain',
      app.launch.idOf(releaseDomainContract, { ...app.tenantKey, projectId, repositoryIdentifier, domain: 'core' }),
    );
  } finally {
    await worker.stop();
    await app.close();
  }
});
