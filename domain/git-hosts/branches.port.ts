export interface BranchOrder {
  /** As the project names it: https, ssh, or, where that is allowed, a folder. */
  remoteUrl: string;
  branch: string;
  /** Tag, branch or commit at which the branch begins. */
  sourceRef: string;
}

export type CreatedBranch = { isOk: true; commitId: string } | { isOk: false; reason: string };

/** Creates a branch on a remote; one that is there already at that commit is well, at another is not. */
export type CreateBranch = (order: BranchOrder, signal: AbortSignal) => Promise<CreatedBranch>;
