import type { Json } from '../../support/client.ts';
import { type Endpoint, type HostRequest, type HostServer, hostServer, type Reply } from '../host-server.ts';
import { isDocument } from './jira-documents.ts';
import { parseJql } from './jql.ts';

interface JiraPerson {
  accountId: string;
  displayName: string;
  /** Undefined where the person's profile hides it. */
  emailAddress?: string;
}

export interface JiraIssue {
  id: string;
  key: string;
  summary: string;
  /** A document. */
  description: Json;
  type: string;
  status: string;
  priority: string | null;
  assignee: JiraPerson | null;
  reporter: JiraPerson | null;
  labels: string[];
  parent: string | null;
  fields: Record<string, Json>;
  comments: {
    id: string;
    body: Json;
    properties: { key: string; value: Json }[];
    author?: { accountId: string };
  }[];
  createdAt: Date;
  updatedAt: Date;
}

const DANA: JiraPerson = { accountId: '5b10', displayName: 'Dana Döring', emailAddress: 'dana@example.com' };
const PEOPLE: readonly JiraPerson[] = [
  DANA,
  { accountId: '5b11', displayName: 'Ole "Olli" O\'Hara' },
  { accountId: '5b12', displayName: 'quayside-bot', emailAddress: 'quayside-bot@example.com' },
];
const TYPES = ['Story', 'Bug', 'Task', 'Epic'];
/** By name, with the key of the category. */
const STATUSES: Record<string, 'new' | 'indeterminate' | 'done'> = {
  'To Do': 'new',
  'In Progress': 'indeterminate',
  Done: 'done',
  "Won't Do": 'done',
};
const CATEGORY_NAMES = { new: 'To Do', indeterminate: 'In Progress', done: 'Done' };
const SUMMARY_MAX = 255;
const TEXT_MAX = 32_767;

export const JIRA_EMAIL = 'quayside-bot@example.com';
const TOKENS = new Map([
  [`Basic ${Buffer.from(`${JIRA_EMAIL}:jira-token`).toString('base64')}`, '5b12'],
  ['Bearer oauth-token-of-dana', '5b10'],
]);
/** What `POST /api/integrations` takes. */
export const jiraCredentials = { type: 'token', token: 'jira-token', username: JIRA_EMAIL };
/** Token of a person, for requests that take one. */
export const JIRA_USER_TOKEN = 'oauth-token-of-dana';

export interface JiraSimulator extends HostServer {
  issues: JiraIssue[];
  /** Agile boards: the keys of their projects by id. */
  boards: Map<number, string[]>;
  /** @param key `SHOP-3`, or the project alone for its next number. */
  add: (key: string, given?: Partial<JiraIssue>) => JiraIssue;
  issue: (key: string) => JiraIssue;
}

/** A site of Jira Cloud on loopback: REST interface, version 3. */
export async function jiraSite(): Promise<JiraSimulator> {
  const issues: JiraIssue[] = [];
  const boards = new Map<number, string[]>();
  const projects = new Set(['SHOP', 'OPS']);
  const person = (accountId: string) => PEOPLE.find((each) => each.accountId === accountId) ?? DANA;
  let made = 0;

  const add: JiraSimulator['add'] = (key, given = {}) => {
    const [project = ''] = key.split('-');
    projects.add(project);
    const number = issues.filter((each) => each.key.startsWith(`${project}-`)).length + 1;
    const at = new Date(Date.UTC(2026, 10, 1) + issues.length * 60_000);
    const issue: JiraIssue = {
      id: String(10_000 + ++made),
      key: key.includes('-') ? key : `${project}-${number}`,
      summary: 'An issue',
      description: null,
      type: 'Task',
      status: 'To Do',
      priority: 'Medium',
      assignee: null,
      reporter: DANA,
      labels: [],
      parent: null,
      fields: {},
      comments: [],
      createdAt: at,
      updatedAt: at,
      ...given,
    };
    issues.push(issue);
    return issue;
  };
  const find = (key: string) => issues.find((each) => each.key === key.toUpperCase() || each.id === key);

  const host = await hostServer((url) => {
    const one = (handle: (issue: JiraIssue, request: HostRequest, match: RegExpExecArray) => Reply) =>
      ((request, match) => {
        const issue = find(decodeURIComponent(match[1] ?? ''));
        return issue
          ? handle(issue, request, match)
          : refuse(404, ['Issue does not exist or you do not have permission to see it.']);
      }) satisfies Endpoint['handle'];
    const shown = (issue: JiraIssue, fields: readonly string[] | undefined) => {
      const all = fieldsOf(url, issue, issue.parent === null ? undefined : find(issue.parent));
      const isAll = fields?.includes('*all') ?? false;
      const asked = Object.entries(all).filter(
        ([name]) => (isAll && !fields?.includes(`-${name}`)) || fields?.includes(name),
      );
      return {
        id: issue.id,
        key: issue.key,
        self: `${url}/rest/api/3/issue/${issue.id}`,
        ...(fields !== undefined && { fields: Object.fromEntries(asked) }),
      };
    };
    const search = (jql: string, { caller, isBounded }: { caller: string; isBounded: boolean }) => {
      const { clauses, isByUpdate } = parseJql(jql);
      if (clauses.length === 0 && !isBounded)
        throw new SyntaxError(
          'Unbounded JQL queries are not allowed here. Please add a search restriction to your query.',
        );
      const tests = clauses.map((clause) => testOf(clause, { projects, caller }));
      return issues
        .filter((issue) => tests.every((test) => test(issue)))
        .toSorted((a, b) =>
          isByUpdate ? b.updatedAt.getTime() - a.updatedAt.getTime() : a.createdAt.getTime() - b.createdAt.getTime(),
        );
    };
    const orRefusal = (work: () => Reply): Reply => {
      try {
        return work();
      } catch (error) {
        return refuse(400, [(error as Error).message]);
      }
    };
    const at = (rest: string) => new RegExp(`^/rest/api/3/${rest}$`);
    const ISSUE = 'issue/([^/]+)';
    return {
      callerOf: ({ authorization = '' }) => TOKENS.get(authorization),
      unauthenticated: () => refuse(401, ['You do not have the permission to see the specified issue.']),
      notFound: () => ({
        status: 404,
        body: '<html><body>Not found</body></html>',
        headers: { 'content-type': 'text/html' },
      }),
      limitHeaders: () => ({}),
      limited: ({ resetAt }) => ({
        ...refuse(429, ['Rate limit exceeded.']),
        headers: {
          'retry-after': String(Math.ceil((resetAt.getTime() - Date.now()) / 1_000)),
          'x-ratelimit-remaining': '0',
          'x-ratelimit-reset': resetAt.toISOString(),
        },
      }),
      endpoints: [
        {
          method: 'GET',
          path: at('serverInfo'),
          handle: () => ({ status: 200, body: { baseUrl: 'https://acme.example' } }),
        },
        {
          method: 'GET',
          path: at(ISSUE),
          handle: one((issue, { query }) => ({
            status: 200,
            body: shown(issue, query.get('fields')?.split(',') ?? ['*all']),
          })),
        },
        {
          method: 'POST',
          path: at('search/jql'),
          handle: ({ body: { jql = '', maxResults = 50, fields, nextPageToken }, caller }) =>
            orRefusal(() => {
              const found = search(jql, { caller, isBounded: false });
              const start = Number(nextPageToken ?? 0);
              const end = start + Math.min(maxResults, 100);
              return {
                status: 200,
                body: {
                  issues: found.slice(start, end).map((issue) => shown(issue, fields)),
                  isLast: end >= found.length,
                  ...(end < found.length && { nextPageToken: String(end) }),
                },
              };
            }),
        },
        {
          method: 'GET',
          path: /^\/rest\/agile\/1\.0\/board\/(\d+)$/,
          handle: (_, [, id]) => {
            const [projectKey] = boards.get(Number(id)) ?? [];
            return { status: 200, body: { id: Number(id), name: 'A board', location: { projectKey } } };
          },
        },
        {
          method: 'GET',
          path: /^\/rest\/agile\/1\.0\/board\/(\d+)\/issue$/,
          handle: ({ query, caller }, [, id]) => {
            const keys = boards.get(Number(id));
            if (!keys)
              return refuse(404, [
                'The requested board cannot be viewed because it either does not exist or you do not have permission to view it.',
              ]);
            return orRefusal(() => {
              const found = search(query.get('jql') ?? '', { caller, isBounded: true }).filter(({ key }) =>
                keys.includes(projectOf(key)),
              );
              const maxResults = Math.min(Number(query.get('maxResults') ?? 50), 100);
              return {
                status: 200,
                body: {
                  startAt: 0,
                  maxResults,
                  total: found.length,
                  issues: found.slice(0, maxResults).map((issue) => shown(issue, query.get('fields')?.split(','))),
                },
              };
            });
          },
        },
        {
          method: 'POST',
          path: at('issue'),
          handle: ({ body, caller }) => {
            const errors = problemsOf(body.fields ?? {}, projects);
            if (Object.keys(errors).length > 0) return refuse(400, [], errors);
            const { project, summary, description = null, issuetype, labels = [] } = body.fields;
            const now = new Date();
            const issue = add(project.key, {
              summary,
              description,
              type: issuetype.name,
              labels,
              reporter: person(caller),
              createdAt: now,
              updatedAt: now,
            });
            return { status: 201, body: { id: issue.id, key: issue.key, self: `${url}/rest/api/3/issue/${issue.id}` } };
          },
        },
        {
          method: 'PUT',
          path: at(ISSUE),
          handle: one((issue, { body }) => {
            for (const { add: added, remove: removed } of body.update?.labels ?? []) {
              if (added !== undefined && /\s/.test(added))
                return refuse(400, [], { labels: `The label '${added}' contains spaces which is invalid.` });
              issue.labels = issue.labels.filter((label) => label !== (added ?? removed));
              if (added !== undefined) issue.labels.push(added);
            }
            issue.updatedAt = new Date();
            return { status: 204 };
          }),
        },
        {
          method: 'GET',
          path: at('myself'),
          handle: ({ caller }) => ({ status: 200, body: { accountId: caller } }),
        },
        {
          method: 'GET',
          path: at(`${ISSUE}/comment`),
          handle: one(({ comments }, { query }) => ({
            status: 200,
            body: {
              total: comments.length,
              comments: comments
                .toReversed()
                .slice(0, Number(query.get('maxResults') ?? 5_000))
                .map(({ properties, ...comment }) => ({
                  ...comment,
                  ...(query.get('expand') === 'properties' && { properties }),
                })),
            },
          })),
        },
        {
          method: 'POST',
          path: at(`${ISSUE}/comment`),
          handle: one((issue, { body, caller }) => {
            if (!isDocument(body.body))
              return refuse(400, ['INVALID_INPUT'], { comment: 'Comment body is not valid!' });
            const author = { accountId: caller };
            const comment = { id: String(++made), author, body: body.body, properties: body.properties ?? [] };
            issue.comments.push(comment);
            return { status: 201, body: { id: comment.id } };
          }),
        },
        {
          method: 'PUT',
          path: at(`${ISSUE}/comment/(\\d+)`),
          handle: one(({ comments }, { body, caller }, [, , id]) => {
            const comment = comments.find((each) => each.id === id);
            if (!comment) return refuse(404, ['Can not find a comment for the id.']);
            if (comment.author?.accountId !== caller)
              return refuse(403, ['You do not have the permission to edit this comment.']);
            if (!isDocument(body.body)) return refuse(400, ['INVALID_INPUT']);
            comment.body = body.body;
            return { status: 200, body: { id } };
          }),
        },
        {
          method: 'GET',
          path: at(`${ISSUE}/transitions`),
          handle: one(() => ({
            status: 200,
            body: {
              transitions: Object.entries(STATUSES).map(([name, category], index) => ({
                id: String(index + 1),
                name: `To ${name}`,
                to: { name, statusCategory: { key: category } },
              })),
            },
          })),
        },
        {
          method: 'POST',
          path: at(`${ISSUE}/transitions`),
          handle: one((issue, { body }) => {
            const status = Object.keys(STATUSES)[Number(body.transition?.id) - 1];
            if (status === undefined)
              return refuse(400, ['It seems that you have tried to perform an illegal workflow operation.']);
            issue.status = status;
            issue.updatedAt = new Date();
            return { status: 204 };
          }),
        },
      ],
    };
  });
  return Object.assign(host, {
    issues,
    boards,
    add,
    issue(key: string) {
      const issue = find(key);
      if (!issue) throw new Error(`there is no issue ${key}`);
      return issue;
    },
  });
}

const refuse = (status: number, errorMessages: string[], errors: Record<string, string> = {}): Reply => ({
  status,
  body: { errorMessages, errors },
});

const projectOf = (key: string): string => key.split('-')[0] ?? '';
/** Jira writes its offset without a colon. */
const timeOf = (at: Date): string => at.toISOString().replace('Z', '+0000');

const shownPerson = (url: string, person: JiraPerson | null) =>
  person && {
    self: `${url}/rest/api/3/user?accountId=${person.accountId}`,
    ...person,
    avatarUrls: { '48x48': `https://avatars.example/${person.accountId}` },
    active: true,
  };

const fieldsOf = (url: string, issue: JiraIssue, parent: JiraIssue | undefined): Record<string, Json> => ({
  summary: issue.summary,
  description: issue.description,
  issuetype: { self: `${url}/rest/api/3/issuetype/1`, name: issue.type, subtask: false },
  status: {
    name: issue.status,
    statusCategory: { key: STATUSES[issue.status], name: CATEGORY_NAMES[STATUSES[issue.status] ?? 'new'] },
  },
  priority: issue.priority === null ? null : { name: issue.priority },
  assignee: shownPerson(url, issue.assignee),
  reporter: shownPerson(url, issue.reporter),
  creator: shownPerson(url, issue.reporter),
  labels: issue.labels,
  created: timeOf(issue.createdAt),
  updated: timeOf(issue.updatedAt),
  project: { key: projectOf(issue.key) },
  comment: { comments: issue.comments },
  ...(parent && { parent: { id: parent.id, key: parent.key, fields: { summary: parent.summary } } }),
  ...issue.fields,
});

/** What Jira says of the fields of a new issue, by field. */
function problemsOf({ project, summary, description, issuetype, labels }: Json, projects: ReadonlySet<string>) {
  const problems: Record<string, string> = {};
  if (!projects.has(project?.key)) problems.project = 'valid project is required';
  if (!TYPES.includes(issuetype?.name)) problems.issuetype = 'Specify a valid issue type';
  if (typeof summary !== 'string' || summary.trim() === '')
    problems.summary = 'You must specify a summary of the issue.';
  else if (summary.length > SUMMARY_MAX || summary.includes('\n'))
    problems.summary = 'Summary must be less than 255 characters, and must not contain line breaks.';
  if (description !== undefined && !isDocument(description))
    problems.description = 'Operation value must be an Atlassian Document (see the Atlassian Document Format)';
  else if (JSON.stringify(description ?? null).length > TEXT_MAX)
    problems.description = `The entered text is too long. It exceeds the allowed limit of 32,767 characters.`;
  const spaced = (labels ?? []).find((label: Json) => typeof label !== 'string' || /\s/.test(label));
  if (spaced !== undefined) problems.labels = `The label '${spaced}' contains spaces which is invalid.`;
  return problems;
}

function testOf(
  { field, operator, values }: ReturnType<typeof parseJql>['clauses'][number],
  { projects, caller }: { projects: ReadonlySet<string>; caller: string },
): (issue: JiraIssue) => boolean {
  const [first = ''] = values;
  const isOne = (text: string) => values.some((value) => value.toLowerCase() === text.toLowerCase());
  const known = (names: readonly string[], name: string) => {
    for (const value of values)
      if (!names.some((each) => each.toLowerCase() === value.toLowerCase()))
        throw new SyntaxError(`The value '${value}' does not exist for the field '${name}'.`);
  };
  switch (field) {
    case 'project':
      known([...projects], 'project');
      return ({ key }) => isOne(projectOf(key));
    case 'status':
      known(Object.keys(STATUSES), 'status');
      return ({ status }) => isOne(status);
    case 'statuscategory':
      if (!['=', '!='].includes(operator)) break;
      return ({ status }) => isOne(CATEGORY_NAMES[STATUSES[status] ?? 'new']) === (operator === '=');
    case 'issuetype':
      known(TYPES, 'issuetype');
      return ({ type }) => isOne(type);
    case 'assignee': {
      if (first === 'currentUser()') return ({ assignee }) => assignee?.accountId === caller;
      const found = PEOPLE.filter(({ accountId, displayName, emailAddress = '' }) =>
        [accountId, displayName, emailAddress].some((text) => text.toLowerCase() === first.toLowerCase()),
      );
      if (found.length === 0) throw new SyntaxError(`The value '${first}' does not exist for the field 'assignee'.`);
      return ({ assignee }) => found.some(({ accountId }) => accountId === assignee?.accountId);
    }
    case 'updated': {
      const [, days] = /^-(\d+)d$/.exec(first) ?? [];
      if (operator !== '>=' || days === undefined) break;
      return ({ updatedAt }) => updatedAt.getTime() >= Date.now() - Number(days) * 86_400_000;
    }
    default:
      break;
  }
  throw new SyntaxError(`Field '${field}' does not exist or this field cannot be viewed by anonymous users.`);
}
