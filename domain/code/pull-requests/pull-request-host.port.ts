import type { HostAnswer, HostPlace } from '../git-hosts/git-host.port.ts';
import type { PullRequestReport, Reviews } from './pull-request-rules.ts';
import type { ChangedFiles } from './changed-files-rules.ts';

/** What a host lists. */
export interface PullRequestList {
  /** Pull requests that are open, where all of them were asked for, and the ones that changed or ended since. */
  reports: PullRequestReport[];
  /** There were too many to be read. */
  isCut: boolean;
  /** Changes until then are among them, by the host's clock; ISO 8601. Null: nothing was there. */
  readUntil: string | null;
  /** ETag by which the host answers that nothing has changed. */
  etag: string | null;
}

export interface ListOrder {
  repository: string;
  /** ISO 8601, by the host's clock. */
  since: string;
  /** Ask for all that are open, too, however long ago they changed. */
  withAllOpen: boolean;
  /** ETag of the list that was read before; null: read the list in any case. */
  etag: string | null;
  signal: AbortSignal;
}

/** A pull request whose changes the mirror does not have. */
export interface ComparisonOrder {
  repository: string;
  number: number;
  baseBranch: string;
  headSha: string;
}

export interface HostComparison {
  files: ChangedFiles;
  /** Commits; null: the host does not say. */
  ahead: number | null;
  behind: number | null;
}

/** What a git host knows of pull requests. Each call is bounded in time, and only reads. */
export interface PullRequestHost {
  /** Null: nothing has changed since the list of that `etag`. */
  list(order: ListOrder): Promise<HostAnswer<PullRequestList | null>>;
  /** Reviews of one, where lists lack them. */
  reviews?(order: { repository: string; number: number }): Promise<HostAnswer<Reviews>>;
  compare(order: ComparisonOrder): Promise<HostAnswer<HostComparison>>;
}

/** The host of a project with the tenant's credential for it; undefined without one. */
export type FindPullRequestHost = (place: HostPlace) => Promise<PullRequestHost | undefined>;
