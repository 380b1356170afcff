import type { TestApp } from '../../../support/app.ts';
import type { Json } from '../../../support/client.ts';
import { ago, COMMIT, deployedStage, OTHER_COMMIT, recordIn } from '../../../support/deployed-stage.ts';
import { withGitWorker } from '../../../support/git-worker.ts';

let app: TestApp;
withGitWorker(['git-v1', 'releases-v1'], (started) => {
  app = started;
});
const stage = () => deployedStage(app);

test('other content begins anew, and content that is posted back counts again', async () => {
  const { post, deploy, release } = await stage();
  await post('r1', COMMIT, { app: '1' });
  await deploy('r1', 'uat', { executionId: 'first' });
  // Another branch or other metadata is no other content.
  await expect(post('r1', COMMIT, { app: '1' }, { branch: 'main', tag: 'r1' })).resolves.toMatchObject({
    status: 'in_progress',
  });
  await expect(post('r1', OTHER_COMMIT, { app: '1' })).resolves.toMatchObject({ status: 'pending' });
  const changed = await release('r1');
  expect(recordIn(changed, 'uat')).toMatchObject({
    status: 'Success',
    supersededContent: true,
    deployment: { isDeployed: false, deployedAt: null, reason: 'other_content', packages: ['app'] },
  });
  expect(changed.packageStatuses).toMatchObject([{ packageName: 'app', isFullyDeployed: false, trajectory: [] }]);
  await expect(deploy('r1', 'prod')).resolves.toMatchObject({
    newStatus: 'in_progress',
    missingEnvironments: ['uat'],
    missing: [{ environment: 'uat', reason: 'other_content', packages: ['app'] }],
  });

  await expect(post('r1', COMMIT, { app: '1' })).resolves.toMatchObject({ status: 'pending' });
  expect(recordIn(await release('r1'), 'uat')).toMatchObject({
    supersededContent: false,
    deployment: { isDeployed: true, reason: null },
  });
  await expect(deploy('r1', 'prod', { executionId: 'again' })).resolves.toMatchObject({ newStatus: 'finalized' });
  await post('r1', OTHER_COMMIT, { app: '1' }, {}, 409);
});

test('other packages begin anew, too', async () => {
  const { post, deploy, repositoryIdentifier } = await stage();
  await post('r1', COMMIT, { app: '1', lib: '1' });
  await deploy('r1', 'uat');
  const change = { repositoryIdentifier, domain: 'core', releaseName: 'r1', versionOverrides: { lib: '2' } };
  await expect(
    app.as(app.application).send('PATCH', '/api/release-candidates/update-packages', { body: change }),
  ).resolves.toMatchObject({ status: 200, body: { status: 'pending' } });
});

test('one package of three is not deployed; a part completes it, and the next success moves the status', async () => {
  const { post, deploy, release, active } = await stage();
  await post('r1', COMMIT, { app: '1', lib: '1', web: '1' });
  await expect(deploy('r1', 'uat', { packages: { app: '1' } })).resolves.toMatchObject({
    newStatus: 'in_progress',
    missing: [
      { environment: 'uat', reason: 'partial', packages: ['lib', 'web'] },
      { environment: 'prod', reason: 'never', packages: ['app', 'lib', 'web'] },
    ],
  });
  const details = [
    { name: 'lib', status: 'Succeeded' },
    { name: 'web', version: '1', skipped: true },
  ];
  await deploy('r1', 'uat', { deploymentStatus: 'Partial', packageDetails: details, executionId: 'rest' });
  // A failed entry of a success is not installed.
  await expect(
    deploy('r1', 'prod', { packageDetails: [{ name: 'web', status: 'Failed' }], executionId: 'most' }),
  ).resolves.toMatchObject({ missing: [{ environment: 'prod', reason: 'partial', packages: ['web'] }] });
  expect((await release('r1')).deploymentStatus).toMatchObject({
    status: 'in_progress',
    missingFromEnvironments: ['prod'],
    recommendations: ['Complete the deployment to prod: web missing'],
  });
  await expect(
    deploy('r1', 'prod', { deploymentStatus: 'Partial', packages: { web: '1' }, executionId: 'web' }),
  ).resolves.toMatchObject({ updated: false, newStatus: 'in_progress', missing: [] });
  expect((await release('r1')).deploymentStatus.status).toBe('completed');
  await expect(deploy('r1', 'uat', { executionId: 'next', packages: {} })).resolves.toMatchObject({
    updated: true,
    newStatus: 'finalized',
  });
  await expect(active()).resolves.toEqual(['r1']);
});

test('a package that runs there by the report of another candidate counts, also after it was replaced', async () => {
  const { post, deploy, release, active, compare } = await stage();
  await post('r1', COMMIT, { app: '1', lib: '1' });
  const { id } = await post('r2', OTHER_COMMIT, { app: '2', lib: '1' });
  await deploy('r1', 'uat', { deployedAt: ago(30) });
  await deploy('r2', 'uat', { packages: { app: '2' }, deployedAt: ago(20) });
  await expect(compare(id, 'uat')).resolves.toMatchObject({
    deployment: { isDeployed: true },
    comparison: { totalChanges: 0 },
  });
  await expect(active()).resolves.toEqual(['r2']);
  await post('r3', OTHER_COMMIT, { app: '3', lib: '3' });
  await deploy('r3', 'uat', { deployedAt: ago(10) });
  expect(recordIn(await release('r2'), 'uat').deployment).toMatchObject({ isDeployed: true, packages: [] });
  await expect(compare(id, 'uat')).resolves.toMatchObject({
    deployment: { isDeployed: true, reason: null },
    comparison: { totalChanges: 2, unchanged: [] },
  });
  await expect(active()).resolves.toEqual(['r3']);
});

test('what a part installed runs beside what was there before', async () => {
  const { post, deploy, active, compare } = await stage();
  const { id } = await post('r1', COMMIT, { app: '1', lib: '1' });
  await post('r2', OTHER_COMMIT, { app: '2', lib: '2' });
  await deploy('r1', 'uat');
  await deploy('r2', 'uat', { deploymentStatus: 'Partial', packages: { app: '2' } });
  await expect(active()).resolves.toEqual(['r1', 'r2']);
  const { comparison } = await compare(id, 'uat');
  expect(comparison.packagesToUpdate).toMatchObject([{ name: 'app', versions: { from: '2', to: '1' } }]);
  expect(comparison.unchanged).toMatchObject([{ name: 'lib' }]);
  // What failed or was cancelled installs nothing.
  await deploy('r2', 'uat', { deploymentStatus: 'Failed', packages: { lib: '2' } });
  await deploy('r2', 'uat', { deploymentStatus: 'Cancelled', packages: { lib: '2' } });
  expect((await compare(id, 'uat')).comparison.unchanged).toMatchObject([{ name: 'lib' }]);
  await deploy('r2', 'uat', { executionId: 'all' });
  await expect(active()).resolves.toEqual(['r2']);
});

test('a failure undoes it until a report that did not fail; what was cancelled changes nothing', async () => {
  const { post, deploy, release } = await stage();
  await post('r1', COMMIT, { app: '1' });
  await deploy('r1', 'uat', { deployedAt: ago(30) });
  const failed = { deploymentStatus: 'Failed', deployedAt: ago(20) };
  await expect(deploy('r1', 'uat', failed)).resolves.toMatchObject({
    missing: [
      { environment: 'uat', reason: 'failed' },
      { environment: 'prod', reason: 'never' },
    ],
  });
  await deploy('r1', 'uat', { deploymentStatus: 'Cancelled', deployedAt: ago(15) });
  expect((await release('r1')).deploymentStatus).toMatchObject({
    status: 'failed',
    recommendations: ['Repeat the deployment to uat, which failed', 'Deploy to prod'],
  });
  const repaired = ago(10);
  await deploy('r1', 'uat', { deploymentStatus: 'Partial', packages: {}, deployedAt: repaired });
  expect(recordIn(await release('r1'), 'uat').deployment).toEqual({
    isDeployed: true,
    deployedAt: repaired,
    reason: null,
    packages: [],
  });
});

test('a release is deployed where it was when its candidate is deleted', async () => {
  const { post, deploy, release } = await stage();
  const { id } = await post('r1', COMMIT, { app: '1', lib: '1' });
  await post('r2', OTHER_COMMIT, { app: '2', lib: '1' });
  await deploy('r1', 'uat', { deployedAt: ago(30) });
  await deploy('r1', 'uat', { deploymentStatus: 'Cancelled', deployedAt: ago(20) });
  await deploy('r1', 'prod', { deployedAt: ago(30) });
  await deploy('r1', 'prod', { deploymentStatus: 'Partial', packages: { lib: '1' }, deployedAt: ago(20) });
  const { id: second } = await post('r3', OTHER_COMMIT, { app: '3', lib: '1' });
  await deploy('r3', 'uat', { packages: { app: '3' }, deployedAt: ago(10) });
  await deploy('r3', 'prod', { deploymentStatus: 'Failed', deployedAt: ago(10) });
  const shown = ({ environments, deploymentStatus, packageStatuses }: Json) => ({
    environments: environments.map(({ deployment, name }: Json) => ({ name, deployment })),
    deploymentStatus,
    packageStatuses,
  });
  const before = [shown(await release('r1')), shown(await release('r3'))];
  expect(before[0]?.environments).toMatchObject([
    { deployment: { isDeployed: true } },
    { deployment: { isDeployed: true } },
  ]);
  for (const each of [id, second]) await app.as(app.owner).send('DELETE', `/api/release-candidates/${each}`);
  expect([shown(await release('r1')), shown(await release('r3'))]).toEqual(before);
});

test('a release has to reach the environments that its branch fits, in the list as for events', async () => {
  const { cut, deploy, release, repositoryIdentifier } = await stage();
  await app.as(app.owner).post(201, '/api/environments', {
    repositoryIdentifier,
    name: 'hotfixes',
    category: 'release',
    branch: 'hotfix/*',
  });
  await cut('r1', { app: '1' });
  await deploy('r1', 'uat');
  await expect(deploy('r1', 'prod')).resolves.toMatchObject({ newStatus: 'finalized', missing: [] });
  expect((await release('r1')).deploymentStatus).toMatchObject({ status: 'completed', missing: [] });
});

test('abbreviated commits are resolved, and answers stay when history is rewritten under a candidate', async () => {
  const { remote, project, post, deploy, release, compare } = await stage();
  const commitSha = remote.commit({ message: 'SHOP-1: new', files: { 'app/a': '1' } });
  const short = commitSha.slice(0, 9);
  // The repository does not know it yet.
  await expect(post('r1', short, { app: '1' })).resolves.toMatchObject({ commitSha: short });
  await deploy('r1', 'uat');
  await project.fetch();
  await expect(post('r1', short.toUpperCase(), { app: '1' })).resolves.toMatchObject({
    commitSha,
    status: 'in_progress',
  });
  const before = await release('r1');
  expect(recordIn(before, 'uat')).toMatchObject({ supersededContent: false, deployment: { isDeployed: true } });

  remote.commit({ from: remote.git(['rev-parse', `${commitSha}~1`]), message: 'Rewritten', files: { 'app/a': '2' } });
  await project.fetch();
  await app.sql('delete from git_commit where sha = ?', [commitSha]);
  const { id, status } = await post('r1', short, { app: '1' });
  expect(status).toBe('in_progress');
  expect(await release('r1')).toEqual(before);
  await expect(compare(id, 'uat')).resolves.toMatchObject({ deployment: { isDeployed: true } });
  await expect(deploy('r1', 'prod')).resolves.toMatchObject({ newStatus: 'finalized' });
});
