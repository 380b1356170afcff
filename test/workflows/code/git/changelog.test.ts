import { attributionModel } from '../../../support/attribution-model.ts';
import { type TestApp, testApp } from '../../../support/app.ts';
import type { Bearer, Json } from '../../../support/client.ts';
import { mirrored, type MirroredProject } from '../../../support/mirrored.ts';
import {
  generateHistory,
  newRepository,
  packageNames,
  packagePath,
  type TestRepository,
} from '../../../support/repository.ts';
import { startWorker, type TestWorker } from '../../../support/worker.ts';

const PACKAGES = packageNames(12);
const CONFIGURATION = {
  domains: [
    { name: 'core', packages: PACKAGES.slice(0, 6) },
    { name: 'ui', packages: PACKAGES.slice(6) },
  ],
  workItems: { workItemFilters: ['SHOP-\\d+'], baseUrl: 'https://tracker.example.com/browse/' },
};

let app: TestApp;
let worker: TestWorker;
let remote: TestRepository;
let project: MirroredProject;
/** Commits of the main line, oldest first. */
let mainLine: string[];
beforeAll(async () => {
  app = await testApp({ env: { ALLOW_LOCAL_GIT: 'true' } });
  worker = await startWorker(app, ['git-v1']);
  remote = newRepository();
  generateHistory(remote, { commits: 1_500, packages: PACKAGES.length, seed: 5 });
  mainLine = remote.lines(['rev-list', '--first-parent', '--reverse', 'main']);
  project = await mirrored(app, remote, { configuration: CONFIGURATION });
});
afterAll(async () => {
  await worker.stop();
  await app.close();
  remote.remove();
});

const at = (share: number): string => mainLine[Math.floor((mainLine.length - 1) * share)] ?? '';
const artifacts = (names: readonly string[], version: string) =>
  Object.fromEntries(names.map((name) => [name, version]));

const candidate = (
  domain: string,
  releaseName: string,
  commitSha: string,
  versions: Record<string, string>,
): Promise<Json> =>
  app.as(app.application).post(201, '/api/release-candidates', {
    repositoryIdentifier: project.repositoryIdentifier,
    domain,
    releaseName,
    commitSha,
    value: { artifacts: versions },
  });
const changes = (id: string, since?: string) =>
  app
    .as(app.member)
    .get(
      200,
      `/api/release-candidates/${id}/changes${since === undefined ? '' : `?since=${encodeURIComponent(since)}`}`,
    );
/** What a range has by git and its messages. */
const expected = (...range: Parameters<ReturnType<typeof attributionModel>>) =>
  attributionModel(remote, {
    keyPattern: /SHOP-\d+/g,
    pullRequestsIn: (message) =>
      [...message.matchAll(/^Merge pull request #(\d+)|\(#(\d+)\)$/gm)].map(([, a, b]) => Number(a ?? b)),
    backMerges: new Set(remote.lines(['log', '--all', '--merges', '--format=%H', '--grep=^Take in the main line'])),
  })(...range);
const shas = (commits: { sha: string }[]) => commits.map(({ sha }) => sha);

test('the changes of a candidate are what git lists, since the candidate before, a commit, a tag or a date', async () => {
  const names = PACKAGES.slice(0, 6);
  const paths = names.map(packagePath);
  await candidate('core', 'c1', at(0.5), artifacts(names, '1.0.0'));
  const { id } = await candidate('core', 'c2', at(0.8).slice(0, 12), artifacts(names, '1.1.0'));
  remote.git(['tag', 'v-before', at(0.6)]);
  await project.fetch();

  const found = await changes(id);
  expect(found).toMatchObject({
    since: at(0.5),
    missingChangelog: null,
    isTruncated: false,
    repository: { isStale: false },
  });
  expect(shas(found.commits)).toEqual(remote.log(at(0.5), at(0.8), paths));
  expect(found.totalCommits).toBe(found.commits.length);
  for (const { packageName, totalCommits } of found.packages) {
    expect([packageName, totalCommits]).toEqual([
      packageName,
      remote.log(at(0.5), at(0.8), [packagePath(packageName)]).length,
    ]);
  }
  const [item] = found.workItems;
  expect(item).toEqual({
    key: expect.stringMatching(/^SHOP-\d+$/),
    url: `https://tracker.example.com/browse/${item.key}`,
    commits: expect.any(Array),
    totalCommits: item.commits.length,
  });
  const { commitsOf } = expected(at(0.5), at(0.8), paths);
  expect(new Map(found.workItems.map((each: Json) => [each.key, new Set(each.commits)]))).toEqual(commitsOf);

  expect(shas((await changes(id, at(0.7))).commits)).toEqual(remote.log(at(0.7), at(0.8), paths));
  expect(shas((await changes(id, 'v-before')).commits)).toEqual(remote.log(at(0.6), at(0.8), paths));
  const date = remote.git(['log', '-1', '--format=%cI', at(0.65)]);
  const since = await changes(id, date);
  expect(shas(since.commits)).toEqual(
    remote.lines(['log', '--format=%H', `--since-as-filter=${date}`, at(0.8), '--', ...paths]),
  );
  for (const text of ['no-such-tag', '2026-02-30', '2026-02-30T00:00:00Z', '2026-13-01'])
    await app.as(app.member).get(400, `/api/release-candidates/${id}/changes?since=${text}`);
});

test('a comparison tells for each package what git lists between its versions, by tags and by candidates', async () => {
  const names = PACKAGES.slice(0, 6);
  const [tagged = '', ...others] = names;
  await candidate('core', 'd1', at(0.3), artifacts(names, '2.0.0-1'));
  const { id } = await candidate('core', 'd2', at(0.9), { ...artifacts(names, '2.1.0-1'), [tagged]: '2.1.0-7' });
  // A build of its own: its commit is the tag's, not the candidate's.
  remote.git(['tag', `${tagged}_v2.1.0.7`, at(0.85)]);
  await project.fetch();
  const compared = await app
    .as(app.member)
    .post(200, `/api/release-candidates/${id}/compare-to-packages?includeChangelog=true`, {
      packages: artifacts(names, '2.0.0-1'),
    });
  const { changelog } = compared;
  expect(changelog.missingChangelogPackages).toEqual([]);
  for (const entry of changelog.packages) {
    const end = entry.packageName === tagged ? at(0.85) : at(0.9);
    expect(entry).toMatchObject({
      direction: 'upgrade',
      commitRange: { from: at(0.3), to: end },
      missingChangelog: null,
    });
    expect(shas(entry.commits)).toEqual(remote.log(at(0.3), end, [packagePath(entry.packageName)]));
    expect(entry.totalCommits).toBe(entry.commits.length);
  }
  expect(changelog.packages).toHaveLength(1 + others.length);
  const all = new Set(changelog.packages.flatMap((entry: Json) => shas(entry.commits)));
  expect(changelog.summary.totalCommits).toBe(all.size);

  // Without the flag nothing is computed.
  await expect(
    app.as(app.member).post(200, `/api/release-candidates/${id}/compare-to-packages`, { packages: {} }),
  ).resolves.toMatchObject({ changelog: null, linkedCandidates: null });
});

test('a changelog that is asked for again is the same for each client, and another once a tag has moved', async () => {
  const [name = ''] = PACKAGES;
  await candidate('core', 'h1', at(0.1), { [name]: '8.0.0-1' });
  const { id } = await candidate('core', 'h2', at(0.9), { [name]: '8.1.0-1' });
  const { repositoryIdentifier } = project;
  const other = await app
    .as(app.owner)
    .post(201, '/api/application-tokens', { name: 'of-the-project', projects: [repositoryIdentifier] });
  const path = `/api/release-candidates/${id}/compare-to-packages?includeChangelog=true`;
  const ask = (caller: Bearer, version: string, encoding = 'gzip') =>
    app.as(caller).request(200, 'POST', path, {
      body: { packages: { [name]: version } },
      headers: { 'accept-encoding': encoding },
    });
  const first = await ask(app.member, '8.0.0-1');
  expect(first.headers.get('content-encoding')).toBe('gzip');
  expect(shas(first.body.changelog.packages[0].commits)).toEqual(remote.log(at(0.1), at(0.9), [packagePath(name)]));
  for (const caller of [app.member, other]) expect((await ask(caller, '8.0.0-1')).text).toBe(first.text);
  const plain = await ask(app.member, '8.0.0-1', 'identity');
  expect(plain.headers.get('content-encoding')).toBeNull();
  expect(plain.headers.get('vary')).toContain('Accept-Encoding');
  expect(plain.text).toBe(first.text);

  for (const share of [0.8, 0.5]) {
    remote.git(['tag', '-f', `${name}_v8.1.0.1`, at(share)]);
    await project.fetch();
    const [entry] = (await ask(app.member, '8.0.0-1')).body.changelog.packages;
    expect(entry.commitRange).toEqual({ from: at(0.1), to: at(share) });
    expect(shas(entry.commits)).toEqual(remote.log(at(0.1), at(share), [packagePath(name)]));
  }
});

test('of more commits than are listed, totals, work items and pull requests are those of all', async () => {
  const names = PACKAGES.slice(0, 6);
  const paths = names.map(packagePath);
  const end = mainLine.at(-1) ?? '';
  const { id } = await candidate('core', 'g1', end, artifacts(names, '7.0.0'));
  const all = expected(null, end, paths);
  const found = await changes(id, '2000-01-01');
  expect(found.totalCommits).toBe(all.commits.length);
  expect(new Set(found.workItems.map(({ key }: Json) => key))).toEqual(all.workItems);
  expect(new Set(found.added.pullRequests)).toEqual(all.pullRequests);
});

test('candidates of other domains that hold the same work items are linked', async () => {
  const [first = ''] = PACKAGES;
  const ui = PACKAGES[7] ?? '';
  await candidate('ui', 'u1', at(0.2), { [ui]: '1.0.0' });
  const linked = await candidate('ui', 'u2', at(0.95), { [ui]: '1.1.0' });
  await candidate('core', 'e1', at(0.2), { [first]: '5.0.0' });
  const { id } = await candidate('core', 'e2', at(0.95), { [first]: '5.1.0' });
  const itemsOf = (path: string) => expected(at(0.2), at(0.95), [path]).workItems;
  const others = itemsOf(packagePath(ui));
  const shared = [...itemsOf(packagePath(first))].filter((key) => others.has(key));
  expect(shared.length).toBeGreaterThan(0);
  const { linkedCandidates } = await app
    .as(app.member)
    .post(200, `/api/release-candidates/${id}/compare-to-packages?includeChangelog=true`, {
      packages: { [first]: '5.0.0' },
    });
  expect(linkedCandidates.find((each: Json) => each.id === linked.id)).toMatchObject({
    domain: 'ui',
    releaseName: 'u2',
    status: 'pending',
    workItems: shared.toSorted(),
  });
});

test('a commit that is not in the repository, or a package without a path, is missing and no error', async () => {
  const { id } = await candidate('core', 'f1', 'f'.repeat(40), { [PACKAGES[1] ?? '']: '9.0.0', unknown: '1.0.0' });
  await expect(changes(id, at(0.5))).resolves.toMatchObject({
    commits: [],
    missingChangelog: { reason: expect.stringMatching(/^(fetching|unknown_commit)$/) },
  });
  const { changelog } = await app
    .as(app.member)
    .post(200, `/api/release-candidates/${id}/compare-to-packages?includeChangelog=true`, { packages: {} });
  expect(changelog.missingChangelogPackages.toSorted()).toEqual([PACKAGES[1], 'unknown']);
});

test('a candidate of a project without a repository has no changes, and says why', async () => {
  const owner = app.as(app.owner);
  await owner.post(201, '/api/projects', { identifier: 'acme/bare', platform: 'host-a' });
  const { id } = await owner.post(201, '/api/release-candidates', {
    repositoryIdentifier: 'acme/bare',
    domain: 'core',
    releaseName: 'r',
    commitSha: 'abcdef0',
    value: {},
  });
  await expect(changes(id)).resolves.toMatchObject({
    commits: [],
    packages: [],
    missingChangelog: { reason: 'no_remote' },
    repository: { fetchedAt: null, isStale: true },
  });
});
