import type { History } from '../git/commit-graph-cache.ts';
import { commitNumbers } from '../git/commits.queries.ts';
import { branchTips } from '../git/refs.queries.ts';
import type { ProjectFacts } from '../projects/projects.queries.ts';
import type { CandidateRow } from '../release-candidates/release-candidates.queries.ts';
import { inSteps } from '../shared/in-steps.ts';
import { matchesPattern } from '../shared/pattern-rules.ts';
import type { Tx } from '../unit-of-work.ts';

/** Tips of the branches that match a pattern. Repositories may have many, with names that take long to compare. */
function* tipsOf(branches: Iterable<[string, number]>, patterns: readonly string[]): Generator<undefined, number[]> {
  const tips: number[] = [];
  for (const [name, commit] of branches) {
    if (patterns.some((pattern) => matchesPattern(pattern, name))) tips.push(commit);
    if (name.length > LONG_NAME) yield;
  }
  return tips;
}
const LONG_NAME = 100;

type DescendantsOf = (commit: number) => (other: number) => boolean;

/** Finds the descendants of each commit once. */
export function memoizedDescendants({ graph }: History): DescendantsOf {
  const found = new Map<number, (other: number) => boolean>();
  return (commit) => {
    const isDescendant = found.get(commit) ?? graph.descendantsOf(commit);
    found.set(commit, isDescendant);
    return isDescendant;
  };
}

/** Commits that a release can come from: those of the default and the configured branches, and those of candidates. */
export async function releasable(
  tx: Tx,
  project: ProjectFacts,
  candidates: readonly CandidateRow[],
  descendantsOf: DescendantsOf,
): Promise<(commit: number) => boolean> {
  const patterns = [project.defaultBranch, ...(project.configuration.branches ?? [])];
  const tips = await inSteps(tipsOf(await branchTips(tx, project.id), patterns));
  const cut = await commitNumbers(
    tx,
    project.id,
    candidates.map(({ commitSha }) => commitSha),
  );
  const ends = [...new Set([...tips, ...cut.values()])];
  return (commit) => ends.some(descendantsOf(commit));
}
