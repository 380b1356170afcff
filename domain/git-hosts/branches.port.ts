import type { Remote } from '../git/git-mirrors.port.ts';

export interface BranchOrder {
  remote: Remote;
  branch: string;
  /** Tag, branch or commit at which the branch begins. */
  sourceRef: string;
}

export type CreatedBranch = { isOk: true; commitId: string } | { isOk: false; reason: string };

/** Creates a branch on a remote; one that is there already at that commit is well, at another is not. */
export type CreateBranch = (order: BranchOrder, signal: AbortSignal) => Promise<CreatedBranch>;
