import { candidateOf, cherryPickOf, environmentOf, hotfixOf } from '../../../console/delivery/hotfix/hotfix-rules.ts';

type Changelog = NonNullable<Parameters<typeof hotfixOf>[0]['changelog']>;
type Packages = Changelog['packages'];
type Comparison = Parameters<typeof hotfixOf>[0]['comparison'];

/** Packages that the candidate would update. */
const updates = (...names: string[]) =>
  ({
    packagesToInstall: [],
    packagesToUpdate: names.map((name) => ({ name, versions: { from: '2', to: '1' } })),
  }) as unknown as Comparison;

const commit = (sha: string, hour: number, isMerge = false) => ({
  sha,
  message: sha,
  authorName: 'Dana',
  authorEmail: 'dana@example.com',
  authoredAt: `2026-03-02T0${hour}:00:00.000Z`,
  committedAt: `2026-03-02T0${hour}:00:00.000Z`,
  isMerge,
  workItems: [],
  pullRequests: [],
});
type Commits = ReturnType<typeof commit>[];
const side = (commits: Commits, isTruncated = false) => ({
  commits,
  totalCommits: commits.length,
  isTruncated,
  workItems: [],
  pullRequests: [],
});
const changed = (packageName: string, added: Commits, removed: Commits, more: object = {}) =>
  ({
    packageName,
    direction: 'upgrade',
    fromVersion: '1',
    toVersion: '2',
    added: side(added),
    removed: side(removed),
    ...more,
  }) as unknown as Packages[number];
const summaryOf = (count: number) => ({
  totalCommits: count,
  totalWorkItems: 0,
  totalPullRequests: 0,
  workItems: [],
  pullRequests: [],
});
const compared = (
  packages: Packages,
  { removed = 0, lost = [] as string[], missing = [] as string[], repository = {} } = {},
) => ({
  comparison: updates(...packages.map(({ packageName }) => packageName)),
  changelog: {
    packages,
    summary: { added: summaryOf(0), removed: summaryOf(removed) },
    noLongerIncluded: { workItems: lost.map((key) => ({ key })), pullRequests: [] },
    missingChangelogPackages: missing,
    repository: { isStale: false, error: null, ...repository },
  } as unknown as Changelog,
});

const [first, second, third] = [commit('a', 1), commit('b', 2), commit('c', 3)];
test.each([
  ['nothing differs', compared([]), 'hasAll'],
  ['only the candidate has more', compared([changed('app', [first], [])]), 'hasAll'],
  ['only the environment has more', compared([changed('app', [], [first])]), 'lacks'],
  ['a package goes back', compared([changed('app', [], [], { direction: 'downgrade' })]), 'lacks'],
  ['a work item is lost', compared([], { lost: ['P-1'] }), 'lacks'],
  ['commits are not known', compared([], { missing: ['app'] }), 'unknown'],
  ['the repository was not fetched lately', compared([], { repository: { isStale: true } }), 'unknown'],
  ['the repository cannot be fetched', compared([], { repository: { error: 'gone' } }), 'unknown'],
  [
    'it is old, and something is lacking',
    compared([changed('app', [], [first])], { repository: { isStale: true } }),
    'lacks',
  ],
  ['there is no changelog', { changelog: null, comparison: updates() }, 'unknown'],
])('the verdict where %s', (_, comparison, verdict) => expect(hotfixOf(comparison).verdict).toBe(verdict));

test('a commit of several packages stands once, in the order in which it was made', () => {
  const { carry, brings } = hotfixOf(
    compared([changed('app', [third, first], [second, first]), changed('core', [first], [third, first])]),
  );
  expect(carry.commits.map(({ sha, packages }) => [sha, packages])).toEqual([
    ['a', ['app', 'core']],
    ['b', ['app']],
    ['c', ['core']],
  ]);
  expect(brings.commits.map(({ sha }) => sha)).toEqual(['c', 'a']);
});

test('a package that goes back is marked', () =>
  expect(
    hotfixOf(compared([changed('app', [], [], { direction: 'downgrade' }), changed('lib', [], [])])).packages,
  ).toEqual([
    { name: 'app', installed: '2', offered: '1', goesBack: true },
    { name: 'lib', installed: '2', offered: '1', goesBack: false },
  ]));

test('more commits than are listed are counted', () =>
  expect(hotfixOf(compared([changed('app', [], [first])], { removed: 700 })).carry.total).toBe(700));

test('merges are not picked', () => {
  const whole = (...commits: Commits) => ({ commits, total: commits.length, isCut: false });
  expect(cherryPickOf(whole(first, commit('m', 2, true), third))).toBe('git cherry-pick -x a c');
  expect(cherryPickOf(whole(commit('m', 2, true)))).toBeUndefined();
  expect(cherryPickOf(whole())).toBeUndefined();
});

test('of a list that is cut nothing is picked', () => {
  expect(cherryPickOf({ commits: [first], total: 1, isCut: true })).toBeUndefined();
  expect(cherryPickOf({ commits: [first], total: 2, isCut: false })).toBeUndefined();
});

const environment = (name: string, category: 'release' | 'dev', isActive = true) => ({
  id: `id-${name}`,
  name,
  category,
  isActive,
});
const ENVIRONMENTS = [
  environment('dev', 'dev'),
  environment('uat', 'release'),
  environment('prod', 'release'),
  environment('old', 'release', false),
  environment('demo', 'dev'),
];
test.each([
  [undefined, 'prod'],
  ['uat', 'uat'],
  ['id-uat', 'uat'],
  ['gone', 'prod'],
])('the environment for %p is %s', (wanted, name) => expect(environmentOf(ENVIRONMENTS, wanted, [])?.name).toBe(name));
test('one in which a release runs is preferred', () =>
  expect(environmentOf(ENVIRONMENTS, undefined, [{ environment: 'uat' }, { environment: 'demo' }])?.name).toBe('uat'));
test('without release environments it is the last one', () => {
  expect(environmentOf(ENVIRONMENTS.slice(0, 1), undefined, [])?.name).toBe('dev');
  expect(environmentOf([], undefined, [])).toBeUndefined();
});

const offered = (id: string, more: object = {}) => ({
  id,
  releaseName: id,
  domain: 'core',
  status: 'pending',
  isIntermediate: false,
  hold: null,
  ...more,
});
const CANDIDATES = [
  offered('aborted', { status: 'aborted' }),
  offered('between', { isIntermediate: true }),
  offered('running'),
  offered('next'),
  offered('older'),
];
const RUNNING = { environmentName: 'prod', running: [{ environment: 'prod', domain: 'core', releaseName: 'running' }] };
test.each([
  [undefined, 'next'],
  ['older', 'older'],
  ['aborted', 'aborted'],
  ['gone', 'next'],
])('the candidate for %p is %s', (wanted, id) => expect(candidateOf(CANDIDATES, wanted, RUNNING)?.id).toBe(id));
test('where nothing is next, the newest is compared', () => {
  expect(candidateOf(CANDIDATES.slice(2, 3), undefined, RUNNING)?.id).toBe('running');
  expect(candidateOf([], undefined, RUNNING)).toBeUndefined();
});
