import { attributionModel } from '../../../support/attribution-model.ts';
import type { TestApp } from '../../../support/app.ts';
import type { Json } from '../../../support/client.ts';
import { withGitWorker } from '../../../support/git-worker.ts';
import { mirrored } from '../../../support/mirrored.ts';
import { success } from '../../../support/releases.ts';
import { releaseStage } from '../../../support/release-stage.ts';
import { importCommits, newRepository, randomNumbers } from '../../../support/repository.ts';
import { teamHistory, teamPullRequests } from '../../../support/team-history.ts';

const PACKAGES = ['app', 'base', 'ui'];
const KEYS = /SHOP-\d+/g;
const [COMMITS, CANDIDATES] = process.env.DEEP_TESTS ? [90, 15] : [50, 10];
const configuration = {
  packagePaths: Object.fromEntries(PACKAGES.map((name) => [name, name])),
  workItems: { workItemFilters: ['SHOP-\\d+'] },
  // A domain for each package, so that what a place has of a work item is what the package has.
  domains: PACKAGES.map((name) => ({ name, packages: [name] })),
};

let app: TestApp;
withGitWorker(['git-v1', 'releases-v1'], (started) => {
  app = started;
});

test.each(process.env.DEEP_TESTS ? [2, 3] : [2])(
  'random history %i: a work item is in the versions whose changelogs have it, with as many commits',
  async (seed) => {
    const remote = newRepository();
    const { backMerges, commits } = teamHistory(remote, { commits: COMMITS, packages: PACKAGES, seed });
    const { repositoryIdentifier } = await mirrored(app, remote, { configuration });
    const random = randomNumbers(seed);
    const [pipeline, member] = [app.as(app.application), app.as(app.member)];
    await app.as(app.owner).post(201, '/api/environments', {
      repositoryIdentifier,
      name: 'uat',
      category: 'release',
      orchestrationOrder: 0,
    });

    const cut: { domain: string; releaseName: string; commitSha: string; changelog: Json }[] = [];
    const installed = new Map<string, string>();
    for (let made = 0; made < CANDIDATES; made++) {
      const domain = PACKAGES[random(PACKAGES.length)] ?? '';
      const releaseName = `r${made}`;
      const commitSha = commits[random(commits.length)] ?? '';
      const { id } = await pipeline.post(201, '/api/release-candidates', {
        repositoryIdentifier,
        domain,
        releaseName,
        commitSha,
        value: { artifacts: { [domain]: `1.${made}.0` } },
      });
      const path = `/api/release-candidates/${id}/compare-to-packages?includeChangelog=true`;
      const { changelog } = await member.post(200, path, { packages: {} });
      cut.push({ domain, releaseName, commitSha, changelog });
      if (random(2) === 0) continue;
      const report = success(repositoryIdentifier, releaseName, 'uat', {
        domain,
        deployedAt: new Date(Date.UTC(2026, 0, 1 + made)).toISOString(),
      });
      await pipeline.post(200, '/api/release-candidates/release-event', report);
      installed.set(domain, releaseName);
    }

    const model = attributionModel(remote, { keyPattern: KEYS, pullRequestsIn: teamPullRequests, backMerges });
    const ends = new Set([remote.git(['rev-parse', 'main']), ...cut.map(({ commitSha }) => commitSha)]);
    const sides = PACKAGES.flatMap((name) => [...ends].map((end) => ({ name, ...model(null, end, [name]) })));
    const messages = new Map(commits.map((sha) => [sha, remote.git(['log', '-1', '--format=%B', sha])]));
    const keys = new Set([...messages.values()].flatMap((message) => message.match(KEYS) ?? []));
    const seen = { byMergeAlone: 0, inSome: 0 };
    for (const key of keys) {
      const query = new URLSearchParams({ repositoryIdentifier }).toString();
      const item = await member.get(200, `/api/releases/work-items/${key}?${query}`);
      const naming = commits.filter((sha) => messages.get(sha)?.match(KEYS)?.includes(key));
      const requests = new Set(naming.flatMap((sha) => teamPullRequests(messages.get(sha) ?? '')));
      const changes = new Map<string, Set<string>>();
      for (const { name, commitsOf, requestsOf } of sides) {
        for (const sha of commitsOf.get(key) ?? []) changes.set(name, (changes.get(name) ?? new Set()).add(sha));
        for (const number of requestsOf.get(key) ?? []) requests.add(number);
      }
      const inChangelog = ({ changelog }: Json): number =>
        changelog.workItems.find((each: Json) => each.key === key)?.totalCommits ?? 0;
      const expected = [...changes].map(([domain, own]) => {
        const running = cut.find(({ releaseName }) => releaseName === installed.get(domain));
        return {
          domain,
          candidates: cut
            .filter((each) => each.domain === domain && inChangelog(each) > 0)
            .map((each) => [each.releaseName, inChangelog(each), own.size])
            .toReversed(),
          uat: [running ? inChangelog(running) : 0, own.size],
        };
      });
      const shown = item.domains.map(({ domain, candidates, environments: [uat] }: Json) => ({
        domain,
        candidates: candidates.map(({ releaseName, present, total }: Json) => [releaseName, present, total]),
        uat: [uat.present, uat.total],
      }));
      expect({ key, domains: shown }).toEqual({
        key,
        domains: expected.toSorted((a, b) => (a.domain < b.domain ? -1 : 1)),
      });
      const counted = new Set([...changes.values()].flatMap((own) => [...own]));
      expect(item.totalCommits).toBe(new Set([...naming, ...counted]).size);
      for (const { sha, packages } of item.commits)
        expect([key, sha, packages]).toEqual([key, sha, PACKAGES.filter((name) => changes.get(name)?.has(sha))]);
      expect([key, item.pullRequests]).toEqual([key, [...requests].toSorted((a, b) => a - b)]);
      if ([...counted].some((sha) => !naming.includes(sha))) seen.byMergeAlone++;
      if (expected.some(({ candidates }) => candidates.length > 0)) seen.inSome++;
    }
    expect(seen.inSome).toBeGreaterThan(3);
    expect(seen.byMergeAlone).toBeGreaterThan(0);
  },
);

test('a commit that names nothing counts through the merge that brought it in, and a back-merge adds nothing', async () => {
  const { remote, project, cut, deploy, get } = await releaseStage(app);
  await cut('r1', { app: '1.0.0', lib: '1.0.0' }, { message: 'SHOP-1: start' });
  const from = remote.git(['rev-parse', 'main']);
  remote.commit({ branch: 'work', from, message: 'SHOP-9: one side', files: { 'app/work': '1' } });
  const onMain = remote.commit({ message: 'SHOP-2: beside it', files: { 'lib/a': '2' } });
  remote.commit({
    branch: 'work',
    message: "Merge branch 'main' into feature/SHOP-9",
    merge: [onMain],
    files: { 'lib/a': '2' },
  });
  const sibling = remote.commit({ branch: 'work', message: 'The other side', files: { 'lib/work': '1' } });
  remote.commit({
    message: 'Merge pull request #12 from acme/feature/SHOP-9',
    merge: [sibling],
    files: { 'app/work': '1', 'lib/work': '1' },
  });
  await cut('r2', { app: '1.1.0', lib: '1.1.0' }, { message: 'Version 1.1.0' });
  await deploy('r1', 'uat');
  const item = await get('/api/releases/work-items/SHOP-9');
  expect(item.pullRequests).toEqual([12]);
  expect(
    item.commits.flatMap(({ message, packages }: Json) => (packages.length > 0 ? [[message, packages]] : [])),
  ).toEqual([
    ['The other side', ['lib']],
    ['SHOP-9: one side', ['app']],
  ]);
  expect(item.domains).toMatchObject([
    {
      packages: ['app', 'lib'],
      candidates: [{ releaseName: 'r2', presence: 'all', present: 2, total: 2, isNew: true }],
      environments: [
        { name: 'uat', presence: 'none' },
        { name: 'prod', presence: 'none' },
      ],
    },
  ]);
  await deploy('r2', 'uat', { packages: { lib: '1.1.0' } });
  const query = new URLSearchParams({ repositoryIdentifier: project.repositoryIdentifier }).toString();
  const { domains } = await app.as(app.member).get(200, `/api/releases/work-items/SHOP-9?${query}`);
  expect(domains[0].environments[0]).toMatchObject({ presence: 'some', present: 1, releaseName: null });
});

test('all commits of a work item count, however few are listed', async () => {
  const remote = newRepository();
  importCommits(
    remote,
    Array.from({ length: 450 }, (_, index) => ({
      message: `SHOP-5: step ${index}`,
      time: 1_700_000_000 + index * 60,
      files: { [`${index < 10 ? 'base' : 'app'}/a`]: `${index}` },
    })),
  );
  const { repositoryIdentifier } = await mirrored(app, remote, { configuration });
  const query = new URLSearchParams({ repositoryIdentifier }).toString();
  await app.as(app.application).post(201, '/api/release-candidates', {
    repositoryIdentifier,
    domain: 'app',
    releaseName: 'r1',
    commitSha: remote.git(['rev-parse', 'main~40']),
    value: { artifacts: { app: '1.0.0' } },
  });
  const item = await app.as(app.member).get(200, `/api/releases/work-items/SHOP-5?${query}`);
  expect(item).toMatchObject({ totalCommits: 450, isTruncated: true });
  expect(item.commits).toHaveLength(200);
  expect(item.domains).toMatchObject([
    { domain: 'app', candidates: [{ presence: 'some', present: 400, total: 440 }] },
    { domain: 'base', packages: ['base'], candidates: [] },
  ]);
});

test('a work item that was cherry-picked is complete where it is, and one of which a part is missing is not', async () => {
  const stage = await releaseStage(app);
  const { remote, project, get, deploy } = stage;
  const release = async (releaseName: string, branch: string) => {
    await project.fetch();
    await app.as(app.application).post(201, '/api/release-candidates', {
      repositoryIdentifier: project.repositoryIdentifier,
      domain: 'core',
      releaseName,
      commitSha: remote.tip(branch),
      branch,
      value: { artifacts: { app: `1.${releaseName}`, lib: `1.${releaseName}` } },
    });
    await deploy(releaseName, branch === 'main' ? 'uat' : 'prod');
  };
  const fix = (branch: string, message: string, name: string, content = 'fix') =>
    remote.commit({ branch, message, files: { [`${name}/fix`]: content } });
  const start = remote.git(['rev-parse', 'main']);
  for (const name of ['app', 'lib']) fix('main', `SHOP-7: fix ${name} (#12)`, name);
  remote.commit({ branch: 'hotfix', from: start, message: 'Another change', files: { 'app/other': '1' } });
  // Picked as git does: of another author's moment it is the same fix all the same.
  for (const name of ['app', 'lib']) fix('hotfix', `SHOP-7: fix ${name} (#13)`, name);
  fix('hotfix', 'SHOP-8: first part', 'app', '1');
  const first = remote.tip('hotfix') ?? '';
  fix('main', 'SHOP-8: first part', 'app', '1');
  fix('main', 'SHOP-8: second part', 'lib', '2');
  await release('2.0', 'main');
  await release('1.1', 'hotfix');
  const presence = async (key: string) => {
    const { domains, missingDomains } = await get(`/api/releases/work-items/${key}`);
    return [domains[0].environments.map((each: Json) => [each.name, each.presence]), missingDomains];
  };
  const everywhere = [
    ['uat', 'all'],
    ['prod', 'all'],
  ];
  expect(await presence('SHOP-7')).toEqual([everywhere, []]);
  const { domains } = await get('/api/releases/work-items/SHOP-7');
  expect(domains[0].environments).toMatchObject([
    { present: 2, total: 4, releaseName: '2.0', arrivedAt: expect.any(String) },
    { present: 2, total: 4, releaseName: '1.1', arrivedAt: expect.any(String) },
  ]);
  expect(domains[0].candidates).toMatchObject([{ presence: 'all' }, { presence: 'all' }]);
  expect(await presence('SHOP-8')).toEqual([
    [
      ['uat', 'all'],
      ['prod', 'some'],
    ],
    ['core'],
  ]);

  // Merged back, main has both commits of a fix; a pick keeps its author and moment, by which it is known to be the same.
  const picked = remote.git(
    ['fast-import', '--quiet', '--force'],
    `commit refs/heads/picked\nauthor Dana <dana@example.com> 1767230000 +0000\ncommitter Dana <dana@example.com> 1767230060 +0000\ndata 14\nSHOP-9: urgent\nfrom ${first}\nM 100644 inline lib/urgent\ndata 1\n1\n` +
      `\ncommit refs/heads/original\nauthor Dana <dana@example.com> 1767230000 +0000\ncommitter Dana <dana@example.com> 1767230120 +0000\ndata 14\nSHOP-9: urgent\nfrom ${remote.tip('main')}\nM 100644 inline lib/urgent\ndata 1\n1\n`,
  );
  expect(picked).toBe('');
  const [onHotfix, onMain] = [remote.git(['rev-parse', 'picked']), remote.git(['rev-parse', 'original'])];
  remote.git(['update-ref', 'refs/heads/hotfix', onHotfix]);
  remote.git(['update-ref', 'refs/heads/main', onMain]);
  remote.commit({ message: 'Merge the hotfix', merge: [onHotfix], files: { 'app/merged': '1' } });
  await release('2.1', 'main');
  await release('1.2', 'hotfix');
  expect(await presence('SHOP-9')).toEqual([everywhere, []]);
});
