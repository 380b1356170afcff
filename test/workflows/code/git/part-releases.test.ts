import type { TestApp } from '../../../support/app.ts';
import { withGitWorker } from '../../../support/git-worker.ts';
import type { Json } from '../../../support/client.ts';
import { releaseStage } from '../../../support/release-stage.ts';

let app: TestApp;
withGitWorker(['git-v1', 'releases-v1'], (started) => {
  app = started;
});

const named = (list: Json[], name: string): Json =>
  list.find((each) => [each.name, each.releaseName, each.packageName].includes(name));

const day = (number: number) => ({ deployedAt: `2026-01-0${number}T10:00:00.000Z`, executionId: `run-${number}` });

test('a package that the release before did not carry is held against the version that was there', async () => {
  const { cut, deploy, get, project } = await releaseStage(app);
  await cut('r1', { app: '1.0.0', lib: '1.0.0' });
  await deploy('r1', 'uat', day(1));
  await deploy('r1', 'prod', day(1));
  await cut('fix1', { app: '1.0.1' });
  await deploy('fix1', 'uat', day(2));
  await cut('second', { app: '1.1.0', lib: '1.1.0' });
  await deploy('second', 'uat', day(3));

  const { domains } = await get('/api/releases/second/notes');
  expect(named(domains[0].packages, 'lib')).toMatchObject({
    fromVersion: '1.0.0',
    toVersion: '1.1.0',
    totalCommits: 1,
  });

  const { releases } = await get('/api/releases/change-summary');
  expect(named(named(releases, 'second').packageChanges, 'lib')).toMatchObject({
    changeType: 'updated',
    fromVersion: '1.0.0',
    commits: 1,
  });

  const list = await get('/api/releases', { includeChangelog: 'true', activeOnly: 'false' });
  const [{ changesFromPrevious }] = named(list.releases, 'second').environments;
  expect(named(changesFromPrevious, 'lib')).toMatchObject({ fromVersion: '1.0.0', totalCommits: 1 });

  const analysis = await app
    .as(app.member)
    .get(200, `/api/release-candidates/rolling-analysis/${encodeURIComponent(project.repositoryIdentifier)}/core`);
  const { incrementalChanges } = named(analysis.candidates, 'fix1');
  expect(incrementalChanges.packages).toMatchObject({
    added: [],
    updated: [{ name: 'app', from: '1.0.0', to: '1.0.1' }],
    removed: [{ name: 'lib', from: '1.0.0', to: null, isInstalled: true, installedIn: ['uat', 'prod'] }],
  });
  // What is not carried stays where it is installed.
  expect(incrementalChanges.summary).toMatchObject({ totalPackageChanges: 2, removed: { totalCommits: 0 } });
  // What comes back counts from the version that its line held last.
  const { incrementalChanges: next, cumulativeChanges } = named(analysis.candidates, 'second');
  expect(next.packages).toMatchObject({
    added: [{ name: 'lib', from: null, since: '1.0.0', to: '1.1.0', totalCommits: 1 }],
    updated: [{ name: 'app', from: '1.0.1' }],
    removed: [],
  });
  expect(cumulativeChanges.packages).toMatchObject({
    added: [],
    updated: [{ name: 'app' }, { name: 'lib', from: '1.0.0' }],
    removed: [],
  });
});

test('candidates of several lines are held against the baselines of their own', async () => {
  const { cut, deploy, project } = await releaseStage(app);
  const analyse = (query = '') =>
    app
      .as(app.member)
      .get(
        200,
        `/api/release-candidates/rolling-analysis/${encodeURIComponent(project.repositoryIdentifier)}/core${query}`,
      );
  await cut('r1', { app: '3.1.0' });
  for (const name of ['uat', 'prod']) await deploy('r1', name, day(1));
  await cut('second', { app: '3.2.0' });
  await cut('fix1', { app: '2.9.1' }, { branch: 'maintenance/v2' });
  for (const name of ['uat', 'prod']) await deploy('fix1', name, day(2));
  await cut('fix2', { app: '2.9.2' }, { branch: 'maintenance/v2' });
  const both = await analyse();
  expect(both.baseline.releaseName).toBe('r1');
  expect(both.candidates.map((each: Json) => [each.releaseName, each.baselineReleaseName])).toEqual([
    ['second', 'r1'],
    ['fix2', 'fix1'],
  ]);
  for (const { branch, ...candidate } of both.candidates) {
    const alone = await analyse(`?branch=${encodeURIComponent(branch)}`);
    expect(alone).toMatchObject({ baseline: both.baselinesByBranch[branch], candidates: [{ ...candidate, branch }] });
  }
});

test('the packages of a release are what its reports installed together', async () => {
  const { cut, deploy, get } = await releaseStage(app);
  await cut('r1', { app: '1.0.0', lib: '1.0.0' });
  await deploy('r1', 'uat', day(1));
  await cut('second', { app: '1.1.0', lib: '1.1.0' });
  await deploy('second', 'uat', day(2));
  await deploy('second', 'uat', { ...day(3), packages: { app: '1.1.0' } });
  await cut('thirdly', { app: '1.2.0', lib: '1.2.0' });
  await deploy('thirdly', 'uat', {
    ...day(4),
    packageDetails: [{ name: 'lib', version: '1.2.0', status: 'Failed', error: 'no such object' }],
  });

  const notesOf = async (releaseName: string) =>
    (await get(`/api/releases/${releaseName}/notes`)).domains[0].packages.map(
      ({ packageName, fromVersion, toVersion }: Json) => [packageName, fromVersion, toVersion],
    );
  await expect(notesOf('second')).resolves.toEqual([
    ['app', '1.0.0', '1.1.0'],
    ['lib', '1.0.0', '1.1.0'],
  ]);
  await expect(notesOf('thirdly')).resolves.toEqual([['app', '1.1.0', '1.2.0']]);
  const { releases } = await get('/api/releases/change-summary');
  expect(named(releases, 'second').packageChanges).toHaveLength(2);
});

test('packages of a domain that the repository does not have are named by the changes of a candidate', async () => {
  const { cut } = await releaseStage(app, {
    domains: [
      { name: 'core', packages: ['app', 'app-old'] },
      { name: 'legacy', packages: ['lib-old', 'lib-older'] },
    ],
  });
  const changesIn = async (releaseName: string, domain: string) => {
    const { id } = await cut(releaseName, { app: '1.0.0' }, { domain });
    return app.as(app.member).get(200, `/api/release-candidates/${id}/changes?since=2020-01-01`);
  };
  const one = await changesIn('r1', 'core');
  expect(one.packages.map(({ packageName }: Json) => packageName)).toEqual(['app']);
  expect(one.totalCommits).toBeGreaterThan(0);
  expect(one.missingChangelog).toMatchObject({
    reason: 'unknown_package',
    message: expect.stringContaining('the package app-old is'),
  });
  await expect(changesIn('r22', 'legacy')).resolves.toMatchObject({
    totalCommits: 0,
    missingChangelog: { reason: 'unknown_package', message: expect.stringContaining('lib-old, lib-older') },
  });
});
