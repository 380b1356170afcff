import type { TestApp } from '../../../support/app.ts';
import { withGitWorker } from '../../../support/git-worker.ts';
import { insertApprovalEvents } from '../../../support/factories.ts';
import type { Json } from '../../../support/client.ts';
import { releaseStage } from '../../../support/release-stage.ts';

let app: TestApp;
withGitWorker(['git-v1', 'releases-v1'], (started) => {
  app = started;
});

const stage = (configuration?: object) => releaseStage(app, configuration);

const named = (releases: Json[], name: string): Json =>
  releases.find((each) => each.name === name || each.releaseName === name);

test('releases are listed with what changed in each environment, computed once', async () => {
  const { cut, deploy, get, remote } = await stage();
  await cut('r1', { app: '1.0.0', lib: '1.0.0' });
  await deploy('r1', 'uat');
  await deploy('r1', 'prod');
  await cut('r2', { app: '1.1.0', lib: '1.0.0' }, { message: 'SHOP-7: better (#3)' });
  await deploy('r2', 'uat', {
    packageDetails: [
      { name: 'app', version: '1.1.0', startTime: '2026-01-01T00:00:00Z', endTime: '2026-01-01T00:01:30Z' },
      { name: 'lib', version: '1.0.0', skipped: true },
    ],
    approval: { status: 'approved', approvedBy: 'dana@example.com', approvedAt: '2026-01-01T00:00:00Z' },
  });
  await deploy('r2', 'prod', {
    deploymentStatus: 'Failed',
    packageDetails: [{ name: 'app', version: '1.1.0', status: 'failed', error: 'no such object' }],
  });

  const list = await get('/api/releases', {
    includeChangelog: 'true',
    includeApprovals: 'true',
    skipLockStatus: 'false',
  });
  expect(list).toMatchObject({
    totalCount: 2,
    filters: { domain: null, includeChangelog: true },
    changelogStats: { totalEnvironments: 4 },
  });
  expect(list.changelogStats.uniqueDiffsCalculated).toBeGreaterThan(0);
  const r2 = named(list.releases, 'r2');
  const tip = remote.git(['rev-parse', 'main']);
  expect(r2.environments).toMatchObject([
    {
      name: 'uat',
      lockStatus: { isLocked: false },
      approval: { status: 'approved', approvedBy: 'dana@example.com', source: 'report' },
      deploymentCounts: { deployed: 1, skipped: 1, failed: 0, total: 2 },
      changesFromPrevious: [
        {
          packageName: 'app',
          fromVersion: '1.0.0',
          toVersion: '1.1.0',
          totalCommits: 1,
          workItems: { issues: ['SHOP-7'], pullRequests: [3], byType: { issue: 1 } },
          commitRange: { from: remote.git(['rev-parse', 'main~1']), to: tip },
        },
      ],
      releaseChangelog: { totalCommits: 1, totalWorkItems: 1, totalPullRequests: 1 },
    },
    { name: 'prod', status: 'Failed' },
  ]);
  expect(r2.deploymentStatus).toMatchObject({
    status: 'failed',
    missingFromEnvironments: ['prod'],
    packagesWithIssues: [{ packageName: 'app', issue: 'prod: no such object' }],
  });
  expect(r2.packageStatuses).toEqual([
    { packageName: 'app', releaseVersion: '1.1.0', isFullyDeployed: false, isAbandoned: false, trajectory: ['uat'] },
    {
      packageName: 'lib',
      releaseVersion: '1.0.0',
      isFullyDeployed: true,
      isAbandoned: false,
      trajectory: ['uat', 'prod'],
    },
  ]);
  expect(named(list.releases, 'r1').deploymentStatus).toMatchObject({
    status: 'completed',
    missingFromEnvironments: [],
  });

  const again = await get('/api/releases', { includeChangelog: 'true' });
  expect(again.changelogStats).toMatchObject({ uniqueDiffsCalculated: 0 });
  expect(again.changelogStats.cacheHits).toBeGreaterThan(0);
  const forced = await get('/api/releases', { includeChangelog: 'true', force: 'true' });
  expect(forced.changelogStats.uniqueDiffsCalculated).toBe(again.changelogStats.cacheHits);

  // A release that was replaced everywhere is listed only when it is asked for.
  await deploy('r2', 'prod', { executionId: 'second' });
  expect((await get('/api/releases')).releases.map((each: Json) => each.name)).toEqual(['r2']);
  expect((await get('/api/releases', { activeOnly: 'false' })).totalCount).toBe(2);
  expect((await get('/api/releases', { activeOnly: 'false', limit: '1', offset: '5' })).totalCount).toBe(2);
});

test('a summary of changes goes by a range of releases or by a time', async () => {
  const { cut, deploy, get } = await stage();
  const dates = ['2026-01-01T10:00:00.000Z', '2026-02-01T10:00:00.000Z', '2026-03-01T10:00:00.000Z'];
  for (const [index, name] of ['r1', 'r22', 'r333'].entries()) {
    await cut(name, { app: `1.${index}.0`, lib: '1.0.0' });
    await deploy(name, 'uat', { deployedAt: dates[index] });
  }
  const range = await get('/api/releases/change-summary', { fromReleaseName: 'r1', toReleaseName: 'r333' });
  const nothing = { totalCommits: 0, workItems: [], pullRequests: [] };
  expect(range.summary).toEqual({
    totalReleases: 2,
    totalCommits: 2,
    totalWorkItems: 2,
    totalPackageChanges: 2,
    added: {
      totalCommits: 2,
      totalWorkItems: 2,
      totalPullRequests: 0,
      workItems: ['SHOP-3', 'SHOP-4'],
      pullRequests: [],
    },
    removed: { ...nothing, totalWorkItems: 0, totalPullRequests: 0 },
  });
  expect(range.releases[0]).toEqual({
    releaseName: 'r22',
    domain: 'core',
    matchedDeploymentDates: [dates[1]],
    matchedEnvironments: ['uat'],
    bases: [{ environment: 'uat', environmentId: expect.any(String), releaseName: 'r1' }],
    workItems: ['SHOP-3'],
    packageChanges: [
      {
        packageName: 'app',
        changeType: 'updated',
        fromVersion: '1.0.0',
        toVersion: '1.1.0',
        commits: 1,
        workItems: ['SHOP-3'],
        added: { totalCommits: 1, workItems: ['SHOP-3'], pullRequests: [] },
        removed: nothing,
      },
    ],
    added: { totalCommits: 1, workItems: ['SHOP-3'], pullRequests: [] },
    removed: nothing,
    noLongerIncluded: { workItems: [], pullRequests: [] },
  });
  expect(range).toMatchObject({
    missingChangelogReleases: [],
    unmatchedRanges: [],
    workItems: [
      { key: 'SHOP-3', releases: ['r22'] },
      { key: 'SHOP-4', releases: ['r333'] },
    ],
  });

  const time = await get('/api/releases/change-summary', { since: dates[1], until: '2026-02-01T10:00:00.000Z' });
  expect(time.releases.map((each: Json) => each.releaseName)).toEqual(['r22']);
  const unmatched = await get('/api/releases/change-summary', { fromReleaseName: 'r22', toReleaseName: 'nothing' });
  expect(unmatched).toMatchObject({ releases: [], unmatchedRanges: ['core: there is no release nothing'] });
  await expect(get('/api/releases/change-summary', { environmentName: 'prod' })).resolves.toMatchObject({
    summary: { totalReleases: 0 },
  });
});

test('history that was rewritten under a release is a missing changelog', async () => {
  const { cut, deploy, get, project } = await stage();
  await app.as(app.application).post(201, '/api/release-candidates', {
    repositoryIdentifier: project.repositoryIdentifier,
    domain: 'core',
    releaseName: 'lost',
    commitSha: 'e'.repeat(40),
    value: { artifacts: { app: '0.9.0' } },
  });
  await deploy('lost', 'uat');
  await cut('r1', { app: '1.0.0' });
  await deploy('r1', 'uat');
  await expect(get('/api/releases/change-summary')).resolves.toMatchObject({
    missingChangelogReleases: [
      { releaseName: 'lost', domain: 'core' },
      { releaseName: 'r1', domain: 'core' },
    ],
  });
  const { releases } = await get('/api/releases', { includeChangelog: 'true' });
  expect(named(releases, 'r1').environments[0].changesFromPrevious[0].missingChangelog).toMatchObject({
    reason: expect.stringMatching(/^(fetching|unknown_commit)$/),
    message: expect.stringContaining('is not in the repository'),
  });
});

test('a rollback takes a release out of what is deployed, and keeps the way back', async () => {
  const { cut, deploy, get, project, query } = await stage({ autoReleaseFinalization: true });
  const { repositoryIdentifier } = project;
  await cut('r1', { app: '1.0.0', lib: '1.0.0' });
  await deploy('r1', 'uat');
  const { id } = await cut('r2', { app: '1.1.0', lib: '1.0.0' });
  await deploy('r2', 'uat');
  const annotation = {
    repositoryIdentifier,
    environment: 'uat',
    target: 'r1',
    rolledBackFrom: 'r2',
    rolledBackBy: 'dana@example.com',
  };
  const pipeline = app.as(app.application);
  await pipeline.post(404, '/api/releases/rollback-annotation', { ...annotation, target: 'r9' });
  for (const rolledBackAt of ['2020-01-01T00:00:00Z', '2100-01-01T00:00:00Z'])
    await pipeline.post(400, '/api/releases/rollback-annotation', { ...annotation, rolledBackAt });
  await pipeline.post(204, '/api/releases/rollback-annotation', annotation);
  await pipeline.post(204, '/api/releases/rollback-annotation', annotation);
  const { releases } = await get('/api/releases', { activeOnly: 'false' });
  expect(named(releases, 'r1').environments[0].rollback).toMatchObject({
    rolledBackFrom: 'r2',
    rolledBackBy: 'dana@example.com',
    packageChanges: [{ name: 'app', from: '1.1.0', to: '1.0.0', direction: 'downgrade' }],
  });
  expect(named(releases, 'r2')).toMatchObject({
    deploymentStatus: { status: 'rolled_back' },
    environments: [{ rolledBackAt: expect.any(String) }],
  });
  expect((await get('/api/releases')).releases.map((each: Json) => each.name)).toEqual(['r1']);

  // Deployed to the other one alone it is not everywhere, so it is not final.
  await expect(deploy('r2', 'prod')).resolves.toMatchObject({
    finalizationPending: true,
    missingEnvironments: ['uat'],
  });
  await expect(pipeline.get(200, `/api/release-candidates/${id}`)).resolves.toMatchObject({ status: 'in_progress' });
  const entries = await app.sql(
    `select 1 from audit_entry where action = 'release.rolled_back' and repository_identifier = ?`,
    [repositoryIdentifier],
  );
  expect(entries).toHaveLength(1);
  expect(query({})).toContain('repositoryIdentifier');
});

test.each([
  ['says when it happened', '2026-01-04T12:00:00.000Z', '2026-01-04T12:00:00.000Z'],
  ['comes without a time, when the next release took its place', undefined, '2026-01-05T10:00:00.000Z'],
])('the report of a rollback that %s is told as it was', async (_, rolledBackAt, expected) => {
  const { cut, deploy, get, project } = await stage();
  for (const [index, name] of ['r1', 'r22', 'r333'].entries()) {
    const { id } = await cut(name, { app: `1.${index}.0` });
    await deploy(name, 'uat', { deployedAt: `2026-01-0${2 * index + 1}T10:00:00.000Z`, executionId: id });
  }
  await app.as(app.application).post(204, '/api/releases/rollback-annotation', {
    repositoryIdentifier: project.repositoryIdentifier,
    environment: 'uat',
    target: 'r1',
    rolledBackFrom: 'r22',
    rolledBackBy: 'dana@example.com',
    ...(rolledBackAt && { rolledBackAt }),
  });
  const { releases } = await get('/api/releases', { includeChangelog: 'true', activeOnly: 'false' });
  expect(named(releases, 'r22').environments).toMatchObject([{ rolledBackAt: expected }]);
  expect(named(releases, 'r333').environments[0].changesFromPrevious).toMatchObject([
    { fromVersion: '1.0.0', toVersion: '1.2.0', totalCommits: 2 },
  ]);
  for (const { candidateId, environments } of releases) expect(environments[0].executionId).toBe(candidateId);
  expect(named(releases, 'r22')).toMatchObject({ status: 'in_progress', supersededBy: null });
  // Production was never reached by any of them, and uat is past the one that was taken back.
  const tasks = Object.fromEntries(
    releases.map(({ name, deploymentStatus }: Json) => [name, deploymentStatus.recommendations]),
  );
  expect(tasks).toEqual({ r1: ['Deploy to prod'], r22: ['Deploy to prod'], r333: ['Deploy to prod'] });
  await deploy('r333', 'prod');
  const { releases: later } = await get('/api/releases', { activeOnly: 'false' });
  for (const { deploymentStatus } of later) expect(deploymentStatus.recommendations).toEqual([]);
  const { domains } = await get('/api/releases/metrics', {
    since: '2026-01-01T00:00:00Z',
    until: '2026-02-01T00:00:00Z',
  });
  expect(domains[0].environments[0].total.timeToRestore.medianSeconds).toBe(
    (Date.parse(expected) - Date.parse('2026-01-03T10:00:00.000Z')) / 1_000,
  );
});

test('the rolling analysis holds candidates against each other and a baseline, and is kept until something changes', async () => {
  const { cut, deploy, project } = await stage();
  const path = `/api/release-candidates/rolling-analysis/${encodeURIComponent(project.repositoryIdentifier)}/core`;
  const analyse = (query = '') => app.as(app.member).request(200, 'GET', `${path}${query}`);
  await expect(analyse()).resolves.toMatchObject({ body: { baseline: null, candidates: [] } });

  await cut('r1', { app: '1.0.0', lib: '1.0.0' });
  await cut('r22', { app: '1.1.0', lib: '1.0.0' });
  const byDefault = await analyse();
  expect(byDefault.headers.get('x-cache')).toBe('MISS');
  expect(byDefault.body).toMatchObject({ baseline: { releaseName: 'r1', isDefaultBaseline: true, completedAt: null } });

  const timed = {
    packageDetails: [{ name: 'app', startTime: '2026-01-01T00:00:00Z', endTime: '2026-01-01T00:01:30Z' }],
  };
  for (const name of ['uat', 'prod']) await deploy('r1', name, timed);
  await deploy('r22', 'uat');
  await cut('r333', { app: '1.2.0' }, { branch: 'release/2' });
  await cut('r4444', { app: '1.3.0', lib: '1.1.0', web: '1.0.0' });
  const { body, headers } = await analyse('?includePackageChangelogs=true');
  expect(body.baseline).toMatchObject({
    releaseName: 'r1',
    isDefaultBaseline: false,
    deployedEnvironments: ['uat', 'prod'],
    branch: 'main',
    packages: { app: '1.0.0', lib: '1.0.0' },
  });
  expect(body).toMatchObject({
    orchestrationOrder: ['uat', 'prod'],
    currentEnvironmentStates: {
      uat: { currentRelease: 'r22', packages: { app: '1.1.0' } },
      prod: { currentRelease: 'r1' },
    },
    candidatesByBranch: {
      main: [{ releaseName: 'r22' }, { releaseName: 'r4444' }],
      'release/2': [{ releaseName: 'r333' }],
    },
  });
  expect(body.candidates.map((each: Json) => each.releaseName)).toEqual(['r22', 'r333', 'r4444']);
  const last = named(body.candidates, 'r4444');
  expect(last.incrementalChanges.packages).toMatchObject({
    added: [{ name: 'web', missingChangelog: { reason: 'unknown_package' } }],
    updated: [
      { name: 'app', from: '1.1.0', to: '1.3.0', totalCommits: 2 },
      { name: 'lib', from: '1.0.0', to: '1.1.0', totalCommits: 1, changelog: { workItems: ['SHOP-5'] } },
    ],
    removed: [],
  });
  expect(last.cumulativeChanges).toMatchObject({
    summary: { totalPackageChanges: 3, totalCommits: 3, totalWorkItems: 3 },
    cumulativeSummary: { estimatedDeploymentTime: 90 },
  });
  // A line without a baseline of its own is held against its first candidate.
  expect(named(body.candidates, 'r333')).toMatchObject({
    baselineReleaseName: 'r333',
    cumulativeChanges: { packages: { added: [], updated: [], removed: [] } },
  });
  expect(body.baselinesByBranch).toMatchObject({
    main: { releaseName: 'r1' },
    'release/2': { releaseName: 'r333', isDefaultBaseline: true },
  });

  // The same again comes from the cache; whatever it is made of makes another key.
  const again = await analyse('?includePackageChangelogs=true');
  expect(again.headers.get('x-cache')).toBe('HIT');
  expect(again.headers.get('x-cache-key')).toBe(headers.get('x-cache-key'));
  expect(again.body).toEqual(body);
  expect((await analyse('?includePackageChangelogs=true&bypassCache=true')).headers.get('x-cache')).toBe('MISS');
  await deploy('r22', 'prod');
  const changed = await analyse('?includePackageChangelogs=true');
  expect(changed.headers.get('x-cache')).toBe('MISS');
  expect(changed.body.baseline.releaseName).toBe('r22');
  expect((await analyse('?branch=release/2')).body.candidates.map((each: Json) => each.releaseName)).toEqual(['r333']);
});

test('a long answer is compressed for a client that takes it', async () => {
  const { cut, deploy, query } = await stage();
  const many = Object.fromEntries(Array.from({ length: 500 }, (_, index) => [`package-${index}`, '1.0.0']));
  await app.as(app.application).post(201, '/api/release-candidates', {
    repositoryIdentifier: new URLSearchParams(query({})).get('repositoryIdentifier'),
    domain: 'core',
    releaseName: 'many',
    commitSha: 'abcdef0',
    value: { artifacts: many },
  });
  await deploy('many', 'uat');
  await cut('r1', { app: '1.0.0' });
  const path = `/api/releases?${query({})}`;
  const compressed = await app.as(app.member).send('GET', path);
  expect(compressed.headers.get('content-encoding')).toBe('gzip');
  expect(compressed.body.releases[0].packageStatuses).toHaveLength(500);
  const plain = await app.as(app.member).send('GET', path, { headers: { 'accept-encoding': 'identity' } });
  expect(plain.headers.get('content-encoding')).toBeNull();
  expect(plain.body.releases).toEqual(compressed.body.releases);
});

test('the report on approvals shows what a release takes back, and holds packages against the last candidate with them', async () => {
  const { cut, get, project, remote } = await stage();
  const { commitSha: from } = await cut('r1', { app: '1.0.0', lib: '1.0.0' });
  const fix = remote.commit({ branch: 'hotfix', from, files: { 'app/fix': '1' }, message: 'SHOP-70: urgent (#70)' });
  await project.fetch();
  await app.as(app.application).post(201, '/api/release-candidates', {
    repositoryIdentifier: project.repositoryIdentifier,
    domain: 'core',
    releaseName: 'r1-fix',
    commitSha: fix,
    value: { artifacts: { app: '1.0.1' } },
  });
  await cut('r22', { app: '1.1.0', lib: '1.1.0' }, { message: 'SHOP-71: new (#71)' });
  await insertApprovalEvents(
    app,
    project.repositoryIdentifier,
    ['r1-fix', 'r22'].map((releaseName, minute) => ({
      domain: 'core',
      releaseName,
      occurredAt: new Date(Date.UTC(2026, 0, 1, 0, minute)),
    })),
  );
  const { items } = await get('/api/flows/approvals/compliance', { includeChangelog: 'true' });
  const [next, hotfix] = items.map(({ changelog }: Json) => changelog);
  expect(hotfix.packages).toMatchObject([{ packageName: 'app', fromVersion: '1.0.0', toVersion: '1.0.1' }]);
  expect(hotfix.removed).toMatchObject({ totalCommits: 0 });
  expect(next.packages).toMatchObject([
    {
      packageName: 'app',
      fromVersion: '1.0.1',
      added: { totalCommits: 1, workItems: ['SHOP-71'] },
      removed: { totalCommits: 1, workItems: ['SHOP-70'], pullRequests: [70] },
    },
    { packageName: 'lib', fromVersion: '1.0.0', totalCommits: 1, removed: { totalCommits: 0 } },
  ]);
  expect(next).toMatchObject({
    totalCommits: 1,
    added: { totalCommits: 1, workItems: ['SHOP-71'] },
    removed: { totalCommits: 1, workItems: ['SHOP-70'], pullRequests: [70] },
  });
});

test('the report on approvals tells what was new in the releases that were approved', async () => {
  const { cut, get, query, project } = await stage();
  await cut('r1', { app: '1.0.0', lib: '1.0.0' });
  await cut('r22', { app: '1.1.0', lib: '1.0.0' });
  const events = ['r1', 'r22', 'r22', 'none'].map((releaseName, minute) => ({
    domain: 'core',
    releaseName,
    occurredAt: new Date(Date.UTC(2026, 0, 1, 0, minute)),
  }));
  await insertApprovalEvents(app, project.repositoryIdentifier, events);
  const path = '/api/flows/approvals/compliance';
  const { items } = await get(path, { includeChangelog: 'true' });
  const [none, second, again, first] = items.map(({ changelog }: Json) => changelog);
  expect(none).toBeNull();
  expect(second).toEqual(again);
  expect(second).toMatchObject({
    since: 'r1',
    totalCommits: 1,
    totalWorkItems: 1,
    definition: null,
    isTruncated: false,
  });
  expect(second.packages).toMatchObject([
    {
      packageName: 'app',
      fromVersion: '1.0.0',
      toVersion: '1.1.0',
      totalCommits: 1,
      workItems: { issues: ['SHOP-3'] },
      missingChangelog: null,
    },
  ]);
  expect(first).toMatchObject({
    since: null,
    packages: [{ packageName: 'app', fromVersion: null }, { packageName: 'lib' }],
  });
  expect(second).toMatchObject({
    added: { totalCommits: 1, workItems: ['SHOP-3'] },
    removed: { totalCommits: 0, workItems: [], pullRequests: [] },
  });
  const { text } = await app
    .as(app.member)
    .request(200, 'GET', `${path}?${query({ includeChangelog: 'true', format: 'csv' })}`);
  expect(text.split('\r\n')).toHaveLength(6);
  expect(text).toContain('""since"":""r1""');
});
