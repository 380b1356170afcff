import { type TestApp, testApp } from '../../../support/app.ts';
import { engineAway } from '../../../support/launch.ts';
import { eventually, startWorker } from '../../../support/worker.ts';

let app: TestApp;
beforeAll(async () => {
  // The workers reach the engine; they come when it is back.
  app = await testApp({ launch: engineAway, env: { SERVICE_PACE: '0.1' } });
});
afterAll(() => app.close());

test('with the engine away events are recorded, and applied by the sweep when it is back', async () => {
  const owner = app.as(app.owner);
  const repositoryIdentifier = 'acme/shop';
  await owner.post(201, '/api/projects', {
    identifier: repositoryIdentifier,
    platform: 'host-a',
    configuration: { autoReleaseFinalization: true },
  });
  await owner.post(201, '/api/environments', { repositoryIdentifier, name: 'prod', category: 'release' });
  const name = { repositoryIdentifier, domain: 'core', releaseName: 'r1' };
  await owner.post(201, '/api/release-candidates', { ...name, commitSha: 'abcdef0', value: {} });
  await owner.post(202, '/api/release-candidates/release-event', {
    ...name,
    environmentName: 'prod',
    deploymentStatus: 'Success',
  });
  // Requests that need no workflow go on.
  await expect(owner.post(200, '/api/release-candidates/find', name)).resolves.toMatchObject({ status: 'pending' });

  await app.sql(`update release_deployment set created_at = created_at - interval '1 minute'`);
  const worker = await startWorker(app);
  await eventually(
    () => owner.post(200, '/api/release-candidates/find', name),
    ({ status }) => status === 'finalized',
  );
  await worker.stop();
});
