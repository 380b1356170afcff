import { attributionModel, type ExpectedSide } from '../../../support/attribution-model.ts';
import type { TestApp } from '../../../support/app.ts';
import { withGitWorker } from '../../../support/git-worker.ts';
import type { Json } from '../../../support/client.ts';
import { mirrored, type MirroredProject } from '../../../support/mirrored.ts';
import { importCommits, newRepository, randomNumbers, type TestRepository } from '../../../support/repository.ts';
import { teamHistory, teamPullRequests } from '../../../support/team-history.ts';

const PACKAGES = ['app', 'base', 'ui'];
const packagePaths = Object.fromEntries(PACKAGES.map((name) => [name, name]));
const configuration = { packagePaths, workItems: { workItemFilters: ['SHOP-\\d+'] } };

let app: TestApp;
withGitWorker(['git-v1'], (started) => {
  app = started;
});

const versionsAt = (place: number) => Object.fromEntries(PACKAGES.map((name) => [name, `1.${place}.0`]));

/** Tags the versions of all packages at some commits, and fetches. */
async function tagAll(remote: TestRepository, project: MirroredProject, commits: readonly string[]): Promise<void> {
  remote.tag(
    Object.fromEntries(
      commits.flatMap((sha, place) => PACKAGES.map((name) => [`${name}_v1.${place}.0`, sha] as const)),
    ),
  );
  await project.fetch();
}

/** The changelog from one tagged commit to another, by their places; null: from nothing. */
async function changelogBetween(project: MirroredProject, from: number | null, to: number): Promise<Json> {
  const { repositoryIdentifier } = project;
  const { id } = await app.as(app.application).post(201, '/api/release-candidates', {
    repositoryIdentifier,
    domain: 'core',
    releaseName: `r${from}-${to}`,
    commitSha: 'abcdef0',
    value: { artifacts: versionsAt(to) },
  });
  const { changelog } = await app
    .as(app.member)
    .post(200, `/api/release-candidates/${id}/compare-to-packages?includeChangelog=true`, {
      packages: from === null ? {} : versionsAt(from),
    });
  return changelog;
}

const numbers = (some: Iterable<number>) => [...some].toSorted((a, b) => a - b);
const sideOf = ({ commits, workItems, pullRequests }: ExpectedSide) => ({
  commits,
  totalCommits: commits.length,
  isTruncated: false,
  workItems: [...workItems].toSorted(),
  pullRequests: numbers(pullRequests),
});
const shown = ({ commits, workItems, pullRequests, ...side }: Json) => ({
  ...side,
  commits: commits.map(({ sha }: Json) => sha),
  workItems: workItems.toSorted(),
  pullRequests: numbers(pullRequests),
});
const NOTHING: ExpectedSide = {
  commits: [],
  workItems: new Set(),
  pullRequests: new Set(),
  commitsOf: new Map(),
  requestsOf: new Map(),
};

test.each(process.env.DEEP_TESTS ? [1, 2, 3] : [1])(
  'random history %i: both sides are what git lists, with what the merges on the way mention',
  async (seed) => {
    const remote = newRepository();
    const { backMerges, commits } = teamHistory(remote, { commits: 90, packages: PACKAGES, seed });
    const project = await mirrored(app, remote, { configuration });
    await tagAll(remote, project, commits);
    const model = attributionModel(remote, {
      keyPattern: /SHOP-\d+/g,
      pullRequestsIn: teamPullRequests,
      backMerges,
    });
    const random = randomNumbers(seed);
    const seen = { diverged: 0, onBothSides: 0, byMergeAlone: 0 };
    for (let round = 0; round < 12; round++) {
      const [from, to] = [random(8) === 0 ? null : random(commits.length), random(commits.length)];
      if (from === to) continue;
      const [begin, end] = [from === null ? null : (commits[from] ?? ''), commits[to] ?? ''];
      const changelog = await changelogBetween(project, from, to);
      const expected = PACKAGES.map((name) => ({
        name,
        added: model(begin, end, [name]),
        removed: begin === null ? NOTHING : model(end, begin, [name]),
      }));
      for (const { name, added, removed } of expected) {
        const actual = changelog.packages.find((each: Json) => each.packageName === name);
        expect({ round, name, added: shown(actual.added), removed: shown(actual.removed) }).toEqual({
          round,
          name,
          added: sideOf(added),
          removed: sideOf(removed),
        });
        expect(actual.commits).toEqual(from !== null && from > to ? actual.removed.commits : actual.added.commits);
      }
      const keysOf = (side: 'added' | 'removed') => new Set(expected.flatMap((each) => [...each[side].workItems]));
      const [added, removed] = [keysOf('added'), keysOf('removed')];
      const lost = expected.map((each) => [...each.removed.workItems].filter((key) => !each.added.workItems.has(key)));
      const gone = [...new Set(lost.flat())].toSorted();
      expect(changelog.summary.added.workItems).toEqual([...added].toSorted());
      expect(changelog.summary.removed.workItems).toEqual([...removed].toSorted());
      expect(
        changelog.noLongerIncluded.workItems.map(({ key, packages, commits: shas }: Json) => [
          key,
          packages,
          shas.toSorted(),
        ]),
      ).toEqual(
        gone.map((key) => {
          const losing = expected.filter((_, place) => lost[place]?.includes(key));
          return [
            key,
            losing.map(({ name }) => name),
            [...new Set(losing.flatMap((each) => [...(each.removed.commitsOf.get(key) ?? [])]))].toSorted(),
          ];
        }),
      );
      const isDowngrade = from !== null && from > to;
      for (const { key, totalCommits, commits: shas } of changelog.workItems) {
        const counted = new Set(
          expected.flatMap((each) => [...((isDowngrade ? each.removed : each.added).commitsOf.get(key) ?? [])]),
        );
        expect([key, totalCommits, shas.toSorted()]).toEqual([key, counted.size, [...counted].toSorted()]);
      }
      if (added.size > 0 && removed.size > 0) seen.diverged++;
      if (gone.length < removed.size) seen.onBothSides++;
      if (changelog.workItems.some(({ commits: shas }: Json) => shas.length > 1)) seen.byMergeAlone++;
    }
    expect(seen.diverged + seen.byMergeAlone).toBeGreaterThan(0);
  },
);

/** A line of work: two commits on a branch, one to each of two packages, that name nothing. */
function work(remote: TestRepository, branch: string): string {
  const from = remote.tip('main') ?? null;
  remote.commit({ branch, from, message: 'A step', files: { [`app/${branch}`]: '1' } });
  return remote.commit({ branch, message: 'Another step', files: { [`ui/${branch}`]: '1' } });
}

const MERGES = [
  ['host-a', 'Merge pull request #12 from acme/work\n\nSHOP-7: a title'],
  ['host-a by branch', 'Merge pull request #12 from acme/SHOP-7-work\n\nA title'],
  ['host-b', 'Merged PR 12: SHOP-7 a title\n\nRelated work items: #7'],
  ['host-c of one vendor', 'Merged in SHOP-7-work (pull request #12)\n\nA title\n\nApproved-by: Dana'],
  ['host-c of another', "Merge branch 'SHOP-7-work' into 'main'\n\nA title\n\nSee merge request acme/crm/shop!12"],
] as const;

test.each(MERGES)(
  '%s: what only the merge names counts for the packages of its commits, and no others',
  async (_, message) => {
    const remote = newRepository();
    const begin = remote.commit({ message: 'Start', files: { 'app/a': '1', 'base/a': '1', 'ui/a': '1' } });
    const tip = work(remote, 'work');
    remote.commit({ message: 'SHOP-1: beside it', files: { 'base/a': '2' } });
    const end = remote.commit({ message, merge: [tip], files: { 'app/work': '1', 'ui/work': '1' } });
    const project = await mirrored(app, remote, { configuration });
    await tagAll(remote, project, [begin, end]);
    const { packages, workItems, pullRequests } = await changelogBetween(project, 0, 1);
    const keys = packages.map((each: Json) => [each.packageName, each.added.workItems, each.added.pullRequests]);
    expect(keys).toEqual([
      ['app', ['SHOP-7'], [12]],
      ['base', ['SHOP-1'], []],
      ['ui', ['SHOP-7'], [12]],
    ]);
    expect(pullRequests).toEqual([12]);
    expect(workItems.map(({ key, totalCommits }: Json) => [key, totalCommits])).toEqual([
      ['SHOP-1', 1],
      ['SHOP-7', 2],
    ]);
  },
);

const SQUASHES = [
  ['host-a', 'SHOP-7: a title (#12)\n\n* A step\n* Another step'],
  ['host-b', 'Merged PR 12: SHOP-7 a title'],
  ['host-c of one vendor', 'SHOP-7 a title (pull request #12)'],
  ['host-c of another', 'A title\n\nSHOP-7\n\nSee merge request acme/crm/shop!12'],
] as const;

test.each(SQUASHES)('%s: what a squash names counts for the packages that it touches', async (_, message) => {
  const remote = newRepository();
  const begin = remote.commit({ message: 'Start', files: { 'app/a': '1', 'base/a': '1', 'ui/a': '1' } });
  const end = remote.commit({ message, files: { 'app/work': '1', 'ui/work': '1' } });
  const project = await mirrored(app, remote, { configuration });
  await tagAll(remote, project, [begin, end]);
  const { packages } = await changelogBetween(project, 0, 1);
  expect(packages.map(({ added }: Json) => [added.workItems, added.pullRequests])).toEqual([
    [['SHOP-7'], [12]],
    [[], []],
    [['SHOP-7'], [12]],
  ]);
});

test('rebased work is known by its own messages, and by a merge on top of it where the host makes one', async () => {
  const remote = newRepository();
  const begin = remote.commit({ message: 'Start', files: { 'app/a': '1', 'base/a': '1', 'ui/a': '1' } });
  remote.commit({ message: 'SHOP-3: rebased', files: { 'app/a': '2' } });
  const before = remote.commit({ message: 'Rebased, too', files: { 'ui/a': '2' } });
  const tip = work(remote, 'work');
  // A merge that could have been a fast-forward.
  const end = remote.commit({
    message: 'Merged PR 12: SHOP-7',
    merge: [tip],
    files: { 'app/work': '1', 'ui/work': '1' },
  });
  const project = await mirrored(app, remote, { configuration });
  await tagAll(remote, project, [begin, before, end]);
  const keysOf = ({ packages }: Json) =>
    Object.fromEntries(packages.map((each: Json) => [each.packageName, each.added.workItems]));
  expect(keysOf(await changelogBetween(project, 0, 1))).toEqual({ app: ['SHOP-3'], base: [], ui: [] });
  expect(keysOf(await changelogBetween(project, 0, 2))).toEqual({
    app: ['SHOP-7', 'SHOP-3'],
    base: [],
    ui: ['SHOP-7'],
  });
});

test('a branch that took in the main line lends its merge to its own commits alone, and to none of the main line', async () => {
  const remote = newRepository();
  const begin = remote.commit({ message: 'Start', files: { 'app/a': '1', 'base/a': '1', 'ui/a': '1' } });
  work(remote, 'work');
  const onMain = remote.commit({ message: 'SHOP-1 (#3)', files: { 'base/a': '2' } });
  const back = remote.commit({ branch: 'work', message: 'SHOP-7 keeps up', merge: [onMain], files: { 'base/a': '2' } });
  const end = remote.commit({
    message: 'Merged PR 12: SHOP-9',
    merge: [back],
    files: { 'app/work': '1', 'ui/work': '1' },
  });
  const project = await mirrored(app, remote, { configuration });
  await tagAll(remote, project, [begin, back, end]);
  const keysOf = ({ packages }: Json) => packages.map(({ added }: Json) => [added.workItems, added.pullRequests]);
  expect(keysOf(await changelogBetween(project, 0, 1))).toEqual([
    [[], []],
    [['SHOP-1'], [3]],
    [[], []],
  ]);
  expect(keysOf(await changelogBetween(project, 0, 2))).toEqual([
    [['SHOP-9'], [12]],
    [['SHOP-1'], [3]],
    [['SHOP-9'], [12]],
  ]);
});

test('of more commits than are listed, totals, work items and pull requests are those of all, on both sides', async () => {
  const remote = newRepository();
  const commits = Array.from({ length: 700 }, (_, index) => ({
    message: `SHOP-${index}: a change (#${index})`,
    time: 1_700_000_000 + index * 60,
    files: { 'app/a': `${index}` },
  }));
  importCommits(remote, commits);
  const [begin, end] = [remote.git(['rev-parse', 'main~650']), remote.git(['rev-parse', 'main'])];
  const project = await mirrored(app, remote, { configuration });
  await tagAll(remote, project, [begin, end]);
  const keys = new Set(commits.slice(50).map((_, index) => `SHOP-${index + 50}`));
  const check = (side: Json) => {
    expect(side).toMatchObject({ totalCommits: 650, isTruncated: true });
    expect(side.commits).toHaveLength(500);
    expect(new Set(side.workItems)).toEqual(keys);
    expect(side.pullRequests).toHaveLength(650);
  };
  const upgrade = await changelogBetween(project, 0, 1);
  check(upgrade.packages[0].added);
  check(upgrade.packages[0]);
  expect(upgrade.workItems).toHaveLength(650);
  expect(upgrade.summary).toMatchObject({ totalCommits: 650, totalWorkItems: 650, removed: { totalCommits: 0 } });
  const downgrade = await changelogBetween(project, 1, 0);
  check(downgrade.packages[0].removed);
  expect(downgrade.packages[0].added).toMatchObject({ totalCommits: 0, commits: [], workItems: [] });
  expect(downgrade.noLongerIncluded.workItems).toHaveLength(650);
  expect(downgrade.noLongerIncluded.workItems[0]).toMatchObject({ key: 'SHOP-100', totalCommits: 1 });
});
