import { attribute, type Mention } from '../../../../domain/code/git/attribution-rules.ts';
import { CommitGraph } from '../../../../domain/code/git/graph/commit-graph-rules.ts';
import { CHANGES_MAX, condensed, countedChanges } from '../../../../domain/code/git/graph/counted-changes-rules.ts';
import { randomNumbers } from '../../../support/repository.ts';

const PACKAGE = 1;
const KEY = 'SHOP-1';

/** Commits with up to three parents, of which some change the package, mention the work item or are back-merges. */
function randomHistory(seed: number, size: number) {
  const random = randomNumbers(seed);
  const graph = new CommitGraph();
  const mentions = new Map<number, Mention>();
  const backMerges = new Set<string>();
  for (let commit = 0; commit < size; commit++) {
    const wanted = commit === 0 || random(25) === 0 ? 0 : random(3) > 0 ? 1 : 2 + random(2);
    const parents = [...new Set(Array.from({ length: wanted }, () => Math.max(0, commit - 1 - random(6))))];
    graph.addCommit(parents, 1_700_000_000 + commit * 60);
    const all = (1n << BigInt(Math.max(1, parents.length))) - 1n;
    const bits = parents.length > 1 ? BigInt(random(8)) & all : random(2) === 0 ? 1n : 0n;
    if (bits > 0n) graph.addChange(PACKAGE, commit, bits);
    const workItems = random(6) === 0 ? [KEY] : [];
    const pullRequests = random(4) === 0 ? [commit] : [];
    if (workItems.length + pullRequests.length > 0) mentions.set(commit, { workItems, pullRequests });
    for (const parent of parents.slice(1)) if (random(5) === 0) backMerges.add(`${commit} ${parent}`);
  }
  return {
    graph,
    mentionOf: (commit: number) => mentions.get(commit),
    parentsOf: (commit: number) => graph.parentsOf(commit),
    isBackMerge: (merge: number, parent: number) => backMerges.has(`${merge} ${parent}`),
  };
}

test('up to each commit of a random history those changes count that its changelog lists and attributes', () => {
  const seen = { counting: 0, brought: 0 };
  const seeds = process.env.DEEP_TESTS ? 150 : 50;
  for (let seed = 1; seed <= seeds; seed++) {
    const { graph, ...history } = randomHistory(seed, 60);
    const isNaming = (commit: number) => history.mentionOf(commit)?.workItems.includes(KEY) ?? false;
    const all = Array.from({ length: graph.size }, (_, commit) => commit);
    const differs = (commit: number) => graph.differsFromAllParents(PACKAGE, commit);
    // Commits of other packages are looked at together with those of this one.
    const looked = all.filter((commit) => differs(commit) || commit % 3 === 0);
    const kept = condensed(history.parentsOf, graph.size, new Set(looked));
    for (let at = 0; at < looked.length; at += CHANGES_MAX) {
      const some = looked.slice(at, at + CHANGES_MAX);
      const sameParentOf = (merge: number) => graph.sameParentOf(PACKAGE, merge);
      const counted = countedChanges({ ...history, condensed: kept, isNaming }, some);
      const own = some.reduce((bits, commit, place) => (differs(commit) ? bits | (1 << place) : bits), 0);
      const countedUpTo = counted.inPackage({ own, sameParentOf });
      const changes = new Set(some.filter(differs));
      for (const end of all) {
        const attribution = attribute(history, null, end);
        const expected = graph
          .log([PACKAGE], null, end)
          .filter((commit) => changes.has(commit) && attribution(commit).workItems.includes(KEY));
        const bits = countedUpTo(end);
        const actual = some.filter((_, place) => ((bits >>> place) & 1) === 1);
        expect([seed, end, actual]).toEqual([seed, end, expected.toSorted((a, b) => a - b)]);
        const merges = [...counted.mergesUpTo([countedUpTo], [end])];
        const mentioned = [...merges, ...actual].flatMap((commit) => history.mentionOf(commit)?.pullRequests ?? []);
        const requests = new Set(expected.flatMap((commit) => attribution(commit).pullRequests));
        expect([seed, end, new Set(mentioned)]).toEqual([seed, end, requests]);
        seen.counting += actual.length;
        seen.brought += actual.filter((commit) => !isNaming(commit)).length;
      }
    }
  }
  expect(Math.min(seen.counting, seen.brought)).toBeGreaterThan(seeds * 6);
});
