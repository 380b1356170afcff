import { CommitGraph } from '../../../../domain/code/git/graph/commit-graph-rules.ts';

test('a commit that is imported after the graph was read is not known to it', () => {
  const graph = new CommitGraph();
  graph.addCommit([], 1);
  expect([undefined, 0, 1].map((commit) => graph.known(commit))).toEqual([undefined, 0, undefined]);
  graph.addCommit([0], 2);
  expect(graph.known(1)).toBe(1);
});
