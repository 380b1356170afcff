import { attribute, type Mention, mentionsOf, saysBackMerge } from '../../../../domain/code/git/attribution-rules.ts';
import { CommitGraph } from '../../../../domain/code/git/graph/commit-graph-rules.ts';
import { CommitMessages } from '../../../../domain/code/git/commit-messages.ts';
import { pullRequestsIn, workItemsIn } from '../../../../domain/projects/work-items/work-item-rules.ts';

test.each([
  ["Merge branch 'main' into feature/x", true],
  ["Merge branch 'main' into 'release/1'", true],
  ["Merge remote-tracking branch 'origin/main' into feature/x", true],
  ['Merged PR 12: Merge main into release/1', true],
  // A fork's main branch comes into ours.
  ["Merge branch 'main' into 'main'", undefined],
  ['Merge pull request #12 from alice/main', undefined],
  ["Merge branch 'main' of https://git.example.com/acme/shop", undefined],
  ["Merge branch 'main'", undefined],
  ['Merged in main (pull request #7)', undefined],
  ['Take in the main line', undefined],
  ['Merge 1629a9db344d68c4ded686039bb7d8364a29f47f into feature/x', undefined],
  ['Merged PR 12: SHOP-1 a title', undefined],
  ["Merge branch 'feature/main' into main", false],
  ["Merge branch 'feature/x'", false],
  ['Merge pull request #12 from acme/feature/x', false],
  ['Merged in feature/x (pull request #7)', false],
  ["Merge remote-tracking branch 'acme/main' into release/1", true],
  ["Merge remote-tracking branch 'acme/feature/main' into release/1", false],
])('%j says whether it is a back-merge: %p', (subject, expected) => {
  expect(saysBackMerge(subject, 'main')).toBe(expected);
});

test.each([
  ['Merge pull request #12 from acme/feature', '', [12]],
  ['SHOP-1: a title (#12)', '', [12]],
  ['Merged PR 12: A title', '', [12]],
  ['Merged in feature/x (pull request #12)', '', [12]],
  ['Pull request #12: SHOP-1 a title', 'Merge in SHOP/shop from feature/x to main', [12]],
  ["Merge branch 'feature' into 'main'", 'A title\n\nSee merge request group/sub/project!12', [12]],
  ['A title', 'See merge request project!12', [12]],
  ['A change that follows #12', 'Refers to pull request #13', []],
])('%j with %j names the pull requests %p', (subject, body, expected) => {
  expect(pullRequestsIn(subject, body)).toEqual(expected);
});

test('a line behind a long description names the pull request', () => {
  const body = `${'x'.repeat(10_001)}\n\nSee merge request group/project!7`;
  expect(pullRequestsIn("Merge branch 'feature' into 'main'", body)).toEqual([7]);
});

test('a message of many keys keeps them all', () => {
  const keys = Array.from({ length: 150 }, (_, index) => `SHOP-${index}`);
  expect(workItemsIn('', [() => keys])).toEqual(keys);
});

test.each([
  ['Merge pull request #45 from acme/develop', false],
  ["Merge branch 'develop' into main", false],
  ['Merged PR 45: SHOP-9 release', false],
  ["Merge branch 'develop' into feature/x", true],
])('of the default branch develop, %j on main is a back-merge: %p', (subject, expected) => {
  // 0 - 1 develop; 0 - 2 main, where 2 merges 1.
  const graph = new CommitGraph();
  for (const parents of [[], [0], [0, 1]]) graph.addCommit(parents, 0);
  const messages = new CommitMessages('develop');
  messages.add([[2, [], [], subject]]);
  const tips = new Map([
    ['develop', 1],
    ['main', 2],
  ]);
  expect(messages.withBranches(graph, tips).isBackMerge(2, 1)).toBe(expected);
});

/** Parents by commit, and the key that a commit names, if any. */
function keysOf(
  parents: readonly (readonly number[])[],
  keys: Record<number, string>,
  { from = null, to, backMerges = [] }: { from?: number | null; to: number; backMerges?: readonly number[] },
) {
  const attribution = attribute(
    {
      parentsOf: (commit) => parents[commit] ?? [],
      mentionOf: (commit): Mention | undefined =>
        keys[commit] === undefined ? undefined : { workItems: [keys[commit]], pullRequests: [] },
      isBackMerge: (merge) => backMerges.includes(merge),
    },
    from,
    to,
  );
  return (commit: number) => mentionsOf([commit], attribution).workItems;
}

test('what only a merge names counts for what it brought in, nested merges too, and for nothing else', () => {
  // 0 - 1 ------- 6 main; 0 - 2 - 5 - feature, which merged 4 (on 3), and 6 merges it.
  const parents = [[], [0], [0], [2], [3], [2, 4], [1, 5]];
  const keys = keysOf(parents, { 5: 'NESTED', 6: 'MERGE', 2: 'OWN' }, { to: 6 });
  expect([0, 1, 2, 3, 4, 5, 6].map(keys)).toEqual([
    [],
    [],
    ['OWN', 'MERGE'],
    ['NESTED', 'MERGE'],
    ['NESTED', 'MERGE'],
    ['NESTED', 'MERGE'],
    ['MERGE'],
  ]);
});

test('a merge of the main line into a branch brings nothing, before and after the branch is merged', () => {
  // 0 - 1 - 2 main with 2 merging 5; 3 on a branch; 4 takes 1 into it.
  const parents = [[], [0], [0], [2, 1], [3], [1, 4]];
  const keys = (to: number) => keysOf(parents, { 3: 'BACK', 5: 'MERGE' }, { to, backMerges: [3] });
  expect([1, 2, 3, 4].map(keys(5))).toEqual([[], ['MERGE'], ['BACK', 'MERGE'], ['MERGE']]);
  expect([1, 2, 3, 4].map(keys(4))).toEqual([[], [], ['BACK'], []]);
});

test('only commits of the range count, and ten thousand merges inside one another are walked', () => {
  const parents: number[][] = [[]];
  for (let depth = 1; depth <= 10_000; depth++) parents.push(depth === 1 ? [0] : [0, depth - 1]);
  const keys = keysOf(parents, { 10_000: 'ALL', 5_000: 'HALF' }, { to: 10_000 });
  expect([0, 1, 4_999, 5_000, 9_999].map((commit) => keys(commit).toSorted().join())).toEqual([
    '',
    'ALL,HALF',
    'ALL,HALF',
    'ALL,HALF',
    'ALL',
  ]);
  expect(keysOf([[], [0], [0], [1, 2]], { 3: 'MERGE' }, { from: 2, to: 3 })(2)).toEqual([]);
});
