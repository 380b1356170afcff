import type { Endpoint, Reply } from './host-server.ts';
import type { Host } from './host-hooks.ts';
import type { StoredPullRequest } from './pull-request-endpoints.ts';
import { azurePullRequest, gitHubPullRequest, gitLabMergeRequest, withDefaults } from './pull-request-hooks.ts';

const refused = (message: string, status: number): Reply => ({ status, body: { message } });
const branchOf = (ref: unknown): string => String(ref).replace(/^refs\/heads\//, '');

/** Pull requests by their branches: the filters of lists, and creation. One pair of branches has one that is open. */
export function branchPullRequests(all: StoredPullRequest[]): Record<Host, Endpoint[]> {
  const open = (repository: string, from: string, to: string): StoredPullRequest[] =>
    all
      .filter((each) => each.repository === repository)
      .filter((each) => {
        const { state, branch, baseBranch } = withDefaults(each);
        return state === 'open' && branch === from && baseBranch === to;
      });
  const create = (repository: string, [from, to, title]: readonly unknown[]): StoredPullRequest | undefined => {
    const branches = { branch: branchOf(from), baseBranch: branchOf(to) };
    if (open(repository, branches.branch, branches.baseBranch).length > 0) return undefined;
    const made = { repository, number: 500 + all.length, title: String(title), ...branches };
    all.push(made);
    return made;
  };
  return {
    // docs.github.com, "REST API endpoints for pull requests": `head` is `user:ref-name`.
    'host-a': [
      {
        method: 'GET',
        path: /^\/repos\/([^/]+\/[^/]+)\/pulls$/,
        handle({ query }, [, repository = '']) {
          const [owner, head] = (query.get('head') ?? '').split(':');
          if (head === undefined || owner !== repository.split('/')[0]) return undefined;
          return { status: 200, body: open(repository, head, query.get('base') ?? '').map(gitHubPullRequest) };
        },
      },
      {
        method: 'POST',
        path: /^\/repos\/([^/]+\/[^/]+)\/pulls$/,
        handle({ body }, [, repository = '']) {
          const made = create(repository, [body.head, body.base, body.title]);
          if (!made) return refused('Validation Failed', 422);
          return { status: 201, body: gitHubPullRequest(made) };
        },
      },
    ],
    // learn.microsoft.com, "Pull Requests - Create", api-version 7.1: whole names of refs.
    'host-b': [
      {
        method: 'GET',
        path: /^\/([^/]+\/[^/]+)\/_apis\/git\/repositories\/([^/]+)\/pullrequests$/,
        handle({ query }, [, place, name]) {
          const [from, to] = [query.get('searchCriteria.sourceRefName'), query.get('searchCriteria.targetRefName')];
          if (from === null || to === null) return undefined;
          const value = open(`${place}/${name}`, branchOf(from), branchOf(to)).map(azurePullRequest);
          return { status: 200, body: { value, count: value.length } };
        },
      },
      {
        method: 'POST',
        path: /^\/([^/]+\/[^/]+)\/_apis\/git\/repositories\/([^/]+)\/pullrequests$/,
        handle({ body }, [, place, name]) {
          if (![body.sourceRefName, body.targetRefName].every((ref) => String(ref).startsWith('refs/heads/')))
            return refused('TF401398: a ref is not valid', 400);
          const made = create(`${place}/${name}`, [body.sourceRefName, body.targetRefName, body.title]);
          if (!made) return refused('TF401179: An active pull request already exists', 409);
          return { status: 201, body: azurePullRequest(made) };
        },
      },
    ],
    // docs.gitlab.com, "Merge requests API".
    'host-c': [
      {
        method: 'GET',
        path: /^\/projects\/([^/]+)\/merge_requests$/,
        handle({ query }, [, project = '']) {
          const [from, to] = [query.get('source_branch'), query.get('target_branch')];
          if (from === null || to === null) return undefined;
          return { status: 200, body: open(decodeURIComponent(project), from, to).map(gitLabMergeRequest) };
        },
      },
      {
        method: 'POST',
        path: /^\/projects\/([^/]+)\/merge_requests$/,
        handle({ body }, [, project = '']) {
          const made = create(decodeURIComponent(project), [body.source_branch, body.target_branch, body.title]);
          if (!made) return refused('Another open merge request already exists for this source branch', 409);
          return { status: 201, body: gitLabMergeRequest(made) };
        },
      },
    ],
  };
}
