import {
  createEnvironmentLockActivities,
  type EnvironmentLockActivities,
} from '../../../../activities/delivery/environment-locks/environment-locks.activities.ts';
import { newId } from '../../../../domain/kernel/shared/ids.ts';
import { activityDeps } from '../../../support/activities.ts';
import { type TestApp, testApp } from '../../../support/app.ts';
import { eventually, startWorker, type TestWorker } from '../../../support/worker.ts';

let app: TestApp;
let worker: TestWorker;
let activities: ReturnType<typeof activityDeps>;
let locks: EnvironmentLockActivities;
let environmentId: string;
beforeAll(async () => {
  app = await testApp();
  worker = await startWorker(app, ['environment-locks-v1']);
  activities = activityDeps(app);
  locks = createEnvironmentLockActivities(activities.deps);
  const owner = app.as(app.owner);
  await owner.post(201, '/api/projects', { identifier: 'acme/shop', platform: 'host-a' });
  ({ id: environmentId } = await owner.post(201, '/api/environments', {
    repositoryIdentifier: 'acme/shop',
    name: 'prod',
    category: 'release',
  }));
});
afterAll(async () => {
  await worker.stop();
  await activities.close();
  await app.close();
});

const aRun = () => ({ ...app.tenantKey, runId: newId() });
const place = () => ({ ...app.tenantKey, environmentId });

test('each step of a run at a lock may be repeated', async () => {
  const [first, second] = [aRun(), aRun()];
  const taken = await locks.takeLock({ ...first, environmentId, leaseMinutes: 30 });
  expect(taken.state).toBe('held');
  await expect(locks.takeLock({ ...first, environmentId, leaseMinutes: 30 })).resolves.toEqual(taken);
  const [waiting, again] = await Promise.all([1, 2].map(() => locks.takeLock({ ...second, environmentId })));
  expect(waiting).toMatchObject({ state: 'queued' });
  expect(again).toEqual(waiting);
  await expect(app.as(app.owner).get(200, `/api/environments/${environmentId}/locks`)).resolves.toMatchObject({
    total: 2,
    tickets: [{ heldBy: `run:${first.runId}`, executionId: first.runId }, {}],
  });

  const ticket = { ...place(), ticketId: taken.ticketId };
  await expect(locks.extendLock({ ...ticket, leaseMinutes: 60 })).resolves.toEqual({ isHeld: true });
  await locks.returnLock(first);
  await locks.returnLock(first);
  await expect(locks.extendLock(ticket)).resolves.toEqual({ isHeld: false });
  await expect(locks.lockState(ticket)).resolves.toEqual({ state: 'ended' });
  await eventually(
    () => locks.lockState({ ...place(), ticketId: waiting?.ticketId ?? '' }),
    ({ state }) => state === 'held',
  );
  await locks.returnLock(second);
  await locks.returnLock(second);
  await expect(app.as(app.owner).get(200, `/api/environments/${environmentId}/locks`)).resolves.toMatchObject({
    total: 0,
  });
});

test('an environment that is removed has no lock to wait for', async () => {
  const owner = app.as(app.owner);
  const { id } = await owner.post(201, '/api/environments', {
    repositoryIdentifier: 'acme/shop',
    name: 'gone',
    category: 'test',
  });
  const run = aRun();
  await locks.takeLock({ ...run, environmentId: id });
  await owner.delete(204, `/api/environments/${id}`);
  await expect(locks.takeLock({ ...run, environmentId: id })).rejects.toMatchObject({
    nonRetryable: true,
    type: 'refused',
  });
  await locks.returnLock(run);
});
