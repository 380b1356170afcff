import { releaseEventsSweep } from '../../../../activities/delivery/release-candidates/release-events.sweep.ts';
import { runSweep } from '../../../../activities/kernel/system/run-sweep.ts';
import { EngineUnavailableError, type Launch } from '../../../../workflows/launch.ts';
import type { ReleaseDomainInput } from '../../../../workflows/delivery/release-candidates/release-domain.contract.ts';
import { activityDeps } from '../../../support/activities.ts';
import { type TestApp, testApp } from '../../../support/app.ts';
import { engineAway } from '../../../support/launch.ts';
import type { ApiClient } from '../../../support/client.ts';

let app: TestApp;
let activities: ReturnType<typeof activityDeps>;
/** What the sweep asked: domain and number of events. */
let asked: { tenantId: string; repositoryIdentifier: string; domain: string; events: number }[] = [];
let hanging: string | undefined;
const launch: Launch = {
  ...engineAway,
  async updateWithStart(_contract, input, _update, { args }) {
    const { tenantId, repositoryIdentifier, domain } = input as ReleaseDomainInput;
    if (domain === hanging) throw new EngineUnavailableError('away');
    asked.push({ tenantId, repositoryIdentifier, domain, events: (args[0] as string[]).length });
    return {} as never;
  },
};
const sweep = (overdueSeconds?: number) => runSweep({ ...activities.deps, launch }, releaseEventsSweep(overdueSeconds));

beforeAll(async () => {
  app = await testApp({ launch: engineAway });
  activities = activityDeps(app);
  for (const caller of [app.owner, app.stranger]) await storeEvents(app.as(caller));
});
afterAll(async () => {
  await activities.close();
  await app.close();
});
beforeEach(() => {
  asked = [];
  hanging = undefined;
});

/** Two events of domain `a` and one of `b`, which found no engine. */
async function storeEvents(owner: ApiClient): Promise<void> {
  const repositoryIdentifier = 'acme/shop';
  await owner.post(201, '/api/projects', { identifier: repositoryIdentifier, platform: 'host-a' });
  await owner.post(201, '/api/environments', { repositoryIdentifier, name: 'prod', category: 'release' });
  for (const domain of ['a', 'b']) {
    await owner.post(201, '/api/release-candidates', {
      repositoryIdentifier,
      domain,
      releaseName: 'r1',
      commitSha: 'abcdef0',
      value: {},
    });
  }
  const event = { repositoryIdentifier, releaseName: 'r1', environmentName: 'prod', deploymentStatus: 'Success' };
  for (const domain of ['a', 'a', 'b'])
    await owner.post(202, '/api/release-candidates/release-event', { ...event, domain });
}

test('what was stored just now is left to the request that stored it', async () => {
  await expect(sweep()).resolves.toMatchObject({ found: 0 });
  expect(asked).toEqual([]);
});

test('the overdue events of all tenants are asked for, each domain at once', async () => {
  await expect(sweep(0)).resolves.toMatchObject({ handled: 6, failed: 0 });
  expect(asked.map(({ domain, events }) => `${domain}${events}`).toSorted()).toEqual(['a2', 'a2', 'b1', 'b1']);
  expect(new Set(asked.map(({ tenantId }) => tenantId)).size).toBe(2);
  expect(asked.every(({ repositoryIdentifier }) => repositoryIdentifier === 'acme/shop')).toBe(true);
});

test('a domain that does not answer keeps no other from its turn, and is asked again later', async () => {
  hanging = 'a';
  await expect(sweep(0)).resolves.toMatchObject({ handled: 2, failed: 2, backedOff: 0 });
  hanging = undefined;
  await expect(sweep(0)).resolves.toMatchObject({ handled: 2, failed: 0, backedOff: 2 });
  await app.sql("update sweep_failure set next_attempt_at = now() - interval '1 second'");
  await expect(sweep(0)).resolves.toMatchObject({ handled: 6, failed: 0, backedOff: 0 });
  await expect(app.sql('select * from sweep_failure')).resolves.toEqual([]);
});

test('applied events are left alone', async () => {
  await app.sql('update release_deployment set applied_at = now() where domain = ?', ['a']);
  await expect(sweep(0)).resolves.toMatchObject({ handled: 2 });
  expect(asked.map(({ domain }) => domain)).toEqual(['b', 'b']);
});
