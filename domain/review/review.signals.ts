/** What the workflow of a pool of review orgs is named by, in its tenant. */
export interface ReviewPoolKey {
  poolId: string;
  poolTag: string;
  repositoryIdentifier: string;
}

/** What the workflow of an assignment of a review environment is named by, in its tenant. */
export interface ReviewAssignmentKey {
  assignmentId: string;
  repositoryIdentifier: string;
  /** What it is for: `pr 118`. */
  subject: string;
  /** The pool or environment. */
  target: string;
}

/** What the workflow of a browser session is named by, in its tenant. */
export interface BrowserSessionKey {
  sessionId: string;
  repositoryIdentifier: string;
  /** What it shows: `PR 12`, or the name of an environment. */
  subject: string;
}

declare module '../kernel/signals.port.ts' {
  interface Signals {
    /** The orgs or settings of a pool changed. */
    reviewPool: ReviewPoolKey;
    /** An assignment was made or changed. */
    reviewAssignment: ReviewAssignmentKey;
    /** A browser session was made or changed. */
    browserSession: BrowserSessionKey;
  }
}
