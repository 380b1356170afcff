import { type TestApp, testApp } from '../../../support/app.ts';
import type { Json } from '../../../support/client.ts';
import { forgetFetch, mirrored } from '../../../support/mirrored.ts';
import { newRepository, removeRepositories } from '../../../support/repository.ts';
import { cutRelease } from '../../../support/releases.ts';
import { tracedRuns } from '../../../support/traced-runs.ts';
import { startWorker, type TestWorker } from '../../../support/worker.ts';

let app: TestApp;
let worker: TestWorker;
const runs = tracedRuns(() => app, { 'execute-release': 'true' });

beforeAll(async () => {
  app = await testApp({ env: { ALLOW_LOCAL_GIT: 'true', COMMANDS_FILE: runs.commandsFile } });
  worker = await startWorker(app, ['git-v1']);
});
afterAll(async () => {
  await worker.stop();
  await app.close();
  runs.remove();
  removeRepositories();
});

const configuration = { approvalPolicy: { skipApproval: true } };
const environments = async (repositoryIdentifier: string): Promise<void> => {
  for (const [name, branch] of [
    ['prod', 'main'],
    ['any', '**'],
  ])
    await app.as(app.owner).post(201, '/api/environments', { repositoryIdentifier, name, category: 'release', branch });
};
const execute = (status: number, repositoryIdentifier: string, releaseName: string, environmentName = 'prod') =>
  app.as(app.owner).post(status, '/api/flows/run', {
    payload: { id: 'execute-release', repositoryIdentifier, domain: 'core', releaseName, environmentName, note: 'n' },
  });
const codes = ({ warnings }: Json): string[] => warnings.map(({ code }: Json) => code);

test('a gate on branches asks git: what a candidate says of its branch counts only where git confirms it', async () => {
  const remote = newRepository();
  const base = remote.commit({ branch: 'main' });
  const onMain = remote.commit({ branch: 'main' });
  const feature = remote.commit({ branch: 'feature/x', from: base });
  const project = await mirrored(app, remote, { configuration, defaultBranch: 'main' });
  const { repositoryIdentifier } = project;
  await environments(repositoryIdentifier);
  let builds = 0;
  const cut = (name: string, commitSha: string, branch = 'main') =>
    cutRelease(app, repositoryIdentifier, name, {
      commitSha,
      branch,
      value: { artifacts: { app: `1.0.0-${++builds}` } },
    });
  for (const [name, sha] of [
    ['older', base],
    ['newest', onMain.slice(0, 12)],
  ] as const) {
    expect(codes(await cut(name, sha))).toEqual([]);
    expect(codes(await execute(202, repositoryIdentifier, name))).toEqual([]);
  }

  expect(codes(await cut('claims', feature))).toEqual(['commit_not_on_branch']);
  const refused = await execute(409, repositoryIdentifier, 'claims');
  expect(refused.detail).toMatch(/which is not on main; prod takes releases of main only/);
  await execute(202, repositoryIdentifier, 'claims', 'any');
  expect(codes(await cut('honest', feature, 'feature/x'))).toEqual([]);

  const later = remote.commit({ branch: 'main' });
  await cut('later', later);
  expect((await execute(409, repositoryIdentifier, 'later')).detail).toMatch(
    /unverified until its commit .* has been fetched/,
  );
  await forgetFetch(app, project);
  await project.fetch();
  await execute(202, repositoryIdentifier, 'later');

  // What git said of two commits is not asked again: the walk from one to the other is read once.
  await execute(202, repositoryIdentifier, 'older');
  await app.sql(`update git_commit set parents = '{}'`);
  await execute(202, repositoryIdentifier, 'older');
});

test('where nothing was fetched the text is believed, and the reply says so', async () => {
  const repositoryIdentifier = 'acme/unmirrored';
  await app
    .as(app.owner)
    .post(201, '/api/projects', { identifier: repositoryIdentifier, platform: 'host-a', configuration });
  await environments(repositoryIdentifier);
  expect(codes(await cutRelease(app, repositoryIdentifier, 'r1', { branch: 'main' }))).toEqual([]);
  expect(codes(await execute(202, repositoryIdentifier, 'r1'))).toEqual(['unverified_branch']);
  expect(codes(await execute(202, repositoryIdentifier, 'r1', 'any'))).toEqual([]);
});
