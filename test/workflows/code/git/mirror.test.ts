import { createFencedReads, type FencedReads } from '../../../../domain/kernel/data/fenced-reads.ts';
import { createCommitGraphCache } from '../../../../domain/code/git/graph/commit-graph-cache.ts';
import { systemActor } from '../../../../domain/kernel/shared/actor.ts';
import { type TestApp, testApp } from '../../../support/app.ts';
import type { Json } from '../../../support/client.ts';
import { forgetFetch, mirrored, type MirroredProject } from '../../../support/mirrored.ts';
import { newRepository, removeRepositories } from '../../../support/repository.ts';
import { eventually, startWorker, type TestWorker } from '../../../support/worker.ts';

let app: TestApp;
let worker: TestWorker;
let reads: FencedReads;
beforeAll(async () => {
  app = await testApp({ env: { ALLOW_LOCAL_GIT: 'true' } });
  worker = await startWorker(app, ['git-v1']);
  reads = createFencedReads({ databaseUrl: app.databaseUrl, role: 'quayside_app', poolSize: 2 }, () => {});
});
afterAll(async () => {
  await worker.stop();
  await reads.close();
  await app.close();
  removeRepositories();
});

const histories = createCommitGraphCache();
const historyOf = (projectId: string) => histories(reads.as(systemActor(app.tenantKey, 'test')), projectId);
const shasOf = async (projectId: string): Promise<string[]> =>
  (await app.sql<{ sha: string }>('select sha from git_commit where project_id = ? order by seq', [projectId])).map(
    ({ sha }) => sha,
  );

test('what is pushed later is added; moved tags, removed branches and rewritten ones are followed', async () => {
  const remote = newRepository();
  const first = remote.commit({ files: { 'src/a': '1' } });
  const second = remote.commit({ files: { 'src/a': '2' }, message: 'SHOP-1: second (#12)' });
  remote.git(['tag', 'app_v1.0.0.1', first]);
  remote.git(['branch', 'old', first]);
  const project = await mirrored(app, remote, {
    configuration: { packagePaths: { app: './src/' }, workItems: { workItemFilters: ['SHOP-\\d+'] } },
  });
  expect(project.mirror).toMatchObject({
    commits: 2,
    branches: 2,
    tags: 1,
    packagesFrom: 'setting',
    packages: [{ name: 'app', path: 'src' }],
  });

  const rewritten = remote.commit({ from: first, files: { 'src/a': '3' }, message: 'Rewritten' });
  remote.git(['tag', '-f', '-a', '-m', 'moved', 'app_v1.0.0.1', rewritten]);
  remote.git(['branch', '-D', 'old']);
  await expect(project.fetch()).resolves.toMatchObject({ commits: 3, branches: 1, tags: 1 });
  const refs = await app.sql('select kind, name, sha from git_ref where project_id = ? order by kind', [project.id]);
  expect(refs).toEqual([
    { kind: 'branch', name: 'main', sha: rewritten },
    { kind: 'tag', name: 'app_v1.0.0.1', sha: rewritten },
  ]);
  // What was rewritten stays known: a candidate may have been made of it.
  await expect(shasOf(project.id)).resolves.toEqual([first, second, rewritten]);
  const facts = await app.sql('select work_items, pull_requests from git_commit where project_id = ? order by seq', [
    project.id,
  ]);
  expect(facts.map(({ work_items }) => work_items)).toEqual([[], ['SHOP-1'], []]);
  expect(facts.map(({ pull_requests }) => pull_requests)).toEqual([[], [12], []]);
});

test('packages that move or come later, and other expressions for work items, hold for old commits, too', async () => {
  const remote = newRepository();
  const first = remote.commit({ files: { 'a/x': '1' }, message: 'SHOP-1 and #7' });
  const second = remote.commit({ files: { 'b/x': '1' } });
  const project = await mirrored(app, remote, { configuration: { packagePaths: { one: 'a' } } });
  const manifest = {
    packageDirectories: [{ path: 'b', package: 'one' }, { path: 'a', package: 'two' }, { path: 'unpackaged' }],
  };
  remote.commit({ files: { 'sfdx-project.json': JSON.stringify(manifest) } });
  await project.patch({ configuration: { workItems: { workItemFilters: ['#(\\d+)'] } } });
  await expect(project.fetch()).resolves.toMatchObject({
    packagesFrom: 'manifest',
    packages: [
      { name: 'one', path: 'b' },
      { name: 'two', path: 'a' },
    ],
  });
  const { graph, packages } = await historyOf(project.id);
  const log = (name: string) => graph.log([packages.get(name)?.packageNo ?? -1], null, 2);
  expect([log('one'), log('two')]).toEqual([[1], [0]]);
  await expect(shasOf(project.id)).resolves.toEqual([first, second, expect.any(String)]);
  await expect(
    app.sql('select work_items from git_commit where project_id = ? order by seq', [project.id]),
  ).resolves.toMatchObject([{ work_items: ['7'] }, { work_items: [] }, { work_items: [] }]);
});

test('hostile names of branches, tags and paths are data and nothing else', async () => {
  const remote = newRepository();
  const sha = remote.commit({
    files: {
      'src/$(touch hacked)': '1',
      'src/new\nline': '2',
      [`src/${'a'.repeat(40)}`]: '3',
      '--upload-pack=touch hacked': '4',
    },
  });
  for (const name of ['--upload-pack=touch', '$(touch\u{a0}hacked)', "'; touch hacked; '"].map((each) =>
    each.replaceAll(' ', '\u{a0}'),
  )) {
    remote.git(['update-ref', `refs/heads/${name}`, sha]);
  }
  const project = await mirrored(app, remote, {
    configuration: { packagePaths: { app: 'src', '--output=x': '--upload-pack=touch hacked' } },
  });
  expect(project.mirror).toMatchObject({ branches: 4, commits: 1, isStale: false });
  const { graph, packages } = await historyOf(project.id);
  const changes = await candidateAt(project, '1.0.0', sha);
  for (const since of ['--upload-pack=touch', '--output=hacked', '$(touch hacked)', 'a\nb']) {
    const { id } = await app.as(app.application).post(201, '/api/release-candidates', {
      ...placeOf(project),
      releaseName: since.replace('\n', ' '),
      commitSha: sha,
      branch: since.replace('\n', ' '),
      value: {},
    });
    await app.as(app.member).get(400, `/api/release-candidates/${id}/changes?since=${encodeURIComponent(since)}`);
  }
  await expect(changes()).resolves.toMatchObject({ commits: [{ sha, packages: ['app'] }] });
  for (const name of ['app', '--output=x'])
    expect(graph.log([packages.get(name)?.packageNo ?? -1], null, 0)).toEqual([0]);
});

const placeOf = ({ repositoryIdentifier }: MirroredProject) => ({ repositoryIdentifier, domain: 'core' });

/** A candidate of a commit, and what is told of its changes. */
async function candidateAt(project: MirroredProject, releaseName: string, commitSha: string) {
  const body = { ...placeOf(project), releaseName, commitSha, value: { artifacts: { app: releaseName } } };
  const { id } = await app.as(app.application).post(201, '/api/release-candidates', body);
  return (since = '') => app.as(app.member).get(200, `/api/release-candidates/${id}/changes${since}`);
}

test('what is known of a remote that is gone is served, and said to be stale', async () => {
  const remote = newRepository();
  const sha = remote.commit({ files: { 'src/a': '1' } });
  const project = await mirrored(app, remote, { configuration: { packagePaths: { app: 'src' } } });
  const changes = await candidateAt(project, '1.0.0', sha);
  await expect(changes()).resolves.toMatchObject({ totalCommits: 1, repository: { isStale: false, error: null } });
  remote.remove();
  await expect(project.fetch({ isFailing: true })).resolves.toMatchObject({
    isStale: true,
    commits: 1,
    failures: 1,
    error: expect.stringContaining('no repository'),
  });
  await expect(changes()).resolves.toMatchObject({
    commits: [{ sha }],
    missingChangelog: null,
    repository: { isStale: true, fetchedAt: project.mirror.fetchedAt, error: expect.stringContaining('no repository') },
  });
});

test('history that is rewritten under a candidate: what was fetched stays, what was not is missing and no error', async () => {
  const remote = newRepository();
  const first = remote.commit({ files: { 'src/a': '1' } });
  const fetched = remote.commit({ files: { 'src/a': '2' } });
  const project = await mirrored(app, remote, { configuration: { packagePaths: { app: 'src' } } });
  const unfetched = remote.commit({ files: { 'src/a': '3' } });
  const rewritten = remote.commit({ from: first, files: { 'src/a': '4' } });
  remote.git(['reflog', 'expire', '--expire=now', '--all']);
  remote.git(['gc', '--quiet', '--prune=now']);
  await project.fetch();
  await forgetFetch(app, project);
  const [known, lost, current] = [
    await candidateAt(project, '1.0.0', fetched),
    await candidateAt(project, '1.1.0', unfetched),
    await candidateAt(project, '1.2.0', rewritten),
  ];
  await expect(known(`?since=${first}`)).resolves.toMatchObject({
    commits: [{ sha: fetched }],
    missingChangelog: null,
  });
  const isTried = ({ missingChangelog }: Json) => missingChangelog.reason !== 'fetching';
  await expect(eventually(lost, isTried)).resolves.toMatchObject({
    commits: [],
    added: { commits: [], totalCommits: 0 },
    removed: { commits: [], totalCommits: 0 },
    missingChangelog: { reason: 'unknown_commit', message: expect.stringContaining('history was rewritten') },
  });
  // From a candidate whose commit is gone nothing can be counted; from the beginning, or a known commit, it can.
  await expect(current()).resolves.toMatchObject({ commits: [], missingChangelog: { message: expect.any(String) } });
  await expect(current(`?since=${first}`)).resolves.toMatchObject({
    commits: [{ sha: rewritten }],
    missingChangelog: null,
  });
});

test('a remote of an earlier version that is not permitted is not read', async () => {
  const owner = app.as(app.owner);
  const { id } = await owner.post(201, '/api/projects', { identifier: 'acme/earlier', platform: 'host-a' });
  const mirrorOf = async (remoteUrl: string) => {
    await app.sql('update project set remote_url = ? where id = ?', [remoteUrl, id]);
    const { failures: before = 0 } = await owner.get(200, '/api/projects/acme%2Fearlier/mirror');
    await owner.post(202, '/api/projects/acme%2Fearlier/mirror/fetch');
    return eventually(
      () => owner.get(200, '/api/projects/acme%2Fearlier/mirror'),
      ({ failures }) => failures > before,
    );
  };
  expect(await mirrorOf('https://10.0.0.1/shop.git')).toMatchObject({
    fetchedAt: null,
    error: '10.0.0.1 is not at a public address',
  });
  expect(await mirrorOf('https://dana:secret@git.example.com/shop.git')).toMatchObject({
    fetchedAt: null,
    error: 'The remote address contains a password; store credentials as an integration',
  });
});

test('many asks at the same time are few fetches, and none is lost', async () => {
  const remote = newRepository();
  remote.commit({ files: { a: '1' } });
  const project = await mirrored(app, remote);
  const shas = Array.from({ length: 5 }, (_, index) => {
    const sha = remote.commit({ files: { a: `more ${index}` } });
    void project.ask();
    return sha;
  });
  await eventually(
    () => shasOf(project.id),
    (known) => shas.every((sha) => known.includes(sha)),
  );
});
