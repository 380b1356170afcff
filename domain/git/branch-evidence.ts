import type { Reads } from '../data/fenced-reads.ts';
import { graphCommits } from './commit-graph.queries.ts';
import { type BranchEvidence, descendsFrom } from './commit-graph-rules.ts';
import { commitNumbers } from './commits.queries.ts';
import { mirrorState } from './mirror.queries.ts';
import { branchTip } from './refs.queries.ts';

/** Whether a commit is on a branch, as the repository was when it was last fetched. */
export async function branchEvidence(
  reads: Reads,
  projectId: string,
  { branch, commitSha }: { branch: string; commitSha: string },
): Promise<BranchEvidence> {
  const mirror = await mirrorState(reads, projectId);
  if (!mirror?.hasRemote || mirror.fetchedAt === null) return 'no_copy';
  const commit = (await commitNumbers(reads, projectId, [commitSha])).get(commitSha);
  if (commit === undefined) return 'unverified';
  const tip = await branchTip(reads, projectId, branch);
  if (tip === undefined || tip < commit) return 'not_on_branch';
  const commits = await graphCommits(reads, projectId, commit, tip);
  const parentsOf = (each: number) => commits[each - commit]?.parents ?? [];
  return descendsFrom(parentsOf, { ancestor: commit, descendant: tip }) ? 'on_branch' : 'not_on_branch';
}
