import { type TestApp, testApp } from '../../../support/app.ts';
import { success } from '../../../support/releases.ts';
import { eventually, startWorker, type TestWorker } from '../../../support/worker.ts';

let app: TestApp;
let worker: TestWorker;
beforeAll(async () => {
  app = await testApp();
  worker = await startWorker(app, ['releases-v1', 'system-v1']);
});
afterAll(async () => {
  await worker.stop();
  await app.close();
});

let made = 0;
/** A project of its own with release environments, so that tests do not meet. */
async function project(environments: string[], configuration: object = { autoReleaseFinalization: true }) {
  const repositoryIdentifier = `acme/p${++made}`;
  const owner = app.as(app.owner);
  await owner.post(201, '/api/projects', { identifier: repositoryIdentifier, platform: 'host-a', configuration });
  for (const name of environments)
    await owner.post(201, '/api/environments', { repositoryIdentifier, name, category: 'release' });
  const pipeline = app.as(app.application);
  return {
    repositoryIdentifier,
    candidate: (releaseName: string, more: object = {}) =>
      pipeline.post(201, '/api/release-candidates', {
        repositoryIdentifier,
        domain: 'core',
        releaseName,
        commitSha: 'abcdef0',
        value: { artifacts: { app: `1.0.${releaseName.length}` } },
        ...more,
      }),
    event: (releaseName: string, environmentName: string, more: object = {}, status = 200, query = '') =>
      pipeline.post(
        status,
        `/api/release-candidates/release-event${query}`,
        success(repositoryIdentifier, releaseName, environmentName, more),
      ),
    statusOf: async (releaseName: string): Promise<string> =>
      (await pipeline.post(200, '/api/release-candidates/find', { repositoryIdentifier, domain: 'core', releaseName }))
        .status,
    abort: (releaseName: string) =>
      pipeline.send('POST', '/api/release-candidates/abort', {
        body: { repositoryIdentifier, domain: 'core', releaseName },
      }),
  };
}

test('a candidate travels to finalized, and older ones along with it', async () => {
  const { candidate, event, statusOf } = await project(['uat', 'prod']);
  for (const name of ['r1', 'r2', 'r3']) await candidate(name);
  await expect(event('r2', 'uat', { deploymentStatus: 'failed' })).resolves.toMatchObject({
    updated: false,
    newStatus: 'pending',
    missingEnvironments: ['prod', 'uat'],
  });
  await expect(event('r2', 'uat', {}, 200, '?dryRun=true')).resolves.toMatchObject({
    updated: true,
    newStatus: 'in_progress',
  });
  await expect(statusOf('r2')).resolves.toBe('pending');
  await expect(event('r2', 'uat')).resolves.toMatchObject({
    updated: true,
    previousStatus: 'pending',
    newStatus: 'in_progress',
    finalizationPending: true,
    missingEnvironments: ['prod'],
  });
  await expect(event('r2', 'prod', { status: 'SUCCESS', deploymentStatus: undefined })).resolves.toMatchObject({
    updated: true,
    newStatus: 'finalized',
    intermediateCandidatesFinalized: true,
  });
  await expect(Promise.all(['r1', 'r2', 'r3'].map(statusOf))).resolves.toEqual(['finalized', 'finalized', 'pending']);
  await expect(event('r1', 'prod')).resolves.toMatchObject({
    updated: false,
    newStatus: 'finalized',
    message: expect.stringContaining('stays so'),
  });
});

test('a candidate finalized along with a newer one says so, and only what was deployed is published', async () => {
  const { candidate, event, repositoryIdentifier } = await project(['uat', 'prod']);
  const owner = app.as(app.owner);
  const found: Record<string, { id: string }> = {};
  for (const name of ['never', 'partly', 'newest', 'manual', 'unseen']) found[name] = await candidate(name);
  const receivers = await Promise.all(
    ['release.published', 'release_candidate.finalized'].map((name) =>
      owner.post(201, '/api/webhooks', { name, event: name, config: { url: 'http://127.0.0.1:9/' } }),
    ),
  );
  await event('partly', 'uat');
  await event('newest', 'uat');
  await event('newest', 'prod');
  await event('manual', 'prod');
  for (const name of ['manual', 'unseen'])
    await owner.patch(200, `/api/release-candidates/${found[name]?.id}/status`, { status: 'finalized' });

  const own = { isIntermediate: false, supersededBy: null };
  const along = { status: 'finalized', isIntermediate: true, supersededBy: 'newest' };
  for (const [name, expected] of Object.entries({ never: along, partly: along, newest: own, manual: own, unseen: own }))
    await expect(owner.get(200, `/api/release-candidates/${found[name]?.id}`)).resolves.toMatchObject(expected);
  const { items } = await owner.get(
    200,
    `/api/release-candidates?repositoryIdentifier=${repositoryIdentifier}&includeFinalized=true`,
  );
  expect(items.find(({ releaseName }: { releaseName: string }) => releaseName === 'never')).toMatchObject(along);
  expect(items.find(({ releaseName }: { releaseName: string }) => releaseName === 'newest')).toMatchObject(own);

  const sent = async (webhook: { id: string } | undefined) => {
    const rows = await app.sql<{
      data: { releaseName: string; isIntermediate?: boolean; supersededBy?: string | null };
    }>('select payload as data from webhook_delivery where webhook_id = ? order by created_at, id', [webhook?.id]);
    return new Map(rows.map(({ data }) => [data.releaseName, data]));
  };
  expect([...(await sent(receivers[0])).keys()].toSorted()).toEqual(['manual', 'newest', 'partly']);
  const finalized = await sent(receivers[1]);
  expect(finalized.get('never')).toMatchObject({ isIntermediate: true, supersededBy: 'newest' });
  expect(finalized.get('newest')).toMatchObject(own);
});

test('a repetition answers what the first came to, and records nothing', async () => {
  const { candidate, event } = await project(['prod']);
  await candidate('r1');
  const first = await event('r1', 'prod', { executionId: 'run-1' });
  expect(first).toMatchObject({ updated: true, newStatus: 'finalized' });
  await expect(event('r1', 'prod', { executionId: 'run-1' })).resolves.toEqual({ ...first, updated: false });
});

test('the same event ten times at once is applied once', async () => {
  const { candidate, event } = await project(['uat', 'prod']);
  await candidate('r1');
  const answers = await Promise.all(Array.from({ length: 10 }, () => event('r1', 'uat', { executionId: 'run-1' })));
  expect(answers.filter(({ updated }) => updated).length).toBeLessThanOrEqual(1);
  expect(new Set(answers.map(({ newStatus }) => newStatus))).toEqual(new Set(['in_progress']));
  const entries = await app.sql(
    `select 1 from audit_entry where action = 'release_candidate.status_changed' and repository_identifier = ?`,
    [`acme/p${made}`],
  );
  expect(entries).toHaveLength(1);
});

test('of two events for the last two environments at the same instant, one finalizes', async () => {
  const { candidate, event, statusOf } = await project(['uat', 'prod']);
  for (let round = 0; round < 5; round++) {
    await candidate(`r${round}`);
    const answers = await Promise.all(['uat', 'prod'].map((name) => event(`r${round}`, name)));
    expect(answers.map(({ newStatus }) => newStatus).toSorted()).toEqual(['finalized', 'in_progress']);
    await expect(statusOf(`r${round}`)).resolves.toBe('finalized');
  }
});

test('a candidate aborted while its event is under way ends in one of the two, and what was told is what happened', async () => {
  const { candidate, event, abort, statusOf } = await project(['prod']);
  for (let round = 0; round < 10; round++) {
    await candidate(`r${round}`);
    const [applied, aborted] = await Promise.all([event(`r${round}`, 'prod'), abort(`r${round}`)]);
    const status = await statusOf(`r${round}`);
    expect(status).toBe(aborted.status === 200 ? 'aborted' : 'finalized');
    expect(applied).toMatchObject(
      status === 'aborted' ? { updated: false, newStatus: 'aborted' } : { updated: true, newStatus: 'finalized' },
    );
  }
});

test('a hundred events of one domain at once are all applied, in a state that some order gives', async () => {
  const environments = Array.from({ length: 10 }, (_, index) => `e${index}`);
  const { candidate, event, repositoryIdentifier } = await project(environments);
  for (let index = 0; index < 10; index++) await candidate(`r${index}`);
  const answers = await Promise.all(
    Array.from({ length: 100 }, (_, index) =>
      event(`r${index % 10}`, `e${Math.floor(index / 10)}`, { executionId: `run-${index}` }),
    ),
  );
  // Every candidate was deployed everywhere, so each is final in any order, finalized by itself or along with another.
  const list = await app
    .as(app.owner)
    .get(200, `/api/release-candidates?repositoryIdentifier=${repositoryIdentifier}&status=finalized`);
  expect(list.total).toBe(10);
  expect(answers.every(({ newStatus }) => newStatus === 'in_progress' || newStatus === 'finalized')).toBe(true);
  const [waiting] = await app.sql<{ n: string }>(
    'select count(*) as n from release_deployment where applied_at is null',
  );
  expect(Number(waiting?.n)).toBe(0);
});

test('without the setting nothing finalizes by itself', async () => {
  const { candidate, event } = await project(['prod'], {});
  await candidate('r1');
  await expect(event('r1', 'prod')).resolves.toMatchObject({ newStatus: 'in_progress', finalizationPending: false });
});

test('only environments that take the branch are needed', async () => {
  const { candidate, event, repositoryIdentifier } = await project(['prod']);
  await app
    .as(app.owner)
    .post(201, '/api/environments', { repositoryIdentifier, name: 'hotfix', category: 'release', branch: 'hotfix/*' });
  await candidate('r1', { branch: 'main' });
  await candidate('r2', { branch: 'hotfix/1' });
  await expect(event('r1', 'prod')).resolves.toMatchObject({
    newStatus: 'finalized',
    intermediateCandidatesFinalized: false,
  });
  await expect(event('r2', 'prod')).resolves.toMatchObject({
    newStatus: 'in_progress',
    missingEnvironments: ['hotfix'],
  });
});

test('what is unknown is refused and leaves nothing', async () => {
  const { candidate, event } = await project(['prod'], { domains: ['core'] });
  await candidate('r1');
  const stored = () => app.sql('select 1 from release_deployment');
  const before = (await stored()).length;
  await event('none', 'prod', {}, 404);
  await event('r1', 'none', {}, 404);
  await event('r1', 'prod', { domain: 'none' }, 404);
  await event('r1', 'prod', { repositoryIdentifier: 'no/such' }, 400);
  await event('r1', 'prod', { deploymentStatus: 'Great' }, 400);
  await event('r1', 'prod', { deploymentStatus: undefined }, 400);
  await event('r1', 'prod', { deployedAt: '2026-02-30T00:00:00Z' }, 400);
  expect(await stored()).toHaveLength(before);
});

test('a comparison knows what the events installed and how long it took', async () => {
  const { candidate, event } = await project(['prod']);
  await candidate('r1');
  await event('r1', 'prod', {
    packages: { app: '0.9.0', other: '3.0.0' },
    packageDetails: [{ name: 'app', startTime: '2026-01-01T00:00:00Z', endTime: '2026-01-01T00:02:00Z' }],
  });
  await event('r1', 'prod', { deploymentStatus: 'Failed', packages: { app: '5.0.0' } });
  const { id } = await candidate('r2', { value: { artifacts: { app: '1.0.0', fresh: '1.0.0' } } });
  const compared = await app
    .as(app.member)
    .post(200, `/api/release-candidates/${id}/compare`, { environmentName: 'prod' });
  expect(compared).toMatchObject({
    environment: { name: 'prod' },
    comparison: {
      packagesToInstall: [{ name: 'fresh' }],
      packagesToUpdate: [{ name: 'app', versions: { from: '0.9.0', to: '1.0.0' } }],
      totalChanges: 2,
    },
    estimatedDeploymentTime: 120,
  });
  await app.as(app.member).post(404, `/api/release-candidates/${id}/compare`, { environmentId: 'x' });
  await app.as(app.member).post(400, `/api/release-candidates/${id}/compare`, {});
});

test('an event whose request found no worker is applied when one comes', async () => {
  const { candidate, event, statusOf } = await project(['prod']);
  await candidate('r1');
  await worker.stop();
  await expect(event('r1', 'prod', { executionId: 'run-1' }, 202)).resolves.toMatchObject({
    updated: false,
    message: expect.stringContaining('recorded'),
  });
  await expect(statusOf('r1')).resolves.toBe('pending');
  worker = await startWorker(app, ['releases-v1', 'system-v1']);
  await eventually(
    () => statusOf('r1'),
    (status) => status === 'finalized',
  );
  await expect(event('r1', 'prod', { executionId: 'run-1' })).resolves.toMatchObject({
    updated: false,
    newStatus: 'finalized',
  });
});
