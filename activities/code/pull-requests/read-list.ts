import type { HostFailure } from '../../../domain/code/git-hosts/git-host.port.ts';
import type { PullRequestHost } from '../../../domain/code/pull-requests/pull-request-host.port.ts';
import { recordPullRequests, recordReviews } from '../../../domain/code/pull-requests/pull-requests.mutations.ts';
import type { PullRequestReport } from '../../../domain/code/pull-requests/pull-request-rules.ts';
import {
  type beginRefresh,
  lastChange,
  noteFailedRefresh,
  noteRefreshed,
  planNextRefresh,
  removeVanished,
} from '../../../domain/code/pull-requests/refresh.queries.ts';
import { noteReviewsRead, unreadReviews } from '../../../domain/code/pull-requests/pull-request-details.queries.ts';
import {
  listQuestion,
  refreshAfterMs,
  type RefreshState,
  retryAfterMs,
  WITHOUT_CREDENTIAL_MS,
} from '../../../domain/code/pull-requests/refresh-rules.ts';
import type { UnitOfWork } from '../../../domain/unit-of-work.ts';
import type { RefreshReport } from '../../../workflows/code/pull-requests/pull-requests.contract.ts';

type Begun = NonNullable<Awaited<ReturnType<typeof beginRefresh>>>;

export interface ReadingParts {
  tx: UnitOfWork;
  now: () => Date;
  signal: AbortSignal;
}

/** Pull requests of one transaction: bounds its time, and what is repeated after a crash. */
const CHUNK = 200;
/** Each is a call to the host; the others are read the next time. */
const REVIEWS_AT_ONCE = 100;
/** For what a hook wrote while the list was read, whatever the clocks. */
const MARGIN_MS = 60_000;

/** Reads what changed at the host since the last time, and records it. @param host undefined: there is no credential. */
export async function readList(
  parts: ReadingParts,
  begun: Begun,
  host: PullRequestHost | undefined,
): Promise<Omit<RefreshReport, 'compared'>> {
  const { tx, now, signal } = parts;
  const { project } = begun;
  if (!host) {
    const error = `There is no credential for ${project.platform}`;
    await tx((work) => noteFailedRefresh(work, project.id, { error, afterMs: WITHOUT_CREDENTIAL_MS }));
    return { outcome: 'none', listed: 0 };
  }
  const failed = async ({ reason, isTransient, retryAfterMs: limitMs }: HostFailure) => {
    const afterMs = retryAfterMs(begun.failures, limitMs);
    await tx((work) => noteFailedRefresh(work, project.id, { error: reason, afterMs }));
    const isNewsForPeople = !isTransient && reason !== begun.error;
    return { outcome: 'failed', listed: 0, reason, isNewsForPeople } as const;
  };
  const startedAt = now();
  const { since, ...question } = listQuestion(stateOf(begun), startedAt);
  const answer = await host.list({
    repository: project.identifier,
    since: since.toISOString(),
    ...question,
    signal,
  });
  if (!answer.isOk) return failed(answer);
  const list = answer.value;
  if (list) await recordList(parts, begun, list.reports);
  const failure = await readReviews(parts, begun, host);
  if (failure) return failed(failure);
  await tx(async (work) => {
    if (list && question.withAllOpen && !list.isCut)
      await removeVanished(work, project.id, {
        open: list.reports.filter(({ state }) => state === 'open').map(({ number }) => number),
        readSince: new Date(startedAt.getTime() - MARGIN_MS),
      });
    await noteRefreshed(work, project.id, {
      refreshedAt: startedAt,
      allOpenAt: list && question.withAllOpen ? startedAt : null,
      readUntil: list?.readUntil ?? null,
      // A list that was cut is read in any case.
      etag: list ? (list.isCut ? null : list.etag) : question.etag,
    });
    const afterMs = refreshAfterMs(await lastChange(work, project.id), now());
    await planNextRefresh(work, project.id, { afterMs, isMoreDue: false });
  });
  return { outcome: list ? 'refreshed' : 'unchanged', listed: list?.reports.length ?? 0 };
}

const dateOf = (text: string | null): Date | null => (text === null ? null : new Date(text));
const stateOf = ({ refreshedAt, allOpenAt, readUntil, etag }: Begun): RefreshState => ({
  refreshedAt: dateOf(refreshedAt),
  allOpenAt: dateOf(allOpenAt),
  readUntil: dateOf(readUntil),
  etag,
});

async function recordList({ tx }: ReadingParts, { project }: Begun, reports: readonly PullRequestReport[]) {
  const inOrder = reports.toSorted((a, b) => a.number - b.number);
  for (let at = 0; at < inOrder.length; at += CHUNK) {
    const news = inOrder.slice(at, at + CHUNK).map((report) => ({ report, given: {} }));
    await tx((work) => recordPullRequests(work, project, news, { isFromList: true }));
  }
}

/**
 * Reads reviews where the list lacks them: on host-a of those that nobody is asked to review any more, as the others are
 * in review anyway; on host-c of those with reviewers, to see who has reviewed.
 */
async function readReviews(
  { tx, signal }: ReadingParts,
  { project }: Begun,
  host: PullRequestHost,
): Promise<HostFailure | undefined> {
  if (!host.reviews) return undefined;
  const ofRequested = project.platform === 'host-c';
  const unread = await tx((work) => unreadReviews(work, project.id, { ofRequested, limit: REVIEWS_AT_ONCE }));
  for (const { number, changedAt } of unread) {
    signal.throwIfAborted();
    const answer = await host.reviews({ repository: project.identifier, number });
    if (!answer.isOk && answer.isTransient) return answer;
    // The host has removed it, or hides it: others are read all the same.
    await tx((work) =>
      answer.isOk
        ? recordReviews(work, project, { number, changedAt, reviews: answer.value })
        : noteReviewsRead(work, project.id, { number, changedAt }),
    );
  }
  return undefined;
}
