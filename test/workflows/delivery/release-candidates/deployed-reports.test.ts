import type { TestApp } from '../../../support/app.ts';
import { ago, COMMIT, deployedStage, OTHER_COMMIT, recordIn } from '../../../support/deployed-stage.ts';
import { withGitWorker } from '../../../support/git-worker.ts';

let app: TestApp;
withGitWorker(['git-v1', 'releases-v1'], (started) => {
  app = started;
});
const stage = () => deployedStage(app);

test('a dry run says what the same event does, also where it comes late or again', async () => {
  const { post, deploy, preview } = await stage();
  await post('r1', COMMIT, { app: '1' });
  await deploy('r1', 'prod');
  await deploy('r1', 'uat', { deploymentStatus: 'Failed', deployedAt: ago(5), executionId: 'failed' });
  const late = { deployedAt: ago(10), executionId: 'late' };
  const dry = await preview('r1', 'uat', late);
  expect(dry).toMatchObject({ newStatus: 'in_progress', missing: [{ environment: 'uat', reason: 'failed' }] });
  await expect(deploy('r1', 'uat', late)).resolves.toEqual(dry);

  const retry = { deployedAt: ago(1), executionId: 'retry' };
  await expect(preview('r1', 'uat', retry)).resolves.toMatchObject({ updated: true, newStatus: 'finalized' });
  const first = await deploy('r1', 'uat', retry);
  const repeated = { ...first, updated: false };
  await expect(preview('r1', 'uat', { ...retry, deploymentStatus: 'Failed' })).resolves.toEqual(repeated);
  await expect(deploy('r1', 'uat', { ...retry, deploymentStatus: 'Failed' })).resolves.toEqual(repeated);
});

test('clocks of hosts may differ by five minutes; what is to come in more than ten is refused', async () => {
  const { post, deploy, preview, release, compare, repositoryIdentifier } = await stage();
  const { id } = await post('r1', COMMIT, { app: '1' });
  await post('r2', OTHER_COMMIT, { app: '2' });
  const ahead = ago(-5);
  await expect(preview('r1', 'uat', { deployedAt: ahead })).resolves.toMatchObject({ updated: true });
  await deploy('r1', 'uat', { deployedAt: ahead });
  expect(recordIn(await release('r1'), 'uat').deployment).toMatchObject({ isDeployed: true, deployedAt: ahead });
  // By the clock of the host that is behind this one came before; it hides nothing, and counts for its own candidate.
  await deploy('r2', 'uat', { deployedAt: ago(0) });
  expect(recordIn(await release('r2'), 'uat').deployment.isDeployed).toBe(true);
  await expect(compare(id, 'uat')).resolves.toMatchObject({ comparison: { totalChanges: 0 } });
  // The one that came later wins between two of the same moment.
  await deploy('r2', 'uat', { deployedAt: ahead });
  await expect(compare(id, 'uat')).resolves.toMatchObject({ comparison: { totalChanges: 1 } });

  const refused = { deployedAt: ago(-11) };
  const answer = await preview('r1', 'uat', refused, 400);
  expect(answer.errors).toEqual([
    { pointer: '#/body/deployedAt', detail: 'The deployment is said to be more than 10 minutes ahead' },
  ]);
  const before = await release('r1');
  await app.as(app.application).post(400, '/api/release-candidates/release-event', {
    repositoryIdentifier,
    domain: 'core',
    releaseName: 'r1',
    environmentName: 'uat',
    deploymentStatus: 'Success',
    ...refused,
  });
  expect(await release('r1')).toEqual(before);
});

test('reports of one run at the same instant are one deployment', async () => {
  const { post, deploy, release } = await stage();
  await post('r1', COMMIT, { app: '1' });
  const answers = await Promise.all(
    Array.from({ length: 8 }, (_, index) =>
      deploy('r1', 'uat', { executionId: 'run', deploymentStatus: index % 2 === 0 ? 'Success' : 'Failed' }),
    ),
  );
  expect(new Set(answers.map((each) => JSON.stringify({ ...each, updated: false }))).size).toBe(1);
  expect((await release('r1')).deploymentCount).toBe(1);
});

test('a rollback restores what was before, each time, and also for reports that come late', async () => {
  const { post, deploy, release, active, compare, rollBack } = await stage();
  const { id } = await post('r1', COMMIT, { app: '1', lib: '1' });
  await post('r2', OTHER_COMMIT, { app: '2', lib: '2' });
  await deploy('r1', 'uat', { deployedAt: ago(60) });
  await deploy('r2', 'uat', { deploymentStatus: 'Partial', packages: { lib: '2' }, deployedAt: ago(50) });
  await deploy('r2', 'uat', { packages: { app: '2' }, deployedAt: ago(40) });
  await expect(active()).resolves.toEqual(['r2']);
  const isRestored = async () => {
    expect((await compare(id, 'uat')).comparison.totalChanges).toBe(0);
    expect(recordIn(await release('r2'), 'uat').deployment).toMatchObject({
      reason: 'rolled_back',
      packages: ['app', 'lib'],
    });
    await expect(active()).resolves.toEqual(['r1']);
  };
  await rollBack('r1', 'r2');
  await isRestored();
  await deploy('r2', 'uat', { deploymentStatus: 'Partial', packages: { app: '2' }, deployedAt: ago(45) });
  await isRestored();
  // It was deployed before the rollback, and reported after it.
  await deploy('r2', 'uat', { deployedAt: ago(30) });
  await isRestored();
  await deploy('r2', 'uat');
  await expect(active()).resolves.toEqual(['r2']);
  await rollBack('r1', 'r2');
  await isRestored();
  await rollBack('r1', 'r2');
  await isRestored();
});

test('a report from before a rollback that was a deployment of its own does not count, either', async () => {
  const { post, deploy, release, active, rollBack } = await stage();
  await post('r1', COMMIT, { app: '1', lib: '1' });
  await post('r2', OTHER_COMMIT, { app: '2', lib: '2' });
  await post('r3', OTHER_COMMIT, { app: '3', lib: '3' });
  await deploy('r1', 'uat', { deployedAt: ago(60) });
  await deploy('r2', 'uat', { deployedAt: ago(50) });
  await deploy('r1', 'uat', { deployedAt: ago(20) });
  await rollBack('r1', 'r2');
  for (const releaseName of ['r2', 'r3']) {
    await deploy(releaseName, 'uat', { deployedAt: ago(30), executionId: `late-${releaseName}` });
    expect(recordIn(await release(releaseName), 'uat').deployment).toMatchObject({ reason: 'rolled_back' });
  }
  // What was deployed after it counts, though it was reported later than the rollback was.
  await deploy('r3', 'uat', { deployedAt: ago(10) });
  expect(recordIn(await release('r3'), 'uat').deployment).toMatchObject({ isDeployed: true });
  await expect(active()).resolves.toEqual(['r3']);
});
