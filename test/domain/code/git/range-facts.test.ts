import { createRangeCache } from '../../../../domain/code/git/graph/range-cache.ts';
import type { History } from '../../../../domain/code/git/graph/commit-graph-cache.ts';
import { CommitGraph } from '../../../../domain/code/git/graph/commit-graph-rules.ts';
import { commitsOfRanges } from '../../../../domain/code/git/graph/range-facts.ts';
import { randomNumbers } from '../../../support/repository.ts';

const PACKAGES = [1, 2, 3];
const COMMITS = 60;

/** Merges of branches, changes from any of their parents, and clocks that may be wrong. */
function randomGraph(random: (below: number) => number): CommitGraph {
  const graph = new CommitGraph();
  const skew = random(2) * 4;
  for (let commit = 0; commit < COMMITS; commit++) {
    const first = commit - 1 - random(Math.min(commit, 3) + 1);
    const second = commit - 1 - random(Math.min(commit, 8) + 1);
    const isMerge = random(3) === 0 && first >= 0 && second >= 0 && first !== second;
    const parents = isMerge ? [first, second] : [first].filter((parent) => parent >= 0);
    graph.addCommit(parents, commit + random(2) + random(skew + 1));
    for (const packageNo of PACKAGES)
      if (random(3) === 0) graph.addChange(packageNo, commit, BigInt(1 + random(2 ** Math.max(1, parents.length) - 1)));
  }
  return graph;
}

test('the commits of ranges are those that a walk for each package lists', () => {
  const random = randomNumbers(7);
  const others: object[] = [];
  let listed = 0;
  for (let round = 0; round < 20; round++) {
    const graph = randomGraph(random);
    const commitsOf = commitsOfRanges({ graph, ranges: createRangeCache() } as unknown as History);
    for (let span = 0; span < 100; span++) {
      const [from, to] = [random(COMMITS), random(COMMITS)];
      for (const packageNo of PACKAGES) {
        const [commits, walked] = [commitsOf({ packageNo, from, to }), graph.log([packageNo], from, to)];
        if (commits.join() !== walked.join()) others.push({ packageNo, from, to, commits, walked });
        listed += commits.length;
      }
    }
  }
  expect(others).toEqual([]);
  expect(listed).toBeGreaterThan(1_000);
});
