import { LRUCache } from 'lru-cache';
import type { Reads } from '../../../kernel/data/fenced-reads.ts';
import { graphCommits } from './commit-graph.queries.ts';
import { type BranchEvidence, descendsFrom } from './commit-graph-rules.ts';
import { commitNumbers } from '../commits.queries.ts';
import { mirrorState } from '../mirror/mirror.queries.ts';
import { branchTip } from '../mirror/refs.queries.ts';

/** What git says of a commit and a branch. */
export interface BranchFinding {
  evidence: BranchEvidence;
  /** When the copy was fetched that says so; null: there is none. */
  fetchedAt: string | null;
}

/** A number always means the same commit, so that an answer stays true. */
const descents = new LRUCache<string, boolean>({ max: 10_000 });

/** When a project's remote was last fetched with success; null: never, or it has none. */
export async function copyFetchedAt(reads: Reads, projectId: string): Promise<string | null> {
  const mirror = await mirrorState(reads, projectId);
  return mirror?.hasRemote ? mirror.fetchedAt : null;
}

/** Whether a commit is on a branch, as the repository was when it was last fetched. */
export async function branchFinding(
  reads: Reads,
  projectId: string,
  { branch, commitSha }: { branch: string; commitSha: string },
): Promise<BranchFinding> {
  const fetchedAt = await copyFetchedAt(reads, projectId);
  if (fetchedAt === null) return { evidence: 'no_copy', fetchedAt };
  const commit = (await commitNumbers(reads, projectId, [commitSha])).get(commitSha);
  if (commit === undefined) return { evidence: 'unverified', fetchedAt };
  const tip = await branchTip(reads, projectId, branch);
  const isOnBranch = tip !== undefined && (await descends(reads, projectId, commit, tip));
  return { evidence: isOnBranch ? 'on_branch' : 'not_on_branch', fetchedAt };
}

/** Whether one commit is another, or descends from it. */
async function descends(reads: Reads, projectId: string, ancestor: number, descendant: number): Promise<boolean> {
  if (ancestor >= descendant) return ancestor === descendant;
  const key = `${projectId}:${ancestor}:${descendant}`;
  const known = descents.get(key);
  if (known !== undefined) return known;
  const commits = await graphCommits(reads, projectId, ancestor, descendant);
  const parentsOf = (each: number) => commits[each - ancestor]?.parents ?? [];
  const found = descendsFrom(parentsOf, { ancestor, descendant });
  descents.set(key, found);
  return found;
}
