import type { TestApp } from '../../../support/app.ts';
import type { Json } from '../../../support/client.ts';
import { withGitWorker } from '../../../support/git-worker.ts';
import { type ReleaseStage, releaseStage } from '../../../support/release-stage.ts';

let app: TestApp;
withGitWorker(['git-v1', 'releases-v1'], (started) => {
  app = started;
});

const day = (number: number) => ({ deployedAt: `2026-01-0${number}T10:00:00.000Z`, executionId: `run-${number}` });

/** Cuts a release of `app` from a new commit of a line of its own. */
async function cutOnLine(
  { remote, project }: ReleaseStage,
  releaseName: string,
  line: { branch: string; from?: string },
) {
  const commitSha = remote.commit({
    ...line,
    files: { 'app/a': releaseName },
    message: `SHOP-${releaseName.replaceAll('.', '')}: ${releaseName}`,
  });
  await project.fetch();
  await app.as(app.application).post(201, '/api/release-candidates', {
    repositoryIdentifier: project.repositoryIdentifier,
    domain: 'core',
    releaseName,
    commitSha,
    branch: line.branch,
    value: { artifacts: { app: releaseName } },
  });
  return commitSha;
}

const partsOf = ({ domains }: Json) =>
  domains.map(({ bases, summary, noLongerIncluded }: Json) => [
    bases.map(({ environment, releaseName }: Json) => `${environment}: ${releaseName}`),
    summary.added.workItems,
    noLongerIncluded.workItems.map(({ key }: Json) => key),
  ]);

const summaryOf = ({ releases }: Json) =>
  releases.map(({ releaseName, bases, added, removed }: Json) => [
    releaseName,
    bases.map((base: Json) => `${base.environment}: ${base.releaseName}`),
    added.workItems,
    removed.workItems,
  ]);

test('a release of a maintenance line is held against what its environment ran, and not against another line', async () => {
  const stage = await releaseStage(app);
  const { get, deploy, project } = stage;
  await app.as(app.owner).post(201, '/api/environments', {
    repositoryIdentifier: project.repositoryIdentifier,
    name: 'legacy',
    category: 'release',
    orchestrationOrder: 3,
    branch: 'maintenance/*',
  });
  const from = await cutOnLine(stage, '2.9.1', { branch: 'main' });
  await deploy('2.9.1', 'legacy', day(1));
  await cutOnLine(stage, '3.1.0', { branch: 'main' });
  await deploy('3.1.0', 'prod', day(2));
  await cutOnLine(stage, '3.2.0', { branch: 'main' });
  await deploy('3.2.0', 'prod', day(3));
  await cutOnLine(stage, '2.9.2', { branch: 'maintenance/v2', from });

  // Before it is deployed it belongs to the environments of its line.
  const expected = [[['legacy: 2.9.1'], ['SHOP-292'], []]];
  const before = await get('/api/releases/2.9.2/notes', { environmentName: 'legacy' });
  expect(partsOf(before)).toEqual(expected);
  await deploy('2.9.2', 'legacy', day(4));
  const notes = await get('/api/releases/2.9.2/notes');
  expect(notes.domains).toMatchObject([{ previousReleaseName: '2.9.1', deployments: [{ environment: 'legacy' }] }]);
  expect(partsOf(notes)).toEqual(expected);
  const markdown = await app.as(app.member).send('GET', `/api/releases/2.9.2/notes?${stage.query({ format: 'md' })}`);
  expect(markdown.text).toContain('Changes since 2.9.1 (legacy).');

  const summary = await get('/api/releases/change-summary', { fromReleaseName: '2.9.1', toReleaseName: '2.9.2' });
  expect(summary.summary).toMatchObject({ totalReleases: 1, totalWorkItems: 1, removed: { totalCommits: 0 } });
  expect(summaryOf(summary)).toEqual([['2.9.2', ['legacy: 2.9.1'], ['SHOP-292'], []]]);
  const mainLine = await get('/api/releases/3.2.0/notes');
  expect(partsOf(mainLine)).toEqual([[['prod: 3.1.0'], ['SHOP-320'], []]]);
  await expect(
    get('/api/releases/change-summary', { fromReleaseName: '2.9.2', toReleaseName: '3.2.0' }),
  ).resolves.toMatchObject({ releases: [], unmatchedRanges: ['core: no environment has both 2.9.2 and 3.2.0'] });
});

test('a hotfix is held against what production runs, whatever other environments run', async () => {
  const stage = await releaseStage(app);
  const { get, deploy } = stage;
  const from = await cutOnLine(stage, '4.0.0', { branch: 'main' });
  await deploy('4.0.0', 'uat', day(1));
  await deploy('4.0.0', 'prod', day(1));
  await cutOnLine(stage, '4.1.0', { branch: 'main' });
  await deploy('4.1.0', 'uat', day(2));
  await cutOnLine(stage, '4.0.1', { branch: 'hotfix/4.0.1', from });
  const inProduction = [['prod: 4.0.0'], ['SHOP-401'], []];
  const inUat = [['uat: 4.1.0'], ['SHOP-401'], ['SHOP-410']];
  expect(partsOf(await get('/api/releases/4.0.1/notes'))).toEqual([inUat, inProduction]);
  await deploy('4.0.1', 'prod', day(3));
  expect(partsOf(await get('/api/releases/4.0.1/notes'))).toEqual([inProduction]);
  expect(partsOf(await get('/api/releases/4.0.1/notes', { environmentName: 'uat' }))).toEqual([inUat]);
  expect(partsOf(await get('/api/releases/4.0.0/notes'))).toMatchObject([
    [['uat: null', 'prod: null'], ['SHOP-400'], []],
  ]);
  await app.as(app.member).get(404, `/api/releases/4.0.1/notes?${stage.query({ environmentName: 'nowhere' })}`);

  await deploy('4.0.1', 'uat', day(4));
  expect(partsOf(await get('/api/releases/4.0.1/notes'))).toEqual([inUat, inProduction]);
  const { releases } = await get('/api/releases', {
    includeChangelog: 'true',
    activeOnly: 'false',
    releaseName: '4.0.1',
  });
  expect(releases[0].environments).toMatchObject([
    { name: 'uat', changesFromPrevious: [{ fromVersion: '4.1.0' }] },
    { name: 'prod', changesFromPrevious: [{ fromVersion: '4.0.0' }] },
  ]);
  const summary = await get('/api/releases/change-summary', { since: day(3).deployedAt });
  expect(summary.summary).toMatchObject({
    totalReleases: 1,
    added: { workItems: ['SHOP-401'] },
    removed: { workItems: ['SHOP-410'] },
  });
  expect(summaryOf(summary)).toEqual([
    ['4.0.1', ['prod: 4.0.0'], ['SHOP-401'], []],
    ['4.0.1', ['uat: 4.1.0'], ['SHOP-401'], ['SHOP-410']],
  ]);
});

test.each([
  ['done by deploying the release before again', false, true],
  ['done by deploying the release before again, and annotated', true, true],
])(
  'after a rollback that was %s the next release has what was rolled back',
  async (_, isAnnotated, isDeployedAgain) => {
    const stage = await releaseStage(app);
    const { get, deploy, project } = stage;
    await cutOnLine(stage, '3.1.1', { branch: 'main' });
    await deploy('3.1.1', 'prod', day(1));
    await cutOnLine(stage, '3.1.2', { branch: 'main' });
    await deploy('3.1.2', 'prod', day(2));
    if (isDeployedAgain) await deploy('3.1.1', 'prod', day(3));
    if (isAnnotated)
      await app.as(app.application).post(204, '/api/releases/rollback-annotation', {
        repositoryIdentifier: project.repositoryIdentifier,
        environment: 'prod',
        target: '3.1.1',
        rolledBackFrom: '3.1.2',
        rolledBackBy: 'dana@example.com',
      });
    await cutOnLine(stage, '3.2.0', { branch: 'main' });
    const expected = [[['prod: 3.1.1'], ['SHOP-312', 'SHOP-320'], []]];
    expect(partsOf(await get('/api/releases/3.2.0/notes', { environmentName: 'prod' }))).toEqual(expected);
    await deploy('3.2.0', 'prod');
    expect(partsOf(await get('/api/releases/3.2.0/notes'))).toEqual(expected);
    expect(partsOf(await get('/api/releases/3.1.2/notes'))).toEqual([[['prod: 3.1.1'], ['SHOP-312'], []]]);
    expect(partsOf(await get('/api/releases/3.1.1/notes'))).toEqual([[['prod: null'], ['SHOP-311'], []]]);
    const range = await get('/api/releases/change-summary', { fromReleaseName: '3.1.1', toReleaseName: '3.2.0' });
    expect(summaryOf(range)).toEqual([
      ['3.1.2', ['prod: 3.1.1'], ['SHOP-312'], []],
      ['3.2.0', ['prod: 3.1.1'], ['SHOP-312', 'SHOP-320'], []],
    ]);
    const recent = await get('/api/releases/change-summary', { since: day(4).deployedAt });
    expect(summaryOf(recent)).toEqual([['3.2.0', ['prod: 3.1.1'], ['SHOP-312', 'SHOP-320'], []]]);
    const { releases } = await get('/api/releases', { includeChangelog: 'true', releaseName: '3.2.0' });
    expect(releases[0].environments[0].changesFromPrevious).toMatchObject([{ fromVersion: '3.1.1', totalCommits: 2 }]);
  },
);

test.each([
  ['a release that was posted again', 'r1'],
  ['another release', 'r2'],
])('%s with the same versions from another commit changes what it is compared with', async (_, releaseName) => {
  const { get, deploy, remote, project } = await releaseStage(app);
  const post = async (name: string, message: string) => {
    const commitSha = remote.commit({ files: { 'app/a': message }, message });
    await project.fetch();
    return app.as(app.application).post(201, '/api/release-candidates', {
      repositoryIdentifier: project.repositoryIdentifier,
      domain: 'core',
      releaseName: name,
      commitSha,
      value: { artifacts: { app: '1.0.0', lib: '1.0.0' } },
    });
  };
  const compare = (id: string, environmentName: string) =>
    app.as(app.member).post(200, `/api/release-candidates/${id}/compare?includeChangelog=true`, { environmentName });
  const { id: first } = await post('r1', 'SHOP-1: start');
  await deploy('r1', 'uat', day(1));
  expect((await compare(first, 'uat')).comparison).toMatchObject({ totalChanges: 0 });
  const { id, warnings } = await post(releaseName, 'SHOP-2: more');
  expect(warnings.map(({ code }: Json) => code)).toEqual(releaseName === 'r1' ? [] : ['versions_of_other_commit']);
  const { comparison, changelog } = await compare(id, 'uat');
  expect(comparison).toMatchObject({
    totalChanges: 2,
    packagesToUpdate: [
      { name: 'app', isOtherContent: true },
      { name: 'lib', isOtherContent: true },
    ],
    unchanged: [],
  });
  const [ofApp, ofLib] = changelog.packages;
  expect(ofApp).toMatchObject({
    fromVersion: '1.0.0',
    toVersion: '1.0.0',
    workItems: ['SHOP-2'],
    missingChangelog: null,
  });
  expect(ofLib).toMatchObject({ totalCommits: 0, missingChangelog: null });
  const { environment } = await compare(id, 'uat');
  const sides = (left: string, right: string) =>
    get('/api/releases/compare', { left, right, includeChangelog: 'true' });
  const [candidate, uat] = [`candidate:${id}`, `environment:${environment.id}`];
  await expect(sides(candidate, uat)).resolves.toMatchObject({ comparison, changelog });
  const back = await sides(uat, candidate);
  expect(back.comparison).toMatchObject({ totalChanges: 2, unchanged: [] });
  expect(back.changelog.packages[0]).toMatchObject({ removed: { workItems: ['SHOP-2'] }, missingChangelog: null });
  // Each uses its own commit.
  const nothing = await compare(id, 'prod');
  expect(nothing.changelog.packages[0].workItems).toEqual(['SHOP-2', 'SHOP-1']);
  const from = await app
    .as(app.member)
    .post(200, `/api/release-candidates/${id}/compare-to-packages?includeChangelog=true`, {
      packages: { app: '0.9.0' },
    });
  expect(from.changelog.packages[0].missingChangelog).toMatchObject({ reason: 'unknown_version' });
  if (releaseName === 'r1') return;
  const { domains } = await get('/api/releases/r2/notes');
  expect(domains[0]).toMatchObject({ previousReleaseName: 'r1', summary: { added: { workItems: ['SHOP-2'] } } });
  await deploy('r2', 'uat', day(2));
  await expect(get('/api/releases/change-summary', { fromReleaseName: 'r1' })).resolves.toMatchObject({
    releases: [{ releaseName: 'r2', added: { workItems: ['SHOP-2'] } }],
  });
  expect((await compare(first, 'uat')).comparison).toMatchObject({ totalChanges: 2 });
  expect((await compare(id, 'uat')).comparison).toMatchObject({ totalChanges: 0 });
});

test('a commit that was named by an abbreviated id at first is no other one', async () => {
  const { deploy, remote, project } = await releaseStage(app);
  const commitSha = remote.commit({ files: { 'app/a': '1' }, message: 'SHOP-1: start' });
  const post = (releaseName: string, named: string) =>
    app.as(app.application).post(201, '/api/release-candidates', {
      repositoryIdentifier: project.repositoryIdentifier,
      domain: 'core',
      releaseName,
      commitSha: named,
      value: { artifacts: { app: '1.0.0' } },
    });
  const short = await post('r1', commitSha.slice(0, 10));
  await deploy('r1', 'uat', day(1));
  await project.fetch();
  expect((await post('r2', commitSha)).warnings).toEqual([]);
  const full = await post('r1', commitSha);
  expect([full.id, full.commitSha]).toEqual([short.id, commitSha]);
  const compared = await app
    .as(app.member)
    .post(200, `/api/release-candidates/${full.id}/compare`, { environmentName: 'uat' });
  expect(compared.comparison).toMatchObject({ totalChanges: 0, packagesToUpdate: [] });
});
