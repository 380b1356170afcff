import { type TestApp, testApp } from '../../../support/app.ts';
import type { Json } from '../../../support/client.ts';
import { engineAway } from '../../../support/launch.ts';

const repositoryIdentifier = 'acme/sides';
let app: TestApp;
const environments: Record<string, string> = {};
const candidates: Record<string, string> = {};

beforeAll(async () => {
  app = await testApp({ launch: engineAway });
  const owner = app.as(app.owner);
  for (const identifier of [repositoryIdentifier, 'acme/elsewhere'])
    await owner.post(201, '/api/projects', { identifier, platform: 'host-a' });
  for (const name of ['uat', 'live'])
    environments[name] = (
      await owner.post(201, '/api/environments', { repositoryIdentifier, name, category: 'release' })
    ).id;
  const contents: [string, string, Record<string, string>][] = [
    ['r1', 'aaaaaaa', { app: '1.0.0', lib: '2.0.0' }],
    ['r2', 'bbbbbbb', { app: '1.1.0', lib: '2.0.0', ui: '1.0.0' }],
    ['r3', 'ccccccc', { app: '1.1.0', lib: '2.0.0', ui: '1.0.0' }],
  ];
  for (const [releaseName, commitSha, artifacts] of contents)
    candidates[releaseName] = (
      await owner.post(201, '/api/release-candidates', {
        repositoryIdentifier,
        domain: 'core',
        releaseName,
        commitSha,
        value: { artifacts },
      })
    ).id;
  for (const [releaseName, environmentName] of [
    ['r1', 'live'],
    ['r2', 'uat'],
  ])
    await app.as(app.application).post(202, '/api/release-candidates/release-event', {
      repositoryIdentifier,
      domain: 'core',
      releaseName,
      environmentName,
      deploymentStatus: 'Success',
    });
});
afterAll(() => app.close());

const compare = (left: string, right: string, status = 200, repository = repositoryIdentifier): Promise<Json> =>
  app
    .as(app.member)
    .get(
      status,
      `/api/releases/compare?${new URLSearchParams({ repositoryIdentifier: repository, left, right }).toString()}`,
    );
const candidate = (releaseName: string) => `candidate:${candidates[releaseName]}`;
const environment = (name: string) => `environment:${environments[name]}`;
const changed = ({ comparison: { packagesToInstall, packagesToUpdate, unchanged } }: Json) => ({
  install: packagesToInstall.map(({ name }: Json) => name),
  update: packagesToUpdate.map(({ name }: Json) => name),
  unchanged: unchanged.map(({ name }: Json) => name),
});

test('a candidate against an environment is what the comparison of that candidate says', async () => {
  for (const [releaseName, name] of [
    ['r1', 'uat'],
    ['r2', 'uat'],
    ['r2', 'live'],
    ['r3', 'uat'],
  ] as const) {
    const body = { environmentName: name };
    const posted = await app
      .as(app.member)
      .post(200, `/api/release-candidates/${candidates[releaseName]}/compare`, body);
    const { comparison, deployment, estimatedDeploymentTime } = posted;
    await expect(compare(candidate(releaseName), environment(name))).resolves.toMatchObject({
      left: { kind: 'candidate', name: releaseName, domain: 'core' },
      right: { kind: 'environment', name, domain: null, commitSha: null },
      comparison,
      deployment,
      estimatedDeploymentTime,
      changelog: null,
    });
  }
});

test('an environment against another one says what it would bring there, and what only the other one has', async () => {
  const forward = await compare(environment('uat'), environment('live'));
  expect(changed(forward)).toEqual({ install: ['ui'], update: ['app'], unchanged: ['lib'] });
  expect(forward).toMatchObject({ onlyRight: [], deployment: null });
  const back = await compare(environment('live'), environment('uat'));
  expect(changed(back)).toEqual({ install: [], update: ['app'], unchanged: ['lib'] });
  expect(back).toMatchObject({
    onlyRight: [{ name: 'ui', version: '1.0.0' }],
    comparison: { packagesToUpdate: [{ name: 'app', isOutOfSync: true, versions: { from: '1.1.0', to: '1.0.0' } }] },
  });
});

test('candidates are compared, also with other content in the same versions, and with themselves', async () => {
  expect(changed(await compare(candidate('r2'), candidate('r1')))).toEqual({
    install: ['ui'],
    update: ['app'],
    unchanged: ['lib'],
  });
  const other = await compare(candidate('r3'), candidate('r2'));
  expect(changed(other)).toEqual({ install: [], update: ['app', 'lib', 'ui'], unchanged: [] });
  expect(other.comparison.packagesToUpdate[0]).toMatchObject({ isOtherContent: true });
  const same = await compare(candidate('r2'), candidate('r2'));
  expect(same).toMatchObject({ comparison: { totalChanges: 0 }, estimatedDeploymentTime: null, onlyRight: [] });
});

test('sides are of the repository', async () => {
  await compare(candidate('r1'), environment('uat'), 404, 'acme/elsewhere');
  await compare(environment('uat'), environment('live'), 404, 'acme/elsewhere');
  await compare('candidate:01890000-0000-7000-8000-000000000000', environment('uat'), 404);
  await compare('release:r1', environment('uat'), 400);
  await compare('candidate:r1', environment('uat'), 400);
});
