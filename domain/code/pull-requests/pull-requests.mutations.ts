import { isoOf } from '../../kernel/text/date-time-rules.ts';
import type { Tx } from '../../unit-of-work.ts';
import type { ProjectFacts } from '../../projects/projects/projects.queries.ts';
import {
  afterReport,
  awaited,
  isInReview,
  type KnownPullRequest,
  nameKey,
  type PullRequestNews,
  type Reviews,
  withReviews,
} from './pull-request-rules.ts';
import { noteHook } from './refresh.queries.ts';
import { noteReviewsRead } from './pull-request-details.queries.ts';
import { insertPullRequests, lockPullRequests, type ReportedRow, updatePullRequests } from './pull-requests.queries.ts';

/** The project that pull requests belong to. */
export type ProjectOfPullRequests = Pick<ProjectFacts, 'id' | 'platform'>;

/**
 * Records what a host says of pull requests, at most one report of each: of two reports of one pull request the later
 * by the host's clock counts, in whatever order they come.
 * @param isFromList read from the host's list instead of received as a hook.
 */
export async function recordPullRequests(
  tx: Tx,
  { id: projectId, platform }: ProjectOfPullRequests,
  news: readonly PullRequestNews[],
  { isFromList }: { isFromList: boolean },
): Promise<void> {
  if (news.length === 0) return;
  await record(tx, { id: projectId, platform }, news, isFromList);
  // Last, since all hooks of a project have this row in common.
  if (!isFromList) await noteHook(tx, projectId);
}

async function record(
  tx: Tx,
  { id: projectId, platform }: ProjectOfPullRequests,
  news: readonly PullRequestNews[],
  isFromList: boolean,
): Promise<void> {
  const rowOf = ({ report, given }: PullRequestNews, known?: ReportedRow): ReportedRow => {
    const after = afterReport(report, isFromList, known && knownOf(known));
    return rowWith({ ...after, reviews: withReviews(after.reviews, given) }, platform);
  };
  const toRecord = new Map(news.map((each) => [each.report.number, each]));
  const update = async () => {
    const rows = await lockPullRequests(tx, projectId, [...toRecord.keys()]);
    const changed = rows.flatMap((known) => {
      const each = toRecord.get(known.number);
      toRecord.delete(known.number);
      const row = each && rowOf(each, known);
      return row && JSON.stringify(row) !== JSON.stringify(rowWith(knownOf(known), platform)) ? [row] : [];
    });
    if (changed.length > 0) await updatePullRequests(tx, projectId, changed);
  };
  await update();
  if (toRecord.size === 0) return;
  const inOrder = [...toRecord.values()].toSorted((a, b) => a.report.number - b.report.number);
  for (const number of await insertPullRequests(
    tx,
    projectId,
    inOrder.map((each) => rowOf(each)),
  ))
    toRecord.delete(number);
  // Others that somebody else has added meanwhile.
  if (toRecord.size > 0) await update();
}

/**
 * Records the reviews of a pull request that were read from its host.
 * @param changedAt the last change before they were read.
 */
export async function recordReviews(
  tx: Tx,
  { id: projectId, platform }: ProjectOfPullRequests,
  { number, changedAt, reviews }: { number: number; changedAt: string; reviews: Reviews },
): Promise<void> {
  const [row] = await lockPullRequests(tx, projectId, [number]);
  if (!row) return;
  // Those of host-a are dated, so that hooks which came meanwhile count.
  const all = platform === 'host-a' ? withReviews(row.reviews, reviews) : reviews;
  await updatePullRequests(tx, projectId, [rowWith({ ...knownOf(row), reviews: all }, platform)]);
  await noteReviewsRead(tx, projectId, { number, changedAt });
}

/** Hosts whose list of requested reviewers loses people who have reviewed; on it again, they were asked again. */
const RENEWS_REQUESTS = new Set<ProjectFacts['platform']>(['host-a']);

const rowWith = (known: KnownPullRequest, platform: ProjectFacts['platform']): ReportedRow => ({
  number: known.number,
  title: known.title,
  url: known.url,
  state: known.state,
  isDraft: known.isDraft,
  author: known.author,
  authorKey: known.author === null ? null : nameKey(known.author),
  authorAvatarUrl: known.authorAvatarUrl,
  branch: known.branch,
  baseBranch: known.baseBranch,
  headSha: known.headSha,
  baseSha: known.baseSha,
  mergeCommitSha: known.mergeCommitSha,
  labels: known.labels,
  requested: known.requested,
  reviews: known.reviews,
  isInReview: isInReview(known),
  awaited: awaited(known, RENEWS_REQUESTS.has(platform)),
  openedAt: known.openedAt,
  endedAt: known.endedAt,
  hostTime: known.hostTime,
  isFromList: known.isFromList,
  changedAt: known.changedAt,
});

const knownOf = (row: ReportedRow): KnownPullRequest => ({
  ...row,
  openedAt: isoOf(row.openedAt),
  endedAt: row.endedAt && isoOf(row.endedAt),
  hostTime: isoOf(row.hostTime),
  changedAt: isoOf(row.changedAt),
});
