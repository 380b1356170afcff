import type { components } from '@octokit/openapi-types';
import type { Json } from '../../support/client.ts';
import type { Endpoint, HostRequest, Reply } from '../host-server.ts';

type Schemas = components['schemas'];

export interface SimulatedIssue {
  repository: string;
  number: number;
  title: string;
  body: string | null;
  state: 'open' | 'closed';
  stateReason: 'completed' | 'reopened' | 'not_planned' | null;
  labels: string[];
  assignees: string[];
  author: string;
  type: string | null;
  milestone: string | null;
  parent: number | null;
  isPullRequest: boolean;
  comments: { id: number; body: string; author: string; at?: Date }[];
  createdAt: Date;
  updatedAt: Date;
}

const BODY_MAX = 65_536;
const TITLE_MAX = 256;
const LABELS_MAX = 100;
const DOCUMENTATION = 'https://docs.github.com/rest';

/** GitHub's issues with their comments and labels: REST interface, version 2022-11-28. */
export class GitHubIssues {
  readonly all: SimulatedIssue[] = [];
  /** Repositories whose issues are switched off. */
  readonly switchedOff = new Set<string>();
  /** Who may be assigned. */
  /** Callers without the right to push, whose labels are dropped. */
  readonly readers = new Set<string>();
  readonly people = new Set(['dana', 'ole', 'quayside-bot']);
  #made = 0;

  /** An issue that there is, or a pull request. */
  add(repository: string, given: Partial<SimulatedIssue> = {}): SimulatedIssue {
    const at = new Date(Date.UTC(2026, 0, 1) + this.all.length * 60_000);
    const issue: SimulatedIssue = {
      repository,
      number: this.all.filter((each) => each.repository === repository).length + 1,
      title: 'An issue',
      body: null,
      state: 'open',
      stateReason: null,
      labels: [],
      assignees: [],
      author: 'dana',
      type: null,
      milestone: null,
      parent: null,
      isPullRequest: false,
      comments: [],
      createdAt: at,
      updatedAt: at,
      ...given,
    };
    this.all.push(issue);
    return issue;
  }

  find = (repository: string, number: number): SimulatedIssue | undefined =>
    this.all.find((each) => each.repository === repository && each.number === number);

  endpoints(url: string): Endpoint[] {
    const at = (rest: string) => new RegExp(String.raw`^/repos/([^/]+/[^/]+)/issues${rest}$`);
    const one = (handle: (issue: SimulatedIssue, request: HostRequest, match: RegExpExecArray) => Reply) =>
      ((request, match) => {
        const issue = this.find(decodeURIComponent(match[1] ?? ''), Number(match[2]));
        return issue && handle(issue, request, match);
      }) satisfies Endpoint['handle'];
    return [
      { method: 'GET', path: /^\/user$/, handle: ({ caller }) => ({ status: 200, body: userOf(caller) }) },
      { method: 'GET', path: at(''), handle: (request, [, repository = '']) => this.#list(url, repository, request) },
      {
        method: 'POST',
        path: at(''),
        handle: (request, [, repository = '']) => this.#create(url, repository, request),
      },
      {
        method: 'GET',
        path: at(String.raw`/(\d+)`),
        handle: (request, match) =>
          this.switchedOff.has(match[1] ?? '')
            ? { status: 410, body: { message: 'Issues are disabled for this repo', documentation_url: DOCUMENTATION } }
            : one((issue) => ({ status: 200, body: shownIssue(url, issue) }))(request, match),
      },
      {
        method: 'PATCH',
        path: at(String.raw`/(\d+)`),
        handle: one((issue, request) => this.#change(url, issue, request)),
      },
      {
        method: 'GET',
        path: at(String.raw`/(\d+)/comments`),
        handle: one(({ repository, number, comments }, { query }) => ({
          status: 200,
          body: pageOf(
            comments.filter((comment) => (comment.at ?? new Date()) >= new Date(query.get('since') ?? 0)),
            query,
          ).map((comment) => shownComment(url, { repository, number }, comment)),
        })),
      },
      {
        method: 'POST',
        path: at(String.raw`/(\d+)/comments`),
        handle: one((issue, { body, caller }) => {
          if (!isText(body.body, BODY_MAX) || body.body === '') return invalid('IssueComment', 'body');
          const comment = { id: ++this.#made, body: body.body, author: caller, at: new Date() };
          issue.comments.push(comment);
          touch(issue);
          return { status: 201, body: shownComment(url, issue, comment) };
        }),
      },
      {
        method: 'PATCH',
        path: at(String.raw`/comments/(\d+)`),
        handle: ({ body, caller }, [, repository, id]) => {
          for (const issue of this.all.filter((each) => each.repository === repository)) {
            const comment = issue.comments.find((each) => each.id === Number(id));
            if (!comment) continue;
            if (this.readers.has(caller) && comment.author !== caller)
              return { status: 403, body: { message: 'Must have admin rights to Repository.' } };
            if (!isText(body.body, BODY_MAX)) return invalid('IssueComment', 'body');
            comment.body = body.body;
            return { status: 200, body: shownComment(url, issue, comment) };
          }
          return undefined;
        },
      },
      {
        method: 'POST',
        path: at(String.raw`/(\d+)/labels`),
        handle: one((issue, { body }) => {
          if (!areLabels(body.labels)) return invalid('Label', 'name');
          issue.labels = [...new Set([...issue.labels, ...body.labels])];
          touch(issue);
          return { status: 200, body: issue.labels.map((name) => shownLabel(url, name)) };
        }),
      },
      {
        method: 'DELETE',
        path: at(String.raw`/(\d+)/labels/([^/]+)`),
        handle: one((issue, _, [, , , encoded = '']) => {
          const name = decodeURIComponent(encoded);
          if (!issue.labels.includes(name)) return { status: 404, body: { message: 'Label does not exist' } };
          issue.labels = issue.labels.filter((label) => label !== name);
          return { status: 200, body: issue.labels.map((label) => shownLabel(url, label)) };
        }),
      },
    ];
  }

  #list(url: string, repository: string, { query }: HostRequest): Reply {
    const state = query.get('state') ?? 'open';
    const assignee = query.get('assignee');
    const labels = query.get('labels')?.split(',') ?? [];
    if (!['open', 'closed', 'all'].includes(state)) return invalid('Issue', 'state');
    if (assignee !== null && !this.people.has(assignee) && assignee !== 'none' && assignee !== '*')
      return invalid('Issue', 'assignee');
    const found = this.all
      .filter(
        (issue) =>
          issue.repository === repository &&
          (state === 'all' || issue.state === state) &&
          (assignee === null ||
            (assignee === 'none' && issue.assignees.length === 0) ||
            (assignee === '*' && issue.assignees.length > 0) ||
            issue.assignees.includes(assignee)) &&
          labels.every((label) => issue.labels.some((each) => each.toLowerCase() === label.toLowerCase())),
      )
      .toSorted((a, b) =>
        query.get('sort') === 'updated'
          ? b.updatedAt.getTime() - a.updatedAt.getTime()
          : b.createdAt.getTime() - a.createdAt.getTime(),
      );
    return { status: 200, body: pageOf(found, query).map((issue) => shownIssue(url, issue)) };
  }

  #create(url: string, repository: string, { body, caller }: HostRequest): Reply {
    if (!isText(body.title, TITLE_MAX) || body.title === '') return invalid('Issue', 'title');
    if (body.body !== undefined && !isText(body.body, BODY_MAX)) return invalid('Issue', 'body');
    if (!areLabels(body.labels ?? [])) return invalid('Label', 'name');
    const now = new Date();
    const issue = this.add(repository, {
      title: body.title,
      body: body.body ?? null,
      labels: this.readers.has(caller) ? [] : (body.labels ?? []),
      assignees: this.#assignable(body.assignees),
      author: caller,
      createdAt: now,
      updatedAt: now,
    });
    return { status: 201, body: shownIssue(url, issue) };
  }

  /** People without the right to be assigned are left out, without a word. */
  #assignable = (names: Json): string[] => (names ?? []).filter((name: string) => this.people.has(name));

  #change(url: string, issue: SimulatedIssue, { body }: HostRequest): Reply {
    if (body.title !== undefined && (!isText(body.title, TITLE_MAX) || body.title === ''))
      return invalid('Issue', 'title');
    if (body.body !== undefined && !isText(body.body, BODY_MAX)) return invalid('Issue', 'body');
    if (body.state !== undefined && !['open', 'closed'].includes(body.state)) return invalid('Issue', 'state');
    if (
      body.state_reason !== undefined &&
      !['completed', 'not_planned', 'duplicate', 'reopened', null].includes(body.state_reason)
    )
      return invalid('Issue', 'state_reason');
    if (!areLabels(body.labels ?? [])) return invalid('Label', 'name');
    const { title = issue.title, body: text = issue.body, state = issue.state, labels = issue.labels } = body;
    if (state !== issue.state) issue.stateReason = body.state_reason ?? (state === 'closed' ? 'completed' : 'reopened');
    Object.assign(issue, { title, body: text, state, labels });
    if (body.assignees) issue.assignees = this.#assignable(body.assignees);
    touch(issue);
    return { status: 200, body: shownIssue(url, issue) };
  }
}

const isText = (value: Json, max: number): boolean => typeof value === 'string' && value.length <= max;
const areLabels = (value: Json): boolean =>
  Array.isArray(value) &&
  value.length <= LABELS_MAX &&
  value.every((name) => typeof name === 'string' && name !== '' && name.length <= 50);

const invalid = (resource: string, field: string): Reply => ({
  status: 422,
  body: {
    message: 'Validation Failed',
    errors: [{ resource, field, code: 'invalid' }],
    documentation_url: DOCUMENTATION,
  } satisfies Schemas['validation-error'],
});

const touch = (issue: SimulatedIssue) => {
  issue.updatedAt = new Date(Math.max(Date.now(), issue.updatedAt.getTime() + 1_000));
};

function pageOf<Item>(items: readonly Item[], query: URLSearchParams): Item[] {
  const size = Math.min(Number(query.get('per_page') ?? 30), 100);
  const start = (Number(query.get('page') ?? 1) - 1) * size;
  return items.slice(start, start + size);
}

const userOf = (login: string) => {
  const url = `https://api.github.com/users/${login}`;
  return {
    login,
    id: login.length,
    node_id: login,
    avatar_url: `https://avatars.example/${login}`,
    gravatar_id: null,
    url,
    html_url: `https://github.com/${login}`,
    followers_url: `${url}/followers`,
    following_url: `${url}/following`,
    gists_url: `${url}/gists`,
    starred_url: `${url}/starred`,
    subscriptions_url: `${url}/subscriptions`,
    organizations_url: `${url}/orgs`,
    repos_url: `${url}/repos`,
    events_url: `${url}/events`,
    received_events_url: `${url}/received_events`,
    type: 'User',
    site_admin: false,
  } satisfies Schemas['simple-user'];
};

const shownLabel = (url: string, name: string) =>
  ({
    id: name.length,
    node_id: name,
    url: `${url}/labels/${encodeURIComponent(name)}`,
    name,
    description: null,
    color: 'ededed',
    default: false,
  }) satisfies Schemas['label'];

function shownIssue(url: string, issue: SimulatedIssue) {
  const { repository, number, title, body, state, labels, assignees, isPullRequest } = issue;
  const repositoryUrl = `${url}/repos/${repository}`;
  const self = `${repositoryUrl}/issues/${number}`;
  const page = `https://github.com/${repository}/${isPullRequest ? 'pull' : 'issues'}/${number}`;
  return {
    id: 1_000_000 + number,
    node_id: `I_${number}`,
    url: self,
    repository_url: repositoryUrl,
    labels_url: `${self}/labels{/name}`,
    comments_url: `${self}/comments`,
    events_url: `${self}/events`,
    html_url: page,
    number,
    state,
    state_reason: issue.stateReason,
    title,
    body,
    user: userOf(issue.author),
    labels: labels.map((name) => shownLabel(url, name)),
    assignee: assignees[0] === undefined ? null : userOf(assignees[0]),
    assignees: assignees.map(userOf),
    milestone: issue.milestone === null ? null : milestoneOf(repositoryUrl, issue.milestone),
    locked: false,
    active_lock_reason: null,
    comments: issue.comments.length,
    ...(isPullRequest && {
      pull_request: { url: `${repositoryUrl}/pulls/${number}`, html_url: page, diff_url: null, patch_url: null },
    }),
    closed_at: state === 'closed' ? issue.updatedAt.toISOString() : null,
    created_at: issue.createdAt.toISOString(),
    updated_at: issue.updatedAt.toISOString(),
    author_association: 'MEMBER',
    type: issue.type === null ? null : { id: 1, node_id: 'IT_1', name: issue.type, description: null, color: 'blue' },
    ...(issue.parent !== null && { parent_issue_url: `${repositoryUrl}/issues/${issue.parent}` }),
  } satisfies Schemas['issue'];
}

const milestoneOf = (repositoryUrl: string, title: string) =>
  ({
    url: `${repositoryUrl}/milestones/1`,
    html_url: `${repositoryUrl}/milestone/1`,
    labels_url: `${repositoryUrl}/milestones/1/labels`,
    id: 1,
    node_id: 'MI_1',
    number: 1,
    title,
    description: null,
    creator: userOf('dana'),
    open_issues: 1,
    closed_issues: 0,
    state: 'open',
    created_at: '2026-01-01T00:00:00Z',
    updated_at: '2026-01-01T00:00:00Z',
    due_on: null,
    closed_at: null,
  }) satisfies Schemas['milestone'];

const shownComment = (
  url: string,
  { repository, number }: Pick<SimulatedIssue, 'repository' | 'number'>,
  { id, body, author }: SimulatedIssue['comments'][number],
) =>
  ({
    id,
    node_id: `IC_${id}`,
    url: `${url}/repos/${repository}/issues/comments/${id}`,
    html_url: `https://github.com/${repository}/issues/${number}#issuecomment-${id}`,
    issue_url: `${url}/repos/${repository}/issues/${number}`,
    body,
    user: userOf(author),
    created_at: '2026-01-01T00:00:00Z',
    updated_at: '2026-01-01T00:00:00Z',
    author_association: 'MEMBER',
  }) satisfies Schemas['issue-comment'];
