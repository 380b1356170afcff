import { shaOf, type UntrustedJson } from '../../kernel/json/untrusted-json-rules.ts';
import { labelsOf, namesOf, numberOf, TITLE_MAX } from './host-json-rules.ts';
import type { Label, PullRequestReport, PullRequestState, Review, Reviews, ReviewState } from './pull-request-rules.ts';

// `locked`: it is being merged at this moment.
const STATES: Readonly<Record<string, PullRequestState>> = {
  opened: 'open',
  locked: 'open',
  closed: 'closed',
  merged: 'merged',
};
const REVIEWS: Readonly<Record<string, ReviewState>> = {
  approved: 'approved',
  requested_changes: 'changes_requested',
  reviewed: 'commented',
};
/** After these actions the time of the last change is that of the end. */
const ENDINGS = new Set(['merge', 'close']);

/** A merge request of host-c (GitLab) in its hook; null when it is none. The author shows only where the author acted. */
export function readMergeRequestHook(body: UntrustedJson): PullRequestReport | null {
  const request = body.at('object_attributes');
  const isByAuthor =
    request.at('author_id').integer() !== null && request.at('author_id').text() === body.at('user', 'id').text();
  const author = isByAuthor ? body.at('user', 'username').text(255) : null;
  const changedAt = request.at('updated_at').dateTime();
  const reviewers = body.at('reviewers');
  const isReviewed = reviewers.items().some((each) => each.at('state').text() !== null);
  const reviews = isReviewed ? reviewsOf(reviewers.items(), (each) => each) : null;
  return mergeRequest(request, {
    url: request.at('url').link(),
    headSha: shaOf(request.at('last_commit', 'id')),
    author,
    authorAvatarUrl: author === null ? null : body.at('user', 'avatar_url').link(),
    labels: labelsOf(body.at('labels').isList() ? body.at('labels') : request.at('labels'), 'title'),
    users: namesOf(reviewers, 'username').filter((name) => !reviews || !Object.hasOwn(reviews, name.toLowerCase())),
    reviews,
    endedAt: ENDINGS.has(request.at('action').text() ?? '') ? changedAt : null,
  });
}

/** A merge request of host-c from its REST interface; null when it is none. */
export const readMergeRequest = (request: UntrustedJson): PullRequestReport | null =>
  mergeRequest(request, {
    url: request.at('web_url').link(),
    headSha: shaOf(request.at('sha')),
    author: request.at('author', 'username').text(255),
    authorAvatarUrl: request.at('author', 'avatar_url').link(),
    // With details where these are asked for, otherwise names alone.
    labels: labelsOf(request.at('labels'), 'name'),
    users: namesOf(request.at('reviewers'), 'username'),
    reviews: null,
    endedAt: request.at('merged_at').dateTime() ?? request.at('closed_at').dateTime(),
  });

interface Differing extends Pick<PullRequestReport, 'url' | 'headSha' | 'author' | 'authorAvatarUrl' | 'endedAt'> {
  labels: Label[] | null;
  users: string[];
  reviews: Reviews | null;
}

function mergeRequest(request: UntrustedJson, { users, ...given }: Differing): PullRequestReport | null {
  const number = numberOf(request.at('iid'));
  const state = STATES[request.at('state').text() ?? ''];
  const [openedAt, changedAt] = [request.at('created_at').dateTime(), request.at('updated_at').dateTime()];
  const [branch, baseBranch] = [request.at('source_branch').text(), request.at('target_branch').text()];
  if (number === null || state === undefined || branch === null || baseBranch === null) return null;
  if (openedAt === null || changedAt === null) return null;
  return {
    number,
    title: request.at('title').text(TITLE_MAX) ?? '',
    state,
    isDraft: request.at('draft').isTrue() || request.at('work_in_progress').isTrue(),
    branch,
    baseBranch,
    baseSha: shaOf(request.at('diff_refs', 'base_sha')),
    mergeCommitSha: state === 'merged' ? shaOf(request.at('merge_commit_sha')) : null,
    requested: { users, teams: [] },
    openedAt,
    hostTime: changedAt,
    changedAt,
    ...given,
    endedAt: state === 'open' ? null : given.endedAt,
  };
}

/** Reviews by the reviewers' names. `personOf` gives the person of an entry. */
export function reviewsOf(list: readonly UntrustedJson[], personOf: (each: UntrustedJson) => UntrustedJson): Reviews {
  const reviews = new Map<string, Review>();
  for (const each of list) {
    const [name, state] = [personOf(each).at('username').text(255), REVIEWS[each.at('state').text() ?? '']];
    if (name !== null && state !== undefined) reviews.set(name.toLowerCase(), { state, at: null });
  }
  return Object.fromEntries(reviews);
}
