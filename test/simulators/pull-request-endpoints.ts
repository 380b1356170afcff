import { createHash } from 'node:crypto';
import type { components } from '@octokit/openapi-types';
import type { Json } from '../support/client.ts';
import type { Endpoint, Reply } from './host-server.ts';
import type { Host } from './host-hooks.ts';
import {
  azurePullRequest,
  gitHubPullRequest,
  gitHubReview,
  gitLabMergeRequest,
  type SimulatedPullRequest,
  withDefaults,
} from './pull-request-hooks.ts';

type Schemas = components['schemas'];

/** A pull request with what a host knows of it beside its list. */
export interface StoredPullRequest extends SimulatedPullRequest {
  reviews?: { by: string; state: string; at: Date }[];
  files?: { path: string; status: 'added' | 'removed' | 'modified' | 'renamed'; before?: string }[];
  ahead?: number;
  behind?: number;
}

/** By the last change, newest first. */
const ofRepository = (all: readonly StoredPullRequest[], repository: string): Required<SimulatedPullRequest>[] =>
  all
    .filter((each) => each.repository === decodeURIComponent(repository))
    .map(withDefaults)
    .toSorted((a, b) => b.at.getTime() - a.at.getTime() || b.number - a.number);
const pageOf = <Value>(values: readonly Value[], query: URLSearchParams): Value[] => {
  const size = Number(query.get('per_page') ?? 30);
  const page = Number(query.get('page') ?? 1);
  return size > 100 ? [] : values.slice((page - 1) * size, page * size);
};
const found = (all: readonly StoredPullRequest[], repository: string, number: string | undefined) =>
  all.find((each) => each.repository === decodeURIComponent(repository) && each.number === Number(number));
const notFound = (body: Json = { message: 'Not Found', status: '404' }): Reply => ({ status: 404, body });

/** Answers 304 for a list that is as it was. */
function conditional(body: unknown, ifNoneMatch: string | undefined): Reply {
  const etag = `W/"${createHash('sha256').update(JSON.stringify(body)).digest('hex')}"`;
  return ifNoneMatch === etag ? { status: 304, headers: { etag } } : { status: 200, body, headers: { etag } };
}

/** GitHub's `pull-request-simple`: what a list has of each. */
const listed = (given: SimulatedPullRequest): Schemas['pull-request-simple'] => {
  const {
    merged: _,
    mergeable: _1,
    rebaseable: _2,
    mergeable_state: _3,
    merged_by: _4,
    comments: _5,
    review_comments: _6,
    maintainer_can_modify: _7,
    commits: _8,
    additions: _9,
    deletions: _10,
    changed_files: _11,
    ...simple
  } = gitHubPullRequest(given);
  return simple as typeof simple & Schemas['pull-request-simple'];
};

const HOST_A = (pullRequests: readonly StoredPullRequest[]): Endpoint[] => [
  {
    method: 'GET',
    path: /^\/repos\/([^/]+\/[^/]+)\/pulls$/,
    handle({ query, headers }, [, repository = '']) {
      if (query.get('sort') !== 'updated' || query.get('direction') !== 'desc') return notFound();
      const all = ofRepository(pullRequests, repository).filter(
        ({ state }) => query.get('state') === 'all' || (query.get('state') === 'open') === (state === 'open'),
      );
      const body = pageOf(all, query).map(listed) satisfies Schemas['pull-request-simple'][];
      return conditional(body, headers['if-none-match']);
    },
  },
  {
    method: 'GET',
    path: /^\/repos\/([^/]+\/[^/]+)\/pulls\/(\d+)\/reviews$/,
    handle({ query }, [, repository = '', number]) {
      const request = found(pullRequests, repository, number);
      if (!request) return notFound();
      const body = (request.reviews ?? []).map(({ by, state, at }) =>
        gitHubReview(by, state.toUpperCase(), at),
      ) satisfies Schemas['pull-request-review'][];
      return { status: 200, body: pageOf(body, query) };
    },
  },
  {
    method: 'GET',
    path: /^\/repos\/([^/]+\/[^/]+)\/pulls\/(\d+)\/files$/,
    handle({ query }, [, repository = '', number]) {
      const files = found(pullRequests, repository, number)?.files;
      if (!files) return notFound();
      const body = files.map((file) => ({
        sha: 'f'.repeat(40),
        filename: file.path,
        status: file.status,
        additions: 1,
        deletions: 0,
        changes: 1,
        blob_url: '',
        raw_url: '',
        contents_url: '',
        ...(file.before !== undefined && { previous_filename: file.before }),
      })) satisfies Schemas['diff-entry'][];
      return { status: 200, body: pageOf(body, query) };
    },
  },
  {
    method: 'GET',
    path: /^\/repos\/([^/]+\/[^/]+)\/compare\/([^?]+)\.\.\.([0-9a-f]+)$/,
    handle(_, [, repository = '', , head]) {
      const request = pullRequests.find(
        (each) => each.repository === repository && withDefaults(each).headSha === head,
      );
      if (!request) return notFound();
      const { ahead = 0, behind = 0 } = request;
      const body = {
        status: 'diverged',
        ahead_by: ahead,
        behind_by: behind,
        total_commits: ahead,
        commits: [],
      } satisfies Pick<Schemas['commit-comparison'], 'status' | 'ahead_by' | 'behind_by' | 'total_commits' | 'commits'>;
      return { status: 200, body };
    },
  },
];

const HOST_B = (pullRequests: readonly StoredPullRequest[]): Endpoint[] => [
  {
    method: 'GET',
    path: /^\/([^/]+\/[^/]+)\/_apis\/git\/repositories\/([^/]+)\/pullrequests$/,
    handle({ query }, [, place, name]) {
      const [status, since] = [query.get('searchCriteria.status'), query.get('searchCriteria.minTime')];
      const isByEnd = query.get('searchCriteria.queryTimeRangeType') === 'closed';
      const all = ofRepository(pullRequests, `${place}/${name}`).filter(
        ({ state, at, openedAt }) =>
          (status === 'all' || (status === 'active') === (state === 'open')) &&
          (since === null ||
            (isByEnd ? state !== 'open' && at.toISOString() >= since : openedAt.toISOString() >= since)),
      );
      const [top, skip] = [Number(query.get('$top')), Number(query.get('$skip'))];
      const value = all.slice(skip, skip + top).map(azurePullRequest);
      return { status: 200, body: { value, count: value.length } };
    },
  },
  {
    method: 'GET',
    path: /^\/([^/]+\/[^/]+)\/_apis\/git\/repositories\/([^/]+)\/diffs\/commits$/,
    handle({ query }, [, place, name]) {
      const request = pullRequests.find(
        (each) =>
          each.repository === decodeURIComponent(`${place}/${name}`) &&
          withDefaults(each).headSha === query.get('targetVersion'),
      );
      if (!request) return notFound({ message: 'TF401175: The version descriptor could not be resolved' });
      const kinds = { added: 'add', removed: 'delete', modified: 'edit', renamed: 'edit, rename' };
      const changes = (request.files ?? []).flatMap(({ path: file, status, before }) => [
        { item: { path: `/${file}`, gitObjectType: 'blob' }, changeType: kinds[status] },
        ...(before === undefined ? [] : [{ item: { path: `/${before}` }, changeType: 'delete, sourceRename' }]),
      ]);
      const folder = { item: { path: '/', gitObjectType: 'tree', isFolder: true }, changeType: 'edit' };
      const { ahead = 0, behind = 0 } = request;
      return { status: 200, body: { aheadCount: ahead, behindCount: behind, changes: [folder, ...changes] } };
    },
  },
];

const HOST_C = (pullRequests: readonly StoredPullRequest[]): Endpoint[] => [
  {
    method: 'GET',
    path: /^\/projects\/([^/]+)\/merge_requests$/,
    handle({ query, headers }, [, project = '']) {
      if (query.get('scope') !== 'all' || query.get('order_by') !== 'updated_at') return notFound();
      const after = query.get('updated_after');
      const all = ofRepository(pullRequests, project).filter(
        ({ state, at }) =>
          (query.get('state') !== 'opened' || state === 'open') && (after === null || at.toISOString() >= after),
      );
      return conditional(pageOf(all, query).map(gitLabMergeRequest), headers['if-none-match']);
    },
  },
  {
    method: 'GET',
    path: /^\/projects\/([^/]+)\/merge_requests\/(\d+)\/reviewers$/,
    handle(_, [, project = '', number]) {
      const request = found(pullRequests, project, number);
      if (!request) return notFound({ message: '404 Not found' });
      const { requested, reviewed } = withDefaults(request);
      const states = { approved: 'approved', changes_requested: 'requested_changes' };
      const body = [
        ...requested.map((username) => ({ user: { username }, state: 'unreviewed' })),
        ...Object.entries(reviewed).map(([username, state]) => ({ user: { username }, state: states[state] })),
      ];
      return { status: 200, body };
    },
  },
  {
    method: 'GET',
    path: /^\/projects\/([^/]+)\/merge_requests\/(\d+)\/diffs$/,
    handle({ query }, [, project = '', number]) {
      const files = found(pullRequests, project, number)?.files;
      if (!files) return notFound({ message: '404 Not found' });
      const body = files.map((file) => ({
        old_path: file.before ?? file.path,
        new_path: file.path,
        new_file: file.status === 'added',
        deleted_file: file.status === 'removed',
        renamed_file: file.status === 'renamed',
      }));
      return { status: 200, body: pageOf(body, query) };
    },
  },
  {
    method: 'GET',
    path: /^\/projects\/([^/]+)\/repository\/compare$/,
    handle({ query }, [, project = '']) {
      const isHead = (each: StoredPullRequest, side: string) => withDefaults(each).headSha === query.get(side);
      const own = pullRequests.filter((each) => each.repository === decodeURIComponent(project));
      const count = own.find((each) => isHead(each, 'to'))?.ahead ?? own.find((each) => isHead(each, 'from'))?.behind;
      if (count === undefined) return notFound({ message: '404 Ref Not Found' });
      return { status: 200, body: { commits: Array.from({ length: count }, (_, index) => ({ id: String(index) })) } };
    },
  },
];

/** What the hosts' published interfaces have of pull requests. @param all read with each request. */
export const pullRequestEndpoints = (all: readonly StoredPullRequest[]): Record<Host, Endpoint[]> => ({
  'host-a': HOST_A(all),
  'host-b': HOST_B(all),
  'host-c': HOST_C(all),
});
