import { z } from 'zod';
import {
  inHtmlComment,
  markdownOf,
  markdownWithPayload,
  replacedMarkdown,
  TEXT_MAX,
  webLinks,
} from '../../../domain/work/work-items/embedding-rules.ts';
import { categoryOf } from '../../../domain/work/work-items/tracker-query-rules.ts';
import { isWorkItemId, otherReportLabels, reportLabel } from '../../../domain/work/work-items/work-item-rules.ts';
import {
  type ClosedWorkItem,
  type ReportedState,
  type TrackerAnswer,
  type WorkItem,
  type WorkItemFilter,
  type WorkTracker,
} from '../../../domain/work/work-items/work-tracker.port.ts';
import {
  Issue,
  isoOf,
  isPullRequest,
  isSame,
  Label,
  namesOf,
  shownIssue,
  summaryOf,
  typeOf,
  User,
} from './host-a-issues.ts';
import { writeReportComment } from '../git-hosts/report-comment.ts';
import { type CallTracker, failureOf } from './tracker-http.ts';

const PLATFORM = 'host-a';
const PAGE = 50;
/** Pages of one list that are read: pull requests are among the issues, and types are known by labels. */
const PAGES_MAX = 10;
/** What a list over many labels may cost: at least a page of each is read, unless that takes too long. */
const LIST_CALLS_MAX = 50;
const LIST_MAX_MS = 20_000;
const AT_A_TIME = 5;
const COMMENTS_PAGE = 100;
/** A closing that failed may be repeated with its comment for so long: longer than any limit holds. */
const CLOSING_REPEATED_MS = 3 * 3_600_000;

const Author = z.looseObject({ login: z.string(), type: z.string().nullish() });
const Comment = z.looseObject({ id: z.number(), body: z.string().nullish(), user: Author.nullish() });
type Comment = z.output<typeof Comment>;
const ANYTHING = z.unknown();

/** GitHub's issues: REST interface, version 2022-11-28. @param repository `owner/repo`. */
export function hostATracker(
  call: CallTracker,
  { baseUrl, repository, boards }: { baseUrl: string; repository: string; boards: readonly string[] },
): WorkTracker {
  const repo = `${baseUrl}/repos/${repository.split('/').map(encodeURIComponent).join('/')}`;
  const issues = `${repo}/issues`;

  /** The issue of a number; a pull request is none. */
  async function issueOf(id: string): Promise<TrackerAnswer<Issue>> {
    const none = failureOf('not_found', `${PLATFORM} has no issue ${id}`);
    if (!isWorkItemId(PLATFORM, id)) return none;
    const answer = await call({ method: 'GET', url: `${issues}/${id}` }, Issue);
    return answer.isOk && isPullRequest(answer.value) ? none : answer;
  }

  async function parentOf({ parent_issue_url: url }: Issue): Promise<WorkItem['parent']> {
    const [, parentRepository, number] = /\/repos\/([^/]+\/[^/]+)\/issues\/(\d+)$/.exec(url ?? '') ?? [];
    if (parentRepository === undefined || number === undefined) return null;
    const parent = await call({ method: 'GET', url: `${baseUrl}/repos/${parentRepository}/issues/${number}` }, Issue);
    return { id: number, key: number, title: parent.isOk ? parent.value.title : null };
  }

  const workItemOf = async (issue: Issue): Promise<TrackerAnswer<WorkItem>> => ({
    isOk: true,
    value: shownIssue(issue, await parentOf(issue)),
  });

  const loginOf = async (assignee: string): Promise<TrackerAnswer<string>> => {
    if (assignee !== 'me') return { isOk: true, value: assignee };
    const answer = await call({ method: 'GET', url: `${baseUrl}/user` }, User);
    return answer.isOk ? { isOk: true, value: answer.value.login } : answer;
  };

  /** Issues with a label that match a filter, newest change first. */
  async function listLabelled(
    label: string | undefined,
    login: string | undefined,
    { status, type, maxResults }: WorkItemFilter,
    pagesMax: number,
  ): Promise<TrackerAnswer<Issue[]>> {
    const query = new URLSearchParams({
      state: status?.toLowerCase() ?? 'all',
      sort: 'updated',
      direction: 'desc',
      per_page: String(PAGE),
      ...(label !== undefined && { labels: label }),
      ...(login !== undefined && { assignee: login }),
    });
    const found: Issue[] = [];
    for (let page = 1; page <= pagesMax && found.length < maxResults; page++) {
      query.set('page', String(page));
      const answer = await call({ method: 'GET', url: `${issues}?${query}` }, z.array(Issue));
      if (!answer.isOk) return answer;
      found.push(
        ...answer.value.filter((issue) => !isPullRequest(issue) && (type === undefined || isSame(typeOf(issue), type))),
      );
      if (answer.value.length < PAGE) break;
    }
    return { isOk: true, value: found };
  }

  /** Tells comments of the credential's own user. An app's credential has none: its comments are those of bots. */
  async function ownComments(): Promise<TrackerAnswer<(comment: Comment) => boolean>> {
    const me = await call({ method: 'GET', url: `${baseUrl}/user` }, User);
    if (me.isOk) return { isOk: true, value: ({ user }) => user?.login === me.value.login };
    return me.kind === 'auth_failed' ? { isOk: true, value: ({ user }) => user?.type === 'Bot' } : me;
  }

  /** The comment that has the marker, which anybody can copy, and is our own. */
  async function commentWith(id: string, marker: string): Promise<TrackerAnswer<string | undefined>> {
    for (let page = 1; page <= PAGES_MAX; page++) {
      const url = `${issues}/${id}/comments?per_page=${COMMENTS_PAGE}&page=${page}`;
      const answer = await call({ method: 'GET', url }, z.array(Comment));
      if (!answer.isOk) return answer;
      const marked = answer.value.filter(({ body }) => body?.includes(inHtmlComment(marker)));
      if (marked.length > 0) {
        const isOwn = await ownComments();
        if (!isOwn.isOk) return isOwn;
        const found = marked.find(isOwn.value);
        if (found) return { isOk: true, value: String(found.id) };
      }
      if (answer.value.length < COMMENTS_PAGE) break;
    }
    return { isOk: true, value: undefined };
  }

  /** Issues with any of the labels; a few labels are asked for at a time. */
  async function listBoards(login: string | undefined, filter: WorkItemFilter): Promise<TrackerAnswer<Issue[]>> {
    if (boards.length === 0) return listLabelled(undefined, login, filter, PAGES_MAX);
    const pagesMax = Math.max(1, Math.min(PAGES_MAX, Math.floor(LIST_CALLS_MAX / boards.length)));
    const endMs = performance.now() + LIST_MAX_MS;
    const found: Issue[] = [];
    for (let first = 0; first < boards.length && performance.now() < endMs; first += AT_A_TIME) {
      const labels = boards.slice(first, first + AT_A_TIME);
      const answers = await Promise.all(labels.map((label) => listLabelled(label, login, filter, pagesMax)));
      for (const answer of answers) {
        if (!answer.isOk) return answer;
        found.push(...answer.value);
      }
    }
    return { isOk: true, value: found };
  }

  const writeComment = (id: string, body: string, marker: string, known: string | undefined) =>
    writeReportComment(known, {
      edit: (commentId) => call({ method: 'PATCH', url: `${issues}/comments/${commentId}`, body: { body } }, Comment),
      find: () => commentWith(id, marker),
      create: () => call({ method: 'POST', url: `${issues}/${id}/comments`, body: { body } }, Comment),
    });

  /** Written once, also when it is repeated because closing failed after it. */
  async function writeClosingComment(id: string, body: string): Promise<TrackerAnswer<unknown>> {
    const url = `${issues}/${id}/comments`;
    const since = new Date(Date.now() - CLOSING_REPEATED_MS).toISOString();
    const query = new URLSearchParams({ since, per_page: String(COMMENTS_PAGE) });
    const recent = await call({ method: 'GET', url: `${url}?${query}` }, z.array(Comment));
    if (!recent.isOk || recent.value.some((comment) => comment.body === body)) return recent;
    return call({ method: 'POST', url, body: { body } }, Comment);
  }

  async function setLabel(id: string, state: ReportedState): Promise<TrackerAnswer<unknown>> {
    const added = await call(
      { method: 'POST', url: `${issues}/${id}/labels`, body: { labels: [reportLabel(state)] } },
      z.array(Label),
    );
    if (!added.isOk) return added;
    const others = otherReportLabels(state);
    for (const label of namesOf(added.value).filter((name) => others.has(name))) {
      const url = `${issues}/${id}/labels/${encodeURIComponent(label)}`;
      const removed = await call({ method: 'DELETE', url }, ANYTHING);
      if (!removed.isOk && removed.kind !== 'not_found') return removed;
    }
    return added;
  }

  return {
    async fetch(id) {
      const issue = await issueOf(id);
      return issue.isOk ? workItemOf(issue.value) : issue;
    },

    async list(filter) {
      if (filter.status !== undefined && !categoryOf(filter.status)) return { isOk: true, value: [] };
      const login = filter.assignee === undefined ? undefined : await loginOf(filter.assignee);
      if (login?.isOk === false) return login;
      // For GitHub these two words mean nobody and anybody.
      if (login && ['none', '*'].includes(login.value)) return { isOk: true, value: [] };
      const answer = await listBoards(login?.value, filter);
      // GitHub refuses the login of nobody.
      if (!answer.isOk) return answer.kind === 'refused' && login ? { isOk: true, value: [] } : answer;
      const found = new Map(answer.value.map((issue) => [issue.number, issue]));
      const newest = [...found.values()].toSorted((a, b) => Date.parse(b.updated_at) - Date.parse(a.updated_at));
      return { isOk: true, value: newest.slice(0, filter.maxResults).map(summaryOf) };
    },

    async create({ title, body, labels, payload }) {
      const text = markdownWithPayload(body, payload);
      if (text.length > TEXT_MAX[PLATFORM])
        return failureOf('refused', `${PLATFORM} takes at most ${TEXT_MAX[PLATFORM]} characters, with the payload`);
      const answer = await call({ method: 'POST', url: issues, body: { title, body: text, labels } }, Issue);
      if (!answer.isOk) {
        // GitHub says so of a repository that the token does not see, too.
        const isHidden = answer.kind === 'not_found';
        return isHidden
          ? failureOf('auth_failed', `${PLATFORM} shows this credential no issues of ${repository}`)
          : answer;
      }
      const { id, key, url } = summaryOf(answer.value);
      return { isOk: true, value: { id, key, url, createdAt: isoOf(answer.value.created_at) } };
    },

    async update(id, { title, body, state, labels, assignees }) {
      const old = await issueOf(id);
      if (!old.isOk) return old;
      if (state !== undefined && !categoryOf(state))
        return failureOf('refused', `${PLATFORM} has the states open and closed alone`);
      const text = body === undefined ? undefined : replacedMarkdown(body, old.value.body ?? '');
      const change = { title, body: text, state: state?.toLowerCase(), labels, assignees };
      const answer = await call({ method: 'PATCH', url: `${issues}/${id}`, body: change }, Issue);
      return answer.isOk ? workItemOf(answer.value) : answer;
    },

    async close(id, { comment, reason }) {
      const old = await issueOf(id);
      if (!old.isOk) return old;
      if (old.value.state === 'closed') return { isOk: true, value: closedAs(old.value, { isChanged: false }) };
      if (comment !== undefined) {
        const written = await writeClosingComment(id, markdownWithPayload(comment));
        if (!written.isOk) return written;
      }
      const change = { state: 'closed', ...(reason !== undefined && { state_reason: reason }) };
      const answer = await call({ method: 'PATCH', url: `${issues}/${id}`, body: change }, Issue);
      return answer.isOk ? { isOk: true, value: closedAs(answer.value, { isChanged: true }) } : answer;
    },

    async report(id, { marker, lines, links, state, commentId }) {
      const linked = webLinks(links).map(({ text, url }) => `[${markdownOf(text)}](<${url}>)`);
      const body = [...lines.map(markdownOf), ...linked, inHtmlComment(marker)].join('\n\n');
      const comment = await writeComment(id, body, marker, commentId);
      if (!comment.isOk) return comment;
      const labelled = await setLabel(id, state);
      return labelled.isOk ? { isOk: true, value: { commentId: String(comment.value.id) } } : labelled;
    },
  };
}

const closedAs = ({ updated_at: updatedAt }: Issue, { isChanged }: { isChanged: boolean }): ClosedWorkItem => ({
  isChanged,
  isClosed: true,
  updatedAt: isoOf(updatedAt),
});
