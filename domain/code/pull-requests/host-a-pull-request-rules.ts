import { shaOf, type UntrustedJson } from '../../kernel/json/untrusted-json-rules.ts';
import type { PullRequestReport, Reviews, ReviewState } from './pull-request-rules.ts';
import { labelsOf, namesOf, numberOf, TITLE_MAX } from './host-json-rules.ts';

/** A pull request of host-a (GitHub), from a hook or its REST interface; null when it is none. */
export function readPullRequestA(body: UntrustedJson): PullRequestReport | null {
  const number = numberOf(body.at('number'));
  const [openedAt, changedAt] = [body.at('created_at').dateTime(), body.at('updated_at').dateTime()];
  const [branch, baseBranch] = [body.at('head', 'ref').text(), body.at('base', 'ref').text()];
  if (number === null || openedAt === null || changedAt === null || branch === null || baseBranch === null) return null;
  const isMerged = body.at('merged').isTrue() || body.at('merged_at').dateTime() !== null;
  // Reviews of old servers come with a part of the pull request, which must not replace the whole.
  const isWhole = body.at('draft').isBoolean();
  return {
    number,
    title: body.at('title').text(TITLE_MAX) ?? '',
    url: body.at('html_url').link(),
    state: isMerged ? 'merged' : body.at('state').text() === 'closed' ? 'closed' : 'open',
    isDraft: body.at('draft').isTrue(),
    author: body.at('user', 'login').text(),
    authorAvatarUrl: body.at('user', 'avatar_url').link(),
    branch,
    baseBranch,
    headSha: shaOf(body.at('head', 'sha')),
    baseSha: shaOf(body.at('base', 'sha')),
    // While the pull request is open this is the commit of a trial merge.
    mergeCommitSha: isMerged ? shaOf(body.at('merge_commit_sha')) : null,
    labels: labelsOf(body.at('labels'), 'name'),
    requested: {
      users: namesOf(body.at('requested_reviewers'), 'login'),
      teams: namesOf(body.at('requested_teams'), 'slug'),
    },
    reviews: null,
    openedAt,
    endedAt: body.at('merged_at').dateTime() ?? body.at('closed_at').dateTime(),
    hostTime: isWhole ? changedAt : openedAt,
    changedAt,
  };
}

const STATES: Readonly<Record<string, ReviewState>> = {
  approved: 'approved',
  changes_requested: 'changes_requested',
  commented: 'commented',
  dismissed: 'dismissed',
};

/** Reviews of host-a, by the reviewers' names. Pending ones are seen by their authors alone. */
export function readReviewA(review: UntrustedJson): Reviews {
  const [name, state] = [review.at('user', 'login').text(), STATES[(review.at('state').text() ?? '').toLowerCase()]];
  return name === null || state === undefined
    ? {}
    : { [name.toLowerCase()]: { state, at: review.at('submitted_at').dateTime() } };
}
