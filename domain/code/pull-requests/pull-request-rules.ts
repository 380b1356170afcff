export const PULL_REQUEST_STATES = ['open', 'closed', 'merged'] as const;
export type PullRequestState = (typeof PULL_REQUEST_STATES)[number];

export type ReviewState = 'approved' | 'changes_requested' | 'commented' | 'dismissed';

/** What somebody's review came to. */
export interface Review {
  state: ReviewState;
  /** ISO 8601; null: the host does not say. */
  at: string | null;
}
/** By the reviewer's name at the host, in lower case. */
export type Reviews = Readonly<Record<string, Review>>;

export interface Label {
  key: string;
  description: string | null;
  color: string | null;
}

/** Who was asked to review and has not done so. */
export interface Requested {
  users: string[];
  teams: string[];
}

/** What a hook, or a list, says of a pull request. */
export interface PullRequestNews {
  report: PullRequestReport;
  /** Reviews that count beside those that are known. */
  given: Reviews;
}

/** A pull request as a host showed it at one time: in a hook, or in a list. */
export interface PullRequestReport {
  number: number;
  title: string;
  url: string | null;
  state: PullRequestState;
  isDraft: boolean;
  /** Name at the host; null: this kind of hook does not say. */
  author: string | null;
  authorAvatarUrl: string | null;
  branch: string;
  baseBranch: string;
  headSha: string | null;
  baseSha: string | null;
  mergeCommitSha: string | null;
  /** Null: this kind of hook does not say. */
  labels: Label[] | null;
  requested: Requested;
  /** All reviews; null where the host gives them apart. */
  reviews: Reviews | null;
  /** ISO 8601, as all times. */
  openedAt: string;
  endedAt: string | null;
  /** By the host's clock; decides which of two reports counts. */
  hostTime: string;
  /** When it last changed, as far as the host says: the list of host-b has no more than when it was opened and ended. */
  changedAt: string;
}

/** What is known of a pull request: the report that counts, and where it is from. */
export interface KnownPullRequest extends PullRequestReport {
  labels: Label[];
  reviews: Reviews;
  /** Read from the host's list, which is not behind, instead of from a hook. */
  isFromList: boolean;
}

/** How far a pull request is: of hooks of the same second the one that is further counts. */
const PROGRESS: Record<PullRequestState, number> = { open: 0, closed: 1, merged: 2 };

/** Whether a report is to replace what is known. Reports in any order, and repeated, come to the same. */
export function supersedes(report: PullRequestReport, isFromList: boolean, known: KnownPullRequest): boolean {
  if (report.hostTime !== known.hostTime) return report.hostTime > known.hostTime;
  if (isFromList || known.isFromList) return isFromList;
  if (report.state !== known.state) return PROGRESS[report.state] > PROGRESS[known.state];
  return textOf(report) > textOf({ ...known, reviews: report.reviews && known.reviews });
}

/** Hosts count seconds: between hooks of the same one, any fixed order will do. */
const textOf = ({
  title,
  isDraft,
  baseBranch,
  headSha,
  labels,
  requested,
  reviews,
  mergeCommitSha,
}: PullRequestReport) =>
  JSON.stringify([
    headSha,
    mergeCommitSha,
    isDraft,
    requested,
    labels ?? [],
    reviews && Object.entries(reviews).toSorted(([a], [b]) => (a < b ? -1 : 1)),
    baseBranch,
    title,
  ]);

/** What is known after a report: all of the newer one, and what only the older one says. */
export function afterReport(
  report: PullRequestReport,
  isFromList: boolean,
  known: KnownPullRequest | undefined,
): KnownPullRequest {
  const own = { ...report, labels: report.labels ?? [], reviews: report.reviews ?? {}, isFromList };
  if (!known) return own;
  const isNewer = supersedes(report, isFromList, known);
  const [newer, older] = isNewer ? [report, known] : [known, report];
  const base = isNewer ? own : known;
  return {
    ...base,
    author: newer.author ?? older.author,
    authorAvatarUrl: newer.author === null ? older.authorAvatarUrl : newer.authorAvatarUrl,
    labels: newer.labels ?? older.labels ?? [],
    reviews: newer.reviews ?? older.reviews ?? {},
    endedAt: newer.endedAt ?? (newer.state === older.state ? older.endedAt : null),
    changedAt: report.changedAt > known.changedAt ? report.changedAt : known.changedAt,
  };
}

/** A comment replaces no decision; of decisions the last one counts. */
const WEIGHT: Record<ReviewState, number> = { commented: 0, changes_requested: 1, approved: 2, dismissed: 3 };

function isLaterReview(review: Review, known: Review): boolean {
  const [isDecision, wasDecision] = [WEIGHT[review.state] > 0, WEIGHT[known.state] > 0];
  if (isDecision !== wasDecision) return isDecision;
  const [at, before] = [review.at ?? '', known.at ?? ''];
  return at === before ? WEIGHT[review.state] > WEIGHT[known.state] : at > before;
}

/** Reviews with those of other reports, in whatever order they come. */
export function withReviews(known: Reviews, more: Reviews): Reviews {
  const reviews = new Map(Object.entries(known));
  for (const [name, review] of Object.entries(more)) {
    const before = reviews.get(name);
    if (!before || isLaterReview(review, before)) reviews.set(name, review);
  }
  return Object.fromEntries([...reviews].toSorted(([a], [b]) => (a < b ? -1 : 1)));
}

/** Whether somebody was asked to review it, or has done so. */
export const isInReview = ({ state, isDraft, requested, reviews }: KnownPullRequest): boolean =>
  state === 'open' && !isDraft && requested.users.length + requested.teams.length + Object.keys(reviews).length > 0;

/**
 * Names of those whose review is awaited, in lower case.
 * @param isRenewed the host takes those who have reviewed off its list, so that who is on it was asked again.
 */
export function awaited({ state, requested, reviews }: KnownPullRequest, isRenewed: boolean): string[] {
  if (state !== 'open') return [];
  const names = [...new Set(requested.users.map((name) => name.toLowerCase()))];
  return isRenewed ? names : names.filter((name) => !Object.hasOwn(reviews, name));
}

/** By it an author is found: hosts compare names in any case. */
export const nameKey = (name: string): string => name.toLowerCase();
