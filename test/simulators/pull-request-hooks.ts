import { randomUUID } from 'node:crypto';
import type { components } from '@octokit/openapi-types';
import definitions from '@octokit/webhooks-examples' with { type: 'json' };
import type { Json } from '../support/client.ts';
import type { Host, HostHook } from './host-hooks.ts';

/** A pull request as a host has it at one time. */
export interface SimulatedPullRequest {
  repository: string;
  number: number;
  title?: string;
  state?: 'open' | 'closed' | 'merged';
  isDraft?: boolean;
  author?: string;
  branch?: string;
  baseBranch?: string;
  headSha?: string;
  mergeCommitSha?: string | null;
  labels?: string[];
  /** Who was asked and has not reviewed yet. */
  requested?: string[];
  /** Who has reviewed, with what came of it. */
  reviewed?: Record<string, 'approved' | 'changes_requested'>;
  openedAt?: Date;
  /** The last change. */
  at?: Date;
}

/** Bodies of hooks that GitHub has published, by the names of their events. */
export const EXAMPLES = definitions as unknown as { name: string; examples: Json[] }[];
const bodyOf = (name: string, action: string): Json =>
  structuredClone(EXAMPLES.find((each) => each.name === name)?.examples.find((each) => each.action === action));
/** Hosts show whole seconds. */
export const seconds = (at: Date): string => `${at.toISOString().slice(0, 19)}Z`;

export const withDefaults = (given: SimulatedPullRequest): Required<SimulatedPullRequest> => {
  const at = given.at ?? new Date();
  return {
    title: 'A change',
    state: 'open',
    isDraft: false,
    author: 'dana',
    branch: `change-${given.number}`,
    baseBranch: 'main',
    headSha: String(given.number % 10).repeat(40),
    mergeCommitSha: null,
    labels: [],
    requested: [],
    reviewed: {},
    openedAt: at,
    at,
    ...given,
  };
};

type PullRequestA = components['schemas']['pull-request'];
type UserA = PullRequestA['user'];

const user = (login: string, like: UserA): UserA => ({
  ...like,
  login,
  html_url: `https://github.com/${login}`,
  avatar_url: `https://avatars.example/${login}`,
});

/** A pull request as GitHub's hooks and lists show it, made from a published example. */
export function gitHubPullRequest(given: SimulatedPullRequest): PullRequestA {
  const request = withDefaults(given);
  const like = bodyOf('pull_request', 'opened').pull_request as PullRequestA;
  const isEnded = request.state !== 'open';
  const end = isEnded ? seconds(request.at) : null;
  return {
    ...like,
    number: request.number,
    title: request.title,
    html_url: `https://github.com/${request.repository}/pull/${request.number}`,
    state: isEnded ? 'closed' : 'open',
    draft: request.isDraft,
    merged: request.state === 'merged',
    merged_at: request.state === 'merged' ? end : null,
    closed_at: end,
    merge_commit_sha: request.mergeCommitSha ?? 'e'.repeat(40),
    user: user(request.author, like.user),
    head: { ...like.head, ref: request.branch, sha: request.headSha },
    base: { ...like.base, ref: request.baseBranch },
    labels: request.labels.map((name, index) => ({
      id: index,
      node_id: `label-${index}`,
      url: `https://api.github.com/repos/${request.repository}/labels/${index}`,
      name,
      color: 'd73a4a',
      description: 'Something',
      default: false,
    })),
    requested_reviewers: request.requested.map((name) => user(name, like.user)),
    requested_teams: [],
    created_at: seconds(request.openedAt),
    updated_at: seconds(request.at),
  };
}

/** A pull request as Azure DevOps' hooks and lists show it. */
export function azurePullRequest(given: SimulatedPullRequest): Json {
  const request = withDefaults(given);
  const [organization = '', project = '', name = ''] = request.repository.split('/');
  const person = (uniqueName: string) => ({
    id: randomUUID(),
    displayName: uniqueName,
    uniqueName,
    imageUrl: `https://dev.azure.com/${organization}/_api/_common/identityImage?id=${uniqueName}`,
  });
  const vote = (uniqueName: string, value: number) => ({ ...person(uniqueName), vote: value, isContainer: false });
  return {
    repository: {
      id: randomUUID(),
      name,
      project: { name: project },
      remoteUrl: `https://${organization}@dev.azure.com/${organization}/${project}/_git/${name}`,
    },
    pullRequestId: request.number,
    status: { open: 'active', closed: 'abandoned', merged: 'completed' }[request.state],
    createdBy: person(request.author),
    creationDate: request.openedAt.toISOString(),
    ...(request.state !== 'open' && { closedDate: request.at.toISOString() }),
    title: request.title,
    sourceRefName: `refs/heads/${request.branch}`,
    targetRefName: `refs/heads/${request.baseBranch}`,
    isDraft: request.isDraft,
    lastMergeSourceCommit: { commitId: request.headSha },
    lastMergeCommit: { commitId: request.mergeCommitSha ?? 'e'.repeat(40) },
    reviewers: [
      ...request.requested.map((each) => vote(each, 0)),
      ...Object.entries(request.reviewed).map(([each, state]) => vote(each, state === 'approved' ? 10 : -10)),
    ],
    labels: request.labels.map((label) => ({ id: randomUUID(), name: label, active: true })),
  };
}

const gitLabUser = (username: string) => ({
  id: [...username].reduce((sum, character) => sum * 31 + (character.codePointAt(0) ?? 0), 7) % 1_000_003,
  name: username,
  username,
  avatar_url: `https://avatars.example/${username}`,
});
const GITLAB_STATES = { open: 'opened', closed: 'closed', merged: 'merged' } as const;

/** A merge request as GitLab's REST interface lists it, with details of labels. */
export function gitLabMergeRequest(given: SimulatedPullRequest): Json {
  const request = withDefaults(given);
  const end = request.at.toISOString();
  return {
    iid: request.number,
    title: request.title,
    web_url: `https://gitlab.com/${request.repository}/-/merge_requests/${request.number}`,
    state: GITLAB_STATES[request.state],
    draft: request.isDraft,
    author: gitLabUser(request.author),
    source_branch: request.branch,
    target_branch: request.baseBranch,
    sha: request.headSha,
    merge_commit_sha: request.mergeCommitSha,
    labels: request.labels.map((name) => ({ name, description: 'Something', color: '#d73a4a' })),
    reviewers: [...request.requested, ...Object.keys(request.reviewed)].map((each) => ({
      ...gitLabUser(each),
      state: 'active',
    })),
    created_at: request.openedAt.toISOString(),
    updated_at: end,
    merged_at: request.state === 'merged' ? end : null,
    closed_at: request.state === 'closed' ? end : null,
  };
}

/** A hook about a pull request, as GitHub, Azure DevOps and GitLab publish it. */
export function pullRequestHook(host: Host, given: SimulatedPullRequest, actor?: string): HostHook {
  const request = withDefaults(given);
  switch (host) {
    case 'host-a': {
      const action = request.state === 'open' ? 'opened' : 'closed';
      const body = bodyOf('pull_request', action);
      return {
        host,
        headers: { 'x-github-event': 'pull_request', 'x-github-delivery': randomUUID() },
        body: {
          ...body,
          number: request.number,
          pull_request: gitHubPullRequest(given),
          repository: { ...body.repository, full_name: request.repository },
        },
      };
    }
    case 'host-b':
      return {
        host,
        headers: {},
        body: {
          id: randomUUID(),
          eventType: 'git.pullrequest.updated',
          publisherId: 'tfs',
          resource: azurePullRequest(given),
          resourceVersion: '1.0',
          createdDate: request.at.toISOString(),
        },
      };
    case 'host-c': {
      const {
        web_url: url,
        sha,
        labels,
        author: _,
        reviewers: __,
        merged_at: ___,
        ...attributes
      } = gitLabMergeRequest(given);
      const action = { open: 'update', closed: 'close', merged: 'merge' }[request.state];
      const reviewer = (username: string, state: string) => ({ ...gitLabUser(username), state, re_requested: false });
      return {
        host,
        headers: { 'x-gitlab-event': 'Merge Request Hook', 'idempotency-key': randomUUID() },
        body: {
          object_kind: 'merge_request',
          event_type: 'merge_request',
          user: gitLabUser(actor ?? request.author),
          project: { id: 1, path_with_namespace: request.repository },
          object_attributes: {
            ...attributes,
            url,
            action,
            author_id: gitLabUser(request.author).id,
            last_commit: { id: sha },
          },
          labels: labels.map(({ name, ...more }: Json) => ({ ...more, title: name })),
          reviewers: [
            ...request.requested.map((each) => reviewer(each, 'unreviewed')),
            ...Object.entries(request.reviewed).map(([each, state]) =>
              reviewer(each, state === 'approved' ? 'approved' : 'requested_changes'),
            ),
          ],
        },
      };
    }
  }
}

/** A review as GitHub's REST interface lists it. */
export const gitHubReview = (login: string, state: string, at: Date): components['schemas']['pull-request-review'] => {
  const like = bodyOf('pull_request_review', 'submitted').review as components['schemas']['pull-request-review'];
  return { ...like, user: user(login, like.user as UserA), state, submitted_at: seconds(at) };
};

/** A hook about a review of GitHub. The reviewer is no longer among the requested. */
export function reviewHook(
  given: SimulatedPullRequest,
  {
    by,
    state,
    at = new Date(),
  }: { by: string; state: 'approved' | 'changes_requested' | 'commented' | 'dismissed'; at?: Date },
): HostHook {
  const body = bodyOf('pull_request_review', state === 'dismissed' ? 'dismissed' : 'submitted');
  return {
    host: 'host-a',
    headers: { 'x-github-event': 'pull_request_review', 'x-github-delivery': randomUUID() },
    body: {
      ...body,
      review: gitHubReview(by, state, at),
      pull_request: gitHubPullRequest(given),
      repository: { ...body.repository, full_name: given.repository },
    },
  };
}
