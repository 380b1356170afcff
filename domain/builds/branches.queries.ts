import { commitNumbers, commitShas } from '../git/commits.queries.ts';
import type { History } from '../git/commit-graph-cache.ts';
import type { Tx } from '../unit-of-work.ts';

type Sql = Pick<Tx, 'sql' | 'tenantId'>;

export interface BranchRow {
  name: string;
  commitId: string;
  /** The database's text. */
  committedAt: string;
}

export const BRANCHES_MAX = 1_000;

/** Branches of a repository, those with the newest commits first. */
export const listBranches = ({ sql, tenantId }: Sql, projectId: string): Promise<BranchRow[]> =>
  sql(
    `select r.name, r.sha as "commitId", c.committed_at as "committedAt"
     from git_ref r join git_commit c on (c.tenant_id, c.project_id, c.sha) = (r.tenant_id, r.project_id, r.sha)
     where r.tenant_id = ? and r.project_id = ? and r.kind = 'branch' order by c.committed_at desc, r.name limit ${BRANCHES_MAX}`,
    [tenantId, projectId],
  );

/** The commit at which a branch is; undefined when there is no such branch. */
export async function branchTip({ sql, tenantId }: Sql, projectId: string, name: string): Promise<number | undefined> {
  const [row] = await sql<{ seq: number }>(
    `select c.seq from git_ref r join git_commit c on (c.tenant_id, c.project_id, c.sha) = (r.tenant_id, r.project_id, r.sha)
     where r.tenant_id = ? and r.project_id = ? and r.kind = 'branch' and r.name = ?`,
    [tenantId, projectId, name],
  );
  return row?.seq;
}

/** A commit of a branch; what is unknown may not be fetched yet. */
export type CommitOnBranch =
  | { isKnown: true; commit: number; tip: number; sha: string }
  | { isKnown: false; member: 'branchName' | 'commitId'; why: string };

/** The commit of a build, on its branch. */
export async function commitOnBranch(
  tx: Sql,
  { projectId, graph }: History,
  branch: string,
  commitId: string,
): Promise<CommitOnBranch> {
  const tip = await branchTip(tx, projectId, branch);
  if (tip === undefined) return { isKnown: false, member: 'branchName', why: `The repository has no branch ${branch}` };
  const commit = (await commitNumbers(tx, projectId, [commitId])).get(commitId);
  const sha = commit === undefined ? undefined : (await commitShas(tx, projectId, [commit])).get(commit);
  if (commit === undefined || sha === undefined || !graph.isAncestor(commit, tip)) {
    return { isKnown: false, member: 'commitId', why: `${commitId} is not a commit of the branch ${branch}` };
  }
  return { isKnown: true, commit, tip, sha };
}
