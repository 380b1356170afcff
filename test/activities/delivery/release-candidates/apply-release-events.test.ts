import {
  createReleaseActivities,
  type ReleaseActivities,
} from '../../../../activities/delivery/release-candidates/release-candidates.activities.ts';
import { activityDeps } from '../../../support/activities.ts';
import { type TestApp, testApp } from '../../../support/app.ts';
import { engineAway } from '../../../support/launch.ts';
import { success } from '../../../support/releases.ts';

const repositoryIdentifier = 'acme/shop';
let app: TestApp;
let backend: ReturnType<typeof activityDeps>;
let apply: (eventIds: string[], tenantId?: string) => ReturnType<ReleaseActivities['applyReleaseEvents']>;

beforeAll(async () => {
  // Events stay stored until a test applies them itself.
  app = await testApp({ launch: engineAway });
  backend = activityDeps(app);
  const activities = createReleaseActivities(backend.deps);
  const owner = app.as(app.owner);
  const { id: projectId } = await owner.post(201, '/api/projects', {
    identifier: repositoryIdentifier,
    platform: 'host-a',
    configuration: { autoReleaseFinalization: true },
  });
  for (const name of ['uat', 'prod'])
    await owner.post(201, '/api/environments', { repositoryIdentifier, name, category: 'release' });
  apply = (eventIds, tenantId = app.tenant.id) =>
    activities.applyReleaseEvents({
      tenantId,
      tenantSlug: 'test',
      projectId,
      repositoryIdentifier,
      domain: 'core',
      eventIds,
    });
});
afterAll(async () => {
  await backend.close();
  await app.close();
});

let made = 0;
async function candidate(): Promise<{ id: string; releaseName: string }> {
  const body = {
    repositoryIdentifier,
    domain: 'core',
    releaseName: `r${++made}`,
    commitSha: 'abcdef0',
    branch: `b${made}`,
    value: {},
  };
  return app.as(app.member).post(201, '/api/release-candidates', body);
}
/** Reports a deployment as the pipeline and answers the id of the stored event. */
async function stored(releaseName: string, environmentName: string, more: object = {}): Promise<string> {
  const body = success(repositoryIdentifier, releaseName, environmentName, more);
  await app.as(app.application).post(202, '/api/release-candidates/release-event', body);
  const [row] = await app.sql<{ id: string }>('select id from release_deployment order by id desc limit 1');
  return row?.id ?? '';
}
const statusOf = async (id: string): Promise<string> =>
  (await app.as(app.owner).get(200, `/api/release-candidates/${id}`)).status;

test('an event is applied once; repeated, it answers the same and writes nothing', async () => {
  const { id, releaseName } = await candidate();
  const event = await stored(releaseName, 'uat');
  const first = await apply([event]);
  expect(first[event]).toMatchObject({ updated: true, newStatus: 'in_progress', missingEnvironments: ['prod'] });
  const written = () =>
    app.sql(
      'select (select count(*) from audit_entry) as audited, (select version from release_candidate where id = ?) as version',
      [id],
    );
  const before = await written();
  await expect(apply([event])).resolves.toEqual(first);
  await expect(Promise.all([apply([event]), apply([event])])).resolves.toEqual([first, first]);
  await expect(written()).resolves.toEqual(before);
});

test('what an event changes is told in the name of who reported it', async () => {
  const { id, releaseName } = await candidate();
  await apply([await stored(releaseName, 'uat')]);
  const entries = await app.sql(
    `select actor->>'email' as email, request_id from audit_entry where entity_id = ? and action = 'release_candidate.status_changed'`,
    [id],
  );
  expect(entries).toEqual([{ email: 'app:ci', request_id: expect.any(String) }]);
});

test('an event that is not there, or is of another tenant, has no outcome', async () => {
  const { id, releaseName } = await candidate();
  const event = await stored(releaseName, 'uat');
  await expect(apply(['01890000-0000-7000-8000-000000000000'])).resolves.toEqual({});
  const [other] = await app.sql<{ id: string }>(`select id from tenant where slug = 'other'`);
  await expect(apply([event], other?.id)).resolves.toEqual({});
  await expect(statusOf(id)).resolves.toBe('pending');
});

test('deployments count from when they are applied, the latest of an environment alone', async () => {
  const { id, releaseName } = await candidate();
  const late = await stored(releaseName, 'prod', { deploymentStatus: 'Failed', deployedAt: '2026-03-02T10:00:00Z' });
  const early = await stored(releaseName, 'prod', { deployedAt: '2026-03-02T09:00:00Z' });
  const uat = await stored(releaseName, 'uat', { deployedAt: '2026-03-02T08:00:00Z' });
  await expect(apply([uat])).resolves.toMatchObject({ [uat]: { missingEnvironments: ['prod'] } });
  // Applied late, the earlier success does not undo the failure after it.
  await expect(apply([late, early])).resolves.toMatchObject({
    [early]: { newStatus: 'in_progress', missingEnvironments: ['prod'] },
  });
  const again = await stored(releaseName, 'prod', { deployedAt: '2026-03-02T11:00:00Z' });
  await expect(apply([again])).resolves.toMatchObject({ [again]: { newStatus: 'finalized' } });
  await expect(statusOf(id)).resolves.toBe('finalized');
});

test('an event whose candidate was removed comes to nothing, and stays recorded', async () => {
  const { id, releaseName } = await candidate();
  const event = await stored(releaseName, 'uat');
  await app.as(app.owner).delete(204, `/api/release-candidates/${id}`);
  await expect(apply([event])).resolves.toMatchObject({
    [event]: { updated: false, message: expect.stringContaining('removed') },
  });
  await expect(
    app.sql('select 1 from release_deployment where id = ? and applied_at is not null', [event]),
  ).resolves.toHaveLength(1);
});

test('a candidate removed while its events are applied waits for them, or they for it, and neither fails', async () => {
  for (let round = 0; round < 10; round++) {
    const { id, releaseName } = await candidate();
    const events = [await stored(releaseName, 'uat'), await stored(releaseName, 'prod')];
    const [outcomes] = await Promise.all([
      apply(events),
      app.as(app.owner).delete(204, `/api/release-candidates/${id}`),
    ]);
    expect(Object.keys(outcomes).toSorted()).toEqual(events.toSorted());
  }
});

test('events that are applied together are each in the name of who reported them', async () => {
  const [first, second] = [await candidate(), await candidate()];
  const byPipeline = await stored(first.releaseName, 'uat');
  await app
    .as(app.owner)
    .post(202, '/api/release-candidates/release-event', success(repositoryIdentifier, second.releaseName, 'uat'));
  const [row] = await app.sql<{ id: string }>('select id from release_deployment order by id desc limit 1');
  await apply([byPipeline, row?.id ?? '']);
  const entries = await app.sql<{ email: string; requestId: string }>(
    `select actor->>'email' as email, request_id as "requestId" from audit_entry
      where entity_id in (?, ?) and action = 'release_candidate.status_changed' order by sequence`,
    [first.id, second.id],
  );
  expect(entries.map(({ email }) => email)).toEqual(['app:ci', expect.not.stringContaining('app:')]);
  expect(new Set(entries.map(({ requestId }) => requestId)).size).toBe(2);
});

test('an event that cannot be applied does not hold back those before it', async () => {
  const [sound, broken, later] = [await candidate(), await candidate(), await candidate()];
  const events = [];
  for (const { releaseName } of [sound, broken, later]) events.push(await stored(releaseName, 'uat'));
  await app.sql(
    `create function refuse() returns trigger language plpgsql as $$ begin raise exception 'refused'; end $$`,
  );
  await app.sql(
    `create trigger refused before update on release_candidate for each row when (new.id = '${broken.id}') execute function refuse()`,
  );
  await expect(apply(events)).rejects.toThrow('refused');
  expect(await Promise.all([sound, broken, later].map(({ id }) => statusOf(id)))).toEqual([
    'in_progress',
    'pending',
    'pending',
  ]);
  await app.sql('drop trigger refused on release_candidate');
  expect(Object.keys(await apply(events))).toHaveLength(3);
  expect(await statusOf(later.id)).toBe('in_progress');
});
