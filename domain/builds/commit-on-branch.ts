import type { Reads } from '../data/fenced-reads.ts';
import { commitNumbers, commitShas } from '../git/commits.queries.ts';
import type { History } from '../git/commit-graph-cache.ts';
import { branchTip } from '../git/refs.queries.ts';

/** A commit of a branch; what is unknown may not be fetched yet. */
export type CommitOnBranch =
  | { isKnown: true; commit: number; tip: number; sha: string }
  | { isKnown: false; member: 'branchName' | 'commitId'; why: string };

/** The commit of a build, on its branch. */
export async function commitOnBranch(
  reads: Reads,
  { projectId, graph }: History,
  branch: string,
  commitId: string,
): Promise<CommitOnBranch> {
  const tip = await branchTip(reads, projectId, branch);
  if (tip === undefined) return { isKnown: false, member: 'branchName', why: `The repository has no branch ${branch}` };
  const commit = (await commitNumbers(reads, projectId, [commitId])).get(commitId);
  const sha = commit === undefined ? undefined : (await commitShas(reads, projectId, [commit])).get(commit);
  if (commit === undefined || sha === undefined || !graph.isAncestor(commit, tip)) {
    return { isKnown: false, member: 'commitId', why: `${commitId} is not a commit of the branch ${branch}` };
  }
  return { isKnown: true, commit, tip, sha };
}
