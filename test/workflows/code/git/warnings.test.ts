import { fetchSignal, gitMirrorContract } from '../../../../workflows/code/git/git-mirror.contract.ts';
import { createTemporalClient } from '../../../../workflows/temporal-client.ts';
import type { TestApp } from '../../../support/app.ts';
import { withGitWorker } from '../../../support/git-worker.ts';
import { mirrored } from '../../../support/mirrored.ts';
import { newRepository } from '../../../support/repository.ts';
import { eventually } from '../../../support/worker.ts';

let app: TestApp;
withGitWorker(['git-v1'], (started) => {
  app = started;
});

const temporal = createTemporalClient({ address: process.env.QS_TEST_TEMPORAL_ADDRESS ?? '', namespace: 'default' });
afterAll(() => temporal.connection.close());

const owner = () => app.as(app.owner);
const pathOf = (identifier: string) => `/api/projects/${encodeURIComponent(identifier)}`;

test('paths of a manifest are those of Windows, too, and warn where they match nothing', async () => {
  const remote = newRepository();
  const directory = (name: string, path: string) => ({ package: name, path, versionNumber: '1.0.0.NEXT' });
  const manifest = {
    packageDirectories: [directory('core', 'plugins\\core'), directory('gone', '.\\plugins\\gone')],
  };
  remote.commit({ files: { 'sfdx-project.json': JSON.stringify(manifest), 'plugins/core/a': '1' } });
  const { repositoryIdentifier } = await mirrored(app, remote, { configuration: {} });
  const { warnings } = await owner().get(200, pathOf(repositoryIdentifier));
  expect(warnings).toEqual([
    {
      code: 'package_path_matches_nothing',
      message: 'No commit of the remote has changed a file at plugins/gone, where sfdx-project.json has gone',
      pointer: '#/remoteUrl',
    },
  ]);
});

test('what the remote does not confirm comes with the next read after the first fetch', async () => {
  const remote = newRepository();
  const commit = remote.commit({ files: { 'core/a': '1' } });
  const packagePaths = { core: 'core', ui: 'force-app/ui' };
  const project = await mirrored(app, remote, { defaultBranch: 'mian', configuration: {} });
  const { repositoryIdentifier } = project;
  const read = () => owner().get(200, pathOf(repositoryIdentifier));
  const noBranch = {
    code: 'unknown_default_branch',
    message: 'The remote has no branch mian; did you mean main?',
    pointer: '#/defaultBranch',
  };
  expect((await read()).warnings).toEqual([noBranch]);
  expect((await project.patch({ configuration: { packagePaths } })) as unknown).toMatchObject({ warnings: [noBranch] });
  const mended: unknown = await project.patch({ defaultBranch: 'main' });
  expect(JSON.stringify(mended)).not.toContain('unknown_default_branch');
  const fetched = await eventually(read, ({ warnings }) => warnings.length > 0);
  expect(fetched.warnings).toEqual([
    {
      code: 'package_path_matches_nothing',
      message: 'No commit of the remote has changed a file at force-app/ui',
      pointer: '#/configuration/packagePaths/ui',
    },
  ]);

  const candidate = (releaseName: string, commitSha: string) =>
    owner().post(201, '/api/release-candidates', {
      repositoryIdentifier,
      domain: 'core',
      releaseName,
      commitSha,
      value: {},
    });
  expect((await candidate('known', commit)).warnings).toEqual([]);
  expect((await candidate('abbreviated', commit.slice(0, 10))).warnings).toEqual([]);
  const unknown = await candidate('unknown', 'deadbeef'.repeat(5));
  expect(unknown.warnings).toEqual([
    {
      code: 'unknown_commit',
      message: expect.stringMatching(/^The remote, as fetched at \S+Z, has no commit (deadbeef){5}/),
      pointer: '#/commitSha',
    },
  ]);
  const run = await owner().post(202, '/api/flows/run', {
    payload: { id: 'build', pipeline: { id: 'build.yml' }, repositoryIdentifier, branch: 'main', commitId: 'deadbeef' },
  });
  expect(run.warnings).toMatchObject([{ code: 'unknown_commit', pointer: '#/payload/commitId' }]);
});

test('a remote that cannot be read', async () => {
  const identifier = 'acme/unreachable';
  const made = await owner().post(201, '/api/projects', {
    identifier,
    platform: 'host-a',
    remoteUrl: '/nowhere/at/all.git',
  });
  expect(made.warnings).toEqual([]);
  const read = await eventually(
    () => owner().get(200, pathOf(identifier)),
    ({ warnings }) => warnings.length > 0,
  );
  expect(read.warnings).toEqual([
    {
      code: 'unreachable_remote',
      message: 'There is no repository at the address of the remote, or it is not open to these credentials',
      pointer: '#/remoteUrl',
    },
  ]);
  // The workflow fails once, with the reason, and then waits as one.
  const mirror = { ...app.tenantKey, projectId: made.id, repositoryIdentifier: identifier };
  const state = () => app.launch.stateOf(gitMirrorContract, mirror);
  await eventually(state, (now) => now === 'failed');
  const handle = temporal.workflow.getHandle(app.launch.idOf(gitMirrorContract, mirror));
  const failure = await handle.result().catch(({ cause }: Error) => cause);
  expect(failure).toMatchObject({ message: read.warnings[0].message, type: 'remote_unreadable' });
  await app.launch.signalWithStart(gitMirrorContract, mirror, fetchSignal);
  const shown = () => handle.query<{ currentDetails?: string }>('__temporal_workflow_metadata');
  await eventually(shown, ({ currentDetails = '' }) => currentDetails.includes('There is no repository'));
  expect(await state()).toBe('running');
  await handle.terminate();
});
