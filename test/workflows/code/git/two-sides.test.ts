import type { TestApp } from '../../../support/app.ts';
import { withGitWorker } from '../../../support/git-worker.ts';
import type { Json } from '../../../support/client.ts';
import { mirrored } from '../../../support/mirrored.ts';
import { releaseStage } from '../../../support/release-stage.ts';
import { newRepository } from '../../../support/repository.ts';

let app: TestApp;
withGitWorker(['git-v1', 'releases-v1'], (started) => {
  app = started;
});

/**
 * A release r1, a hotfix of it on a branch of its own (SHOP-50 alone, SHOP-51 also on the main line), and r2 from the
 * main line, which lacks SHOP-50: deployed one after another.
 */
async function hotfixStage() {
  const stage = await releaseStage(app);
  const { remote, project, cut, deploy } = stage;
  const candidate = (releaseName: string, commitSha: string, artifacts: Record<string, string>) =>
    app.as(app.application).post(201, '/api/release-candidates', {
      repositoryIdentifier: project.repositoryIdentifier,
      domain: 'core',
      releaseName,
      commitSha,
      value: { artifacts },
    });
  const r1 = await cut('r1', { app: '1.0.0', lib: '1.0.0' });
  const fix = { branch: 'hotfix', files: { 'app/fix': '1' }, message: 'SHOP-50: urgent (#50)' };
  const only = remote.commit({ ...fix, from: r1.commitSha });
  const picked = remote.commit({ branch: 'hotfix', files: { 'app/both': '1' }, message: 'SHOP-51: both (#51)' });
  const onMain = remote.commit({ files: { 'app/both': '1' }, message: 'SHOP-51: both (#51)' });
  await project.fetch();
  await candidate('r1-fix', picked, { app: '1.0.1', lib: '1.0.0' });
  const r2 = await cut('r2', { app: '1.1.0', lib: '1.1.0' }, { message: 'SHOP-52: new (#52)' });
  const days = ['2026-01-01', '2026-01-02', '2026-01-03'].map((day) => `${day}T10:00:00.000Z`);
  for (const [place, name] of ['r1', 'r1-fix', 'r2'].entries()) await deploy(name, 'uat', { deployedAt: days[place] });
  return { ...stage, only, picked, onMain, tip: r2.commitSha, r2 };
}

const shas = ({ commits }: Json) => commits.map(({ sha }: Json) => sha);

test('a hotfix that the next release lacks is on the removed side everywhere, and what was cherry-picked is still included', async () => {
  const { only, picked, onMain, tip, r2, get, project } = await hotfixStage();
  const changelogIn = ({ packages }: Json) => packages.find((each: Json) => each.packageName === 'app');
  const check = (entry: Json) => {
    expect(shas(entry.added)).toEqual([tip, onMain]);
    expect(entry.added).toMatchObject({ totalCommits: 2, workItems: ['SHOP-52', 'SHOP-51'], pullRequests: [52, 51] });
    expect(shas(entry.removed)).toEqual([picked, only]);
    expect(entry.removed).toMatchObject({ totalCommits: 2, isTruncated: false, workItems: ['SHOP-51', 'SHOP-50'] });
  };

  const { changelog } = await app
    .as(app.member)
    .post(200, `/api/release-candidates/${r2.id}/compare-to-packages?includeChangelog=true`, {
      packages: { app: '1.0.1', lib: '1.0.0' },
    });
  check(changelogIn(changelog));
  expect(changelog.noLongerIncluded).toEqual({
    workItems: [{ key: 'SHOP-50', url: null, commits: [only], totalCommits: 1, packages: ['app'] }],
    pullRequests: [50],
  });
  expect(changelog.summary).toMatchObject({
    totalCommits: 2,
    added: { totalCommits: 2, totalWorkItems: 2, totalPullRequests: 2 },
    removed: { totalCommits: 2, workItems: ['SHOP-50', 'SHOP-51'], pullRequests: [50, 51] },
  });

  const { domains } = await get('/api/releases/r2/notes');
  check(changelogIn(domains[0]));
  expect(domains[0].noLongerIncluded).toMatchObject({ workItems: [{ key: 'SHOP-50' }], pullRequests: [50] });
  const { repositoryIdentifier } = project;
  const query = new URLSearchParams({ repositoryIdentifier, format: 'md' }).toString();
  const { text } = await app.as(app.member).request(200, 'GET', `/api/releases/r2/notes?${query}`);
  const [, gone = ''] = /### No longer included\n\n([^#]*)/.exec(text) ?? [];
  expect(gone).toContain('SHOP-50 (1 commit of app)');
  expect(gone).not.toContain('SHOP-51');
  const [, items = ''] = /### Work items\n\n([^#]*)/.exec(text) ?? [];
  expect(items).toContain('SHOP-51');
  expect(items).not.toContain('SHOP-50');

  const summary = await get('/api/releases/change-summary', { fromReleaseName: 'r1-fix', toReleaseName: 'r2' });
  expect(summary.releases[0]).toMatchObject({
    packageChanges: [
      {
        packageName: 'app',
        changeType: 'updated',
        commits: 2,
        added: { totalCommits: 2, workItems: ['SHOP-51', 'SHOP-52'] },
        removed: { totalCommits: 2, workItems: ['SHOP-50', 'SHOP-51'], pullRequests: [50, 51] },
      },
      { packageName: 'lib', removed: { totalCommits: 0 } },
    ],
    noLongerIncluded: { workItems: ['SHOP-50'], pullRequests: [50] },
  });
  expect(summary.summary).toMatchObject({
    added: { totalCommits: 2 },
    removed: { totalCommits: 2, totalWorkItems: 2 },
  });

  const analysis = `/api/release-candidates/rolling-analysis/${encodeURIComponent(repositoryIdentifier)}/core`;
  const { candidates } = await app.as(app.member).get(200, `${analysis}?includePackageChangelogs=true`);
  const { incrementalChanges } = candidates.find((each: Json) => each.releaseName === 'r2');
  const updated = incrementalChanges.packages.updated.find((each: Json) => each.name === 'app');
  expect(updated).toMatchObject({ totalCommits: 2, totalAdded: 2, totalRemoved: 2 });
  check(updated.changelog);
  expect(incrementalChanges.summary.removed).toMatchObject({ totalCommits: 2, workItems: ['SHOP-50', 'SHOP-51'] });

  const changes = await app.as(app.member).get(200, `/api/release-candidates/${r2.id}/changes`);
  expect(shas(changes.removed)).toEqual([picked, only]);
});

test('a work item that one package loses is no longer included, though another package gets commits of it', async () => {
  const { remote, project, cut, deploy, get } = await releaseStage(app);
  const first = await cut('r1', { app: '1.0.0', lib: '1.0.0' });
  const fix = { branch: 'hotfix', from: first.commitSha, files: { 'app/fix': '1' }, message: 'SHOP-60: urgent (#60)' };
  const lost = remote.commit(fix);
  await project.fetch();
  await app.as(app.application).post(201, '/api/release-candidates', {
    repositoryIdentifier: project.repositoryIdentifier,
    domain: 'core',
    releaseName: 'r1-fix',
    commitSha: lost,
    value: { artifacts: { app: '1.0.1', lib: '1.0.0' } },
  });
  await cut('r2', { lib: '1.1.0' }, { message: 'SHOP-60: its other half (#61)' });
  await cut('r22', { app: '1.1.0', lib: '1.1.0' }, { message: 'SHOP-61: new (#62)' });
  const days = ['2026-01-01', '2026-01-02', '2026-01-03'].map((day) => `${day}T10:00:00.000Z`);
  for (const [place, name] of ['r1', 'r1-fix', 'r22'].entries()) await deploy(name, 'uat', { deployedAt: days[place] });
  const { domains } = await get('/api/releases/r22/notes');
  expect(domains[0].noLongerIncluded).toEqual({
    workItems: [{ key: 'SHOP-60', url: null, commits: [lost], totalCommits: 1, packages: ['app'] }],
    pullRequests: [60],
  });
  expect(domains[0].summary.added.workItems).toContain('SHOP-60');
  const { releases } = await get('/api/releases/change-summary', { fromReleaseName: 'r1-fix', toReleaseName: 'r22' });
  expect(releases[0].noLongerIncluded).toEqual({ workItems: ['SHOP-60'], pullRequests: [60] });

  const list = await get('/api/releases', { includeChangelog: 'true' });
  const [environment] = list.releases[0].environments;
  expect(environment.changesFromPrevious[0]).toMatchObject({
    packageName: 'app',
    totalCommits: 1,
    added: { totalCommits: 1, workItems: ['SHOP-61'], pullRequests: [62] },
    removed: { totalCommits: 1, workItems: ['SHOP-60'], pullRequests: [60] },
  });
  expect(environment.releaseChangelog).toMatchObject({
    totalCommits: 2,
    added: { totalCommits: 2, workItems: ['SHOP-60', 'SHOP-61'] },
    removed: { totalCommits: 1, totalWorkItems: 1, workItems: ['SHOP-60'], pullRequests: [60] },
  });
});

test('a downgrade takes back what the newer version has, and its notes say so', async () => {
  const { tip, onMain, deploy, get, project } = await hotfixStage();
  await app.as(app.application).post(201, '/api/release-candidates', {
    repositoryIdentifier: project.repositoryIdentifier,
    domain: 'core',
    releaseName: 'back',
    commitSha: tip,
    value: { artifacts: { app: '1.0.0', lib: '1.1.0' } },
  });
  await deploy('back', 'uat', { deployedAt: '2026-01-04T10:00:00.000Z' });
  const { domains } = await get('/api/releases/back/notes');
  const [entry] = domains[0].packages;
  expect(entry).toMatchObject({ packageName: 'app', direction: 'downgrade', totalCommits: 2 });
  expect(shas(entry)).toEqual([tip, onMain]);
  expect(entry.removed.commits).toEqual(entry.commits);
  expect(entry.added).toMatchObject({ commits: [], totalCommits: 0, workItems: [] });
  const { changelog } = { changelog: domains[0] };
  expect(changelog.noLongerIncluded.workItems.map(({ key }: Json) => key)).toEqual(['SHOP-51', 'SHOP-52']);
  const query = new URLSearchParams({ repositoryIdentifier: project.repositoryIdentifier, format: 'md' }).toString();
  const { text } = await app.as(app.member).request(200, 'GET', `/api/releases/back/notes?${query}`);
  expect(text).not.toContain('### Work items');
  expect(text).toContain('### No longer included');
});

test('packages come in the order of their dependencies, and a cycle is reported', async () => {
  const remote = newRepository();
  const entry = (name: string, ...dependencies: string[]) => ({
    package: name,
    path: name,
    dependencies: dependencies.map((each) => ({ package: each })),
  });
  const manifest = (packageDirectories: object[]) => JSON.stringify({ packageDirectories, packageAliases: {} });
  const names = ['app', 'base', 'core', 'data'];
  const files = Object.fromEntries(names.map((name) => [`${name}/a`, '1']));
  const ordered = manifest([
    entry('app', 'core', 'data@1.0.0-1'),
    entry('base', 'data'),
    entry('core', 'base'),
    entry('data'),
  ]);
  const first = remote.commit({ files: { ...files, 'sfdx-project.json': ordered } });
  const second = remote.commit({ files: Object.fromEntries(names.map((name) => [`${name}/a`, '2'])) });
  const project = await mirrored(app, remote);
  expect(project.mirror).toMatchObject({
    packages: [{ name: 'app', dependencies: ['core', 'data'] }, { dependencies: ['data'] }, {}, { dependencies: [] }],
    dependencyCycles: [],
  });
  const candidate = (releaseName: string, commitSha: string, version: string) =>
    app.as(app.application).post(201, '/api/release-candidates', {
      repositoryIdentifier: project.repositoryIdentifier,
      domain: 'core',
      releaseName,
      commitSha,
      value: { artifacts: Object.fromEntries(names.map((name) => [name, version])) },
    });
  await candidate('r1', first, '1');
  const { id } = await candidate('r2', second, '2');
  const compare = (packages: object) =>
    app
      .as(app.member)
      .post(200, `/api/release-candidates/${id}/compare-to-packages?includeChangelog=true`, { packages });
  const { comparison, changelog } = await compare({ app: '1', base: '1', core: '1' });
  expect(comparison.packagesToUpdate.map(({ name }: Json) => name)).toEqual(['base', 'core', 'app']);
  expect(comparison).toMatchObject({ installOrder: ['data', 'base', 'core', 'app'], dependencyCycles: [] });
  expect(changelog.packages.map(({ packageName }: Json) => packageName)).toEqual(['data', 'base', 'core', 'app']);
  const { domains } = await app
    .as(app.member)
    .get(200, `/api/releases/r2/notes?repositoryIdentifier=${encodeURIComponent(project.repositoryIdentifier)}`);
  expect(domains[0].packages.map((each: Json) => each.packageName)).toEqual(['data', 'base', 'core', 'app']);

  const cyclic = manifest([entry('app'), entry('base', 'core'), entry('core', 'base', 'data'), entry('data')]);
  remote.commit({ files: { 'sfdx-project.json': cyclic } });
  await expect(project.fetch()).resolves.toMatchObject({ dependencyCycles: [['base', 'core']] });
  await expect(compare({ app: '1' })).resolves.toMatchObject({
    comparison: { installOrder: ['app', 'data', 'base', 'core'], dependencyCycles: [['base', 'core']] },
    changelog: { dependencyCycles: [['base', 'core']] },
  });
});

test('history that is rewritten under candidates gives the old range, or says that the commit is unknown', async () => {
  const remote = newRepository();
  const configuration = { packagePaths: { app: 'app' } };
  const first = remote.commit({ files: { 'app/a': '1' } });
  const fetched = remote.commit({ files: { 'app/a': '2' }, message: 'Fetched' });
  const project = await mirrored(app, remote, { configuration });
  const lost = remote.commit({ files: { 'app/a': '3' }, message: 'Never fetched' });
  const forced = remote.commit({ from: first, files: { 'app/a': '4' }, message: 'Forced' });
  remote.git(['reflog', 'expire', '--expire=now', '--all']);
  remote.git(['gc', '--quiet', '--prune=now']);
  const candidate = (version: string, commitSha: string) =>
    app.as(app.application).post(201, '/api/release-candidates', {
      repositoryIdentifier: project.repositoryIdentifier,
      domain: 'core',
      releaseName: version,
      commitSha,
      value: { artifacts: { app: version } },
    });
  await candidate('1.0.0', fetched);
  await candidate('1.1.0', lost);
  const { id } = await candidate('1.2.0', forced);
  await project.fetch();
  const since = async (version: string) => {
    const path = `/api/release-candidates/${id}/compare-to-packages?includeChangelog=true`;
    const { changelog } = await app.as(app.member).post(200, path, { packages: { app: version } });
    return changelog.packages[0];
  };
  const rewritten = await since('1.0.0');
  expect(rewritten).toMatchObject({ commitRange: { from: fetched, to: forced }, missingChangelog: null });
  expect([shas(rewritten.added), shas(rewritten.removed)]).toEqual([[forced], [fetched]]);
  await expect(since('1.1.0')).resolves.toMatchObject({
    commitRange: null,
    commits: [],
    added: { commits: [], totalCommits: 0, workItems: [] },
    removed: { commits: [], totalCommits: 0 },
    missingChangelog: { reason: 'unknown_commit', lastTriedAt: expect.any(String) },
  });
  await expect(since('0.9.0')).resolves.toMatchObject({ missingChangelog: { reason: 'unknown_version' } });
});

test('a package that the last deployment carried in an older version changes from the commit of that version', async () => {
  const { remote, project, cut, deploy } = await releaseStage(app);
  await cut('r1', { app: '1.0.0', lib: '1.0.0' });
  const between = remote.commit({ files: { 'app/between': '1' }, message: 'SHOP-60: between (#60)' });
  await cut('r2', { app: '1.0.0', lib: '1.1.0' });
  const r3 = await cut('r3', { app: '1.1.0', lib: '1.1.0' });
  await deploy('r2', 'uat');
  await deploy('r2', 'prod');
  const packageOf = ({ changelog: { packages } }: Json) =>
    packages.map(({ packageName, added }: Json) => [packageName, shas(added)]);
  const expected = [['app', [r3.commitSha, between]]];
  const compare = `/api/release-candidates/${r3.id}/compare?includeChangelog=true`;
  const posted = await app.as(app.member).post(200, compare, { environmentName: 'uat' });
  expect(packageOf(posted)).toEqual(expected);
  const prod = await app.as(app.member).post(200, compare, { environmentName: 'prod' });
  await deploy('r3', 'uat');
  const sides = (left: string) => ({ left, right: `environment:${prod.environment.id}`, includeChangelog: 'true' });
  const { repositoryIdentifier } = project;
  for (const left of [`candidate:${r3.id}`, `environment:${posted.environment.id}`]) {
    const query = new URLSearchParams({ repositoryIdentifier, ...sides(left) }).toString();
    expect(packageOf(await app.as(app.member).get(200, `/api/releases/compare?${query}`))).toEqual(expected);
  }
});
