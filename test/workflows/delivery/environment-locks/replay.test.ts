import { createEnvironmentLockActivities } from '../../../../activities/delivery/environment-locks/environment-locks.activities.ts';
import { environmentLockContract } from '../../../../workflows/delivery/environment-locks/environment-lock.contract.ts';
import { activityDeps } from '../../../support/activities.ts';
import { testApp } from '../../../support/app.ts';
import { recording, replay } from '../../../support/histories.ts';
import { insertRun } from '../../../support/factories.ts';
import { eventually, startWorker } from '../../../support/worker.ts';

test('a lock that is in use goes on with the code of today', () => replay('environment-lock'));

/**
 * Records the history anew: `RECORD_HISTORIES=1 npm test -- test/workflows/delivery/environment-locks/replay`. The lock goes from
 * a person to a run, which is told, then to one whose lease runs out; the workflow completes when nobody wants it.
 */
recording('records the history', async ({ keep }) => {
  const app = await testApp();
  const worker = await startWorker(app, ['environment-locks-v1']);
  const activities = activityDeps(app);
  try {
    const repositoryIdentifier = 'acme/shop';
    const owner = app.as(app.owner);
    await owner.post(201, '/api/projects', { identifier: repositoryIdentifier, platform: 'host-a' });
    const { id: environmentId } = await owner.post(201, '/api/environments', {
      repositoryIdentifier,
      name: 'prod',
      category: 'release',
    });
    const path = `/api/environments/${environmentId}/locks`;
    const locks = createEnvironmentLockActivities(activities.deps);
    const run = {
      ...app.tenantKey,
      runId: await insertRun(app, { repositoryIdentifier, environmentId, requestedBy: app.owner.email }),
    };
    const first = await owner.post(201, path, {});
    const { ticketId } = await locks.takeLock({ ...run, environmentId });
    await Promise.all(
      [1, 2, 3].map((n) => app.as(app.application).post(201, path, { executionId: `${n}`, leaseMinutes: 0.01 })),
    );
    await owner.post(200, `${path}/${first.ticketId}/extend`, { leaseMinutes: 5 });
    await owner.delete(204, `${path}/${first.ticketId}`);
    await eventually(
      () => locks.lockState({ ...run, environmentId, ticketId }),
      ({ state }) => state === 'held',
    );
    await locks.returnLock(run);
    const input = { ...app.tenantKey, environmentId, environmentName: 'prod', repositoryIdentifier };
    await keep('environment-lock', app.launch.idOf(environmentLockContract, input));
  } finally {
    await worker.stop();
    await activities.close();
    await app.close();
  }
});
