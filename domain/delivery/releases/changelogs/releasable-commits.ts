import { commitNumbers } from '../../../code/git/commits.queries.ts';
import { branchTips } from '../../../code/git/mirror/refs.queries.ts';
import type { ProjectFacts } from '../../../projects/projects/projects.queries.ts';
import type { CandidateRow } from '../../release-candidates/release-candidates.queries.ts';
import { inSteps } from '../../../kernel/queues/in-steps.ts';
import { matchesPattern } from '../../../kernel/text/pattern-rules.ts';
import type { Tx } from '../../../unit-of-work.ts';

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

/** The commits at which what can be released ends: the default and the configured branches, and candidates. */
export async function releaseEnds(
  tx: Tx,
  project: ProjectFacts,
  candidates: readonly CandidateRow[],
): Promise<number[]> {
  const patterns = [project.defaultBranch, ...(project.configuration.branches ?? [])];
  const tips = await inSteps(tipsOf(await branchTips(tx, project.id), patterns));
  const cut = await commitNumbers(
    tx,
    project.id,
    candidates.map(({ commitSha }) => commitSha),
  );
  return [...new Set([...tips, ...cut.values()])];
}
