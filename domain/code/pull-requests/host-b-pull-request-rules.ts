import { branchOfRef, shaOf, type UntrustedJson } from '../../kernel/json/untrusted-json-rules.ts';
import { labelsOf, numberOf, TITLE_MAX } from './host-json-rules.ts';
import type {
  PullRequestReport,
  PullRequestState,
  Requested,
  Review,
  Reviews,
  ReviewState,
} from './pull-request-rules.ts';

const STATES: Readonly<Record<string, PullRequestState>> = { active: 'open', completed: 'merged', abandoned: 'closed' };
/** Votes: 10 approved, 5 with suggestions, −5 waits for the author, −10 rejected, 0 none. */
const VOTES: Readonly<Record<number, ReviewState>> = {
  10: 'approved',
  5: 'approved',
  [-5]: 'changes_requested',
  [-10]: 'changes_requested',
};
const REVIEWERS_MAX = 100;

/**
 * A pull request of host-b (Azure DevOps), from a hook or its REST interface; null when it is none.
 * @param hostTime when the host showed it so: the pull request itself has no time of its last change.
 * @param webUrl of the repository.
 */
export function readPullRequestB(
  body: UntrustedJson,
  { hostTime, webUrl, isHook }: { hostTime: string; webUrl: string | null; isHook: boolean },
): PullRequestReport | null {
  const number = numberOf(body.at('pullRequestId'));
  const state = STATES[body.at('status').text() ?? ''];
  const openedAt = body.at('creationDate').dateTime();
  const branch = branchOfRef(body.at('sourceRefName').text());
  const baseBranch = branchOfRef(body.at('targetRefName').text());
  if (number === null || state === undefined || openedAt === null || branch === null || baseBranch === null)
    return null;
  const endedAt = state === 'open' ? null : body.at('closedDate').dateTime();
  const labels = body.at('labels');
  return {
    number,
    title: body.at('title').text(TITLE_MAX) ?? '',
    url: body.at('_links', 'web', 'href').link() ?? (webUrl === null ? null : `${webUrl}/pullrequest/${number}`),
    state,
    isDraft: body.at('isDraft').isTrue(),
    author: nameOf(body.at('createdBy')),
    authorAvatarUrl: body.at('createdBy', 'imageUrl').link(),
    branch,
    baseBranch,
    headSha: shaOf(body.at('lastMergeSourceCommit', 'commitId')),
    baseSha: shaOf(body.at('lastMergeTargetCommit', 'commitId')),
    mergeCommitSha: state === 'merged' ? shaOf(body.at('lastMergeCommit', 'commitId')) : null,
    labels: labelsOf(labels, 'name'),
    ...reviewersOf(body.at('reviewers')),
    openedAt,
    endedAt,
    hostTime,
    changedAt: isHook ? hostTime : (endedAt ?? openedAt),
  };
}

/** People sign in by their address; accounts of the host's own have none. */
const nameOf = (person: UntrustedJson): string | null => person.at('uniqueName').text(255) ?? person.at('id').text(255);

function reviewersOf(list: UntrustedJson): { requested: Requested; reviews: Reviews } {
  const requested: Requested = { users: [], teams: [] };
  const reviews = new Map<string, Review>();
  for (const reviewer of list.items(REVIEWERS_MAX)) {
    const name = nameOf(reviewer);
    if (name === null) continue;
    const state = VOTES[reviewer.at('vote').integer() ?? 0];
    if (reviewer.at('isContainer').isTrue()) requested.teams.push(reviewer.at('displayName').text(255) ?? name);
    else if (state === undefined) requested.users.push(name);
    else reviews.set(name.toLowerCase(), { state, at: null });
  }
  return { requested, reviews: Object.fromEntries(reviews) };
}
