import { z } from 'zod';
import { workItemUrl } from '../../../domain/projects/work-items/work-item-rules.ts';
import { documentOf, documentOfLines, documentWithCode } from '../../../domain/work/work-items/document-tree-rules.ts';
import { embeddableJson, PAYLOAD_TITLE, webLinks } from '../../../domain/work/work-items/embedding-rules.ts';
import { boardJql, projectsJql } from '../../../domain/work/work-items/tracker-query-rules.ts';
import { isWorkItemId, otherReportLabels, reportLabel } from '../../../domain/work/work-items/work-item-rules.ts';
import { type TrackerAnswer, type WorkTracker } from '../../../domain/work/work-items/work-tracker.port.ts';
import { isClosed, Issue, shownIssue, SUMMARY_FIELDS, summaryOf, timeOf } from './tracker-a-issues.ts';
import { writeReportComment } from '../git-hosts/report-comment.ts';
import { type CallTracker, failureOf } from './tracker-http.ts';

const PLATFORM = 'tracker-a';
/** An OAuth token is used here, below the id of its site. */
export const OAUTH_HOST = 'api.atlassian.com';
const COMMENTS_MAX = 100;
/** Boards that are searched at a time. */
const AT_A_TIME = 5;
/** Pages of one search that are read. */
const PAGES_MAX = 10;
/** Hidden from people: a property of the comment. */
const REPORT_PROPERTY = 'quayside.report';
/** All but long lists that no member shows. */
const FETCHED_FIELDS = '*all,-comment,-worklog,-attachment,-issuelinks,-subtasks';

const Found = z.looseObject({ issues: z.array(Issue), nextPageToken: z.string().nullish() });
const Created = z.looseObject({ id: z.string(), key: z.string() });
const Board = z.looseObject({ location: z.looseObject({ projectKey: z.string().nullish() }).nullish() });
const ServerInfo = z.looseObject({ baseUrl: z.string() });
const Transitions = z.looseObject({
  transitions: z.array(
    z.looseObject({ id: z.string(), to: z.looseObject({ statusCategory: z.looseObject({ key: z.string() }) }) }),
  ),
});
const Comment = z.looseObject({
  id: z.string(),
  author: z.looseObject({ accountId: z.string().nullish() }).nullish(),
  properties: z.array(z.looseObject({ key: z.string(), value: z.unknown() })).nullish(),
});
const Comments = z.looseObject({ comments: z.array(Comment) });
const CommentList = z.looseObject({ values: z.array(Comment) });
const Myself = z.looseObject({ accountId: z.string() });
const ANYTHING = z.unknown();

export interface JiraLocation {
  baseUrl: string;
  /** Where the pages are, if that is not below `baseUrl`. */
  siteUrl?: string;
  /** Ids of agile boards, which are digits, and keys of projects. */
  boards: readonly string[];
  issueType: string;
  /** Address of the pages that the project's configuration names; null: it names none. */
  pagesUrl: string | null;
}

const isBoardId = (board: string): boolean => /^\d{1,18}$/.test(board);

/** Jira Cloud: REST interface, version 3. */
export function trackerA(
  call: CallTracker,
  { baseUrl, siteUrl, boards, issueType, pagesUrl }: JiraLocation,
): WorkTracker {
  const api = `${baseUrl}/rest/api/3`;
  const agile = `${baseUrl}/rest/agile/1.0/board`;
  const projects = boards.filter((board) => !isBoardId(board));
  const boardIds = boards.filter(isBoardId);

  const issueUrl = (id: string): string | undefined =>
    isWorkItemId(PLATFORM, id) ? `${api}/issue/${id.toUpperCase()}` : undefined;
  const noIssue = (id: string) => failureOf('not_found', `${PLATFORM} has no issue ${id}`);

  /** Makes the addresses of pages. The address that OAuth tokens are used at has no pages. */
  async function pages(): Promise<(key: string) => string> {
    if (pagesUrl !== null) return (key) => workItemUrl(key, { workItems: { baseUrl: pagesUrl } }) ?? pagesUrl;
    if (siteUrl !== undefined) return (key) => `${siteUrl}/browse/${key}`;
    if (new URL(baseUrl).hostname !== OAUTH_HOST) return (key) => `${baseUrl}/browse/${key}`;
    const info = await call({ method: 'GET', url: `${api}/serverInfo` }, ServerInfo);
    const site = info.isOk ? info.value.baseUrl.replace(/\/+$/, '') : baseUrl;
    return (key) => `${site}/browse/${key}`;
  }

  /** Jira may give fewer at once than it is asked for. */
  async function search(jql: string, maxResults: number): Promise<TrackerAnswer<z.output<typeof Found>>> {
    const issues: Issue[] = [];
    let nextPageToken: string | undefined;
    for (let page = 1; page <= PAGES_MAX; page++) {
      const body = { jql, maxResults: maxResults - issues.length, fields: SUMMARY_FIELDS, nextPageToken };
      const answer = await call({ method: 'POST', url: `${api}/search/jql`, body }, Found);
      if (!answer.isOk) return answer;
      issues.push(...answer.value.issues);
      nextPageToken = answer.value.nextPageToken ?? undefined;
      if (nextPageToken === undefined || issues.length >= maxResults) break;
    }
    return { isOk: true, value: { issues } };
  }

  const searchBoard = (id: string, jql: string, maxResults: number) => {
    const query = new URLSearchParams({ jql, maxResults: String(maxResults), fields: SUMMARY_FIELDS.join(',') });
    return call({ method: 'GET', url: `${agile}/${id}/issue?${query}` }, Found);
  };

  /** The project in which issues are created: the first that is named, else that of the first board. */
  async function projectKey(): Promise<TrackerAnswer<string>> {
    const [project] = projects;
    if (project !== undefined) return { isOk: true, value: project };
    const [board] = boardIds;
    if (board === undefined)
      return failureOf('refused', `The project's configuration names no board of ${PLATFORM} (workItems.boards)`);
    const answer = await call({ method: 'GET', url: `${agile}/${board}` }, Board);
    if (!answer.isOk) return answer;
    const key = answer.value.location?.projectKey;
    return key
      ? { isOk: true, value: key }
      : failureOf('refused', `Board ${board} of ${PLATFORM} belongs to no project`);
  }

  async function commentWith(url: string, marker: string): Promise<TrackerAnswer<string | undefined>> {
    const query = `orderBy=-created&maxResults=${COMMENTS_MAX}&expand=properties`;
    const answer = await call({ method: 'GET', url: `${url}/comment?${query}` }, Comments);
    if (!answer.isOk) return answer;
    const { comments } = answer.value;
    const isWithProperties = comments.every(({ properties }) => Array.isArray(properties));
    // Jira documents properties for the list by ids alone.
    const listed = isWithProperties
      ? { isOk: true as const, value: { values: comments } }
      : await call(
          {
            method: 'POST',
            url: `${api}/comment/list?expand=properties`,
            body: { ids: comments.map(({ id }) => Number(id)) },
          },
          CommentList,
        );
    if (!listed.isOk) return listed;
    const marked = listed.value.values.filter(({ properties }) =>
      properties?.some(({ key, value }) => key === REPORT_PROPERTY && markerIn(value) === marker),
    );
    if (marked.length === 0) return { isOk: true, value: undefined };
    // Anybody can set the property on a comment.
    const me = await call({ method: 'GET', url: `${api}/myself` }, Myself);
    if (!me.isOk) return me;
    return { isOk: true, value: marked.find(({ author }) => author?.accountId === me.value.accountId)?.id };
  }

  function writeComment(url: string, content: object, marker: string, known: string | undefined) {
    const properties = [{ key: REPORT_PROPERTY, value: { marker } }];
    return writeReportComment(known, {
      edit: (commentId) =>
        call({ method: 'PUT', url: `${url}/comment/${commentId}`, body: { body: content } }, Comment),
      find: () => commentWith(url, marker),
      create: () => call({ method: 'POST', url: `${url}/comment`, body: { body: content, properties } }, Comment),
    });
  }

  return {
    async fetch(id) {
      const url = issueUrl(id);
      if (url === undefined) return noIssue(id);
      const answer = await call({ method: 'GET', url: `${url}?fields=${FETCHED_FIELDS}` }, Issue);
      return answer.isOk ? { isOk: true, value: shownIssue(answer.value, await pages()) } : answer;
    },

    async list(filter) {
      const found = new Map<string, Issue>();
      const queries = [
        ...(projects.length > 0 || boardIds.length === 0
          ? [() => search(projectsJql(filter, projects), filter.maxResults)]
          : []),
        ...boardIds.map((id) => () => searchBoard(id, boardJql(filter), filter.maxResults)),
      ];
      for (let first = 0; first < queries.length; first += AT_A_TIME)
        for (const answer of await Promise.all(queries.slice(first, first + AT_A_TIME).map((ask) => ask()))) {
          // Jira refuses the name of a status, type or person that it has not.
          if (!answer.isOk && isUnknownValue(answer.message)) continue;
          if (!answer.isOk) return answer;
          for (const issue of answer.value.issues) found.set(issue.key, issue);
        }
      const urlOf = await pages();
      const newest = [...found.values()].toSorted((a, b) => timeOf(b) - timeOf(a));
      return { isOk: true, value: newest.slice(0, filter.maxResults).map((issue) => summaryOf(issue, urlOf)) };
    },

    async create({ title, body, labels, payload }) {
      const project = await projectKey();
      if (!project.isOk) return project;
      const code = payload && embeddableJson(payload);
      const fields = {
        project: { key: project.value },
        issuetype: { name: issueType },
        summary: title.replaceAll(/\s+/g, ' '),
        // Jira refuses fields that the project's screen for new issues lacks, also empty ones.
        ...(code !== undefined && { description: documentWithCode(body, { title: PAYLOAD_TITLE, code }) }),
        ...(code === undefined && body !== '' && { description: documentOf(body) }),
        // A label of Jira has no spaces.
        ...(labels.length > 0 && { labels: labels.map((label) => label.trim().replaceAll(/\s+/g, '-')) }),
      };
      const answer = await call({ method: 'POST', url: `${api}/issue`, body: { fields } }, Created);
      if (!answer.isOk) return answer;
      const { id, key } = answer.value;
      return { isOk: true, value: { id, key, url: (await pages())(key), createdAt: new Date().toISOString() } };
    },

    update: async () => failureOf('refused', `Changes of work items of ${PLATFORM} are not implemented`),

    async close(id, { comment }) {
      const url = issueUrl(id);
      if (url === undefined) return noIssue(id);
      const issue = await call({ method: 'GET', url: `${url}?fields=${SUMMARY_FIELDS.join(',')}` }, Issue);
      if (!issue.isOk) return issue;
      if (isClosed(issue.value)) {
        const updatedAt = new Date(timeOf(issue.value)).toISOString();
        return { isOk: true, value: { isChanged: false, isClosed: true, updatedAt } };
      }
      const offered = await call({ method: 'GET', url: `${url}/transitions` }, Transitions);
      if (!offered.isOk) return offered;
      const transition = offered.value.transitions.find(({ to }) => to.statusCategory.key === 'done');
      if (!transition) return failureOf('refused', `No transition leads from the status of ${id} to one that is done`);
      if (comment !== undefined) {
        const body = { body: documentOf(comment) };
        const written = await call({ method: 'POST', url: `${url}/comment`, body }, Comment);
        if (!written.isOk) return written;
      }
      const body = { transition: { id: transition.id } };
      const closed = await call({ method: 'POST', url: `${url}/transitions`, body }, ANYTHING);
      return closed.isOk ? { isOk: true, value: { isChanged: true, isClosed: true, updatedAt: null } } : closed;
    },

    async report(id, { marker, lines, links, state, commentId }) {
      const url = issueUrl(id);
      if (url === undefined) return noIssue(id);
      const comment = await writeComment(url, documentOfLines(lines, webLinks(links)), marker, commentId);
      if (!comment.isOk) return comment;
      const others = [...otherReportLabels(state)].map((label) => ({ remove: label }));
      const labels = [...others, { add: reportLabel(state) }];
      const labelled = await call({ method: 'PUT', url, body: { update: { labels } } }, ANYTHING);
      return labelled.isOk ? { isOk: true, value: { commentId: comment.value.id } } : labelled;
    },
  };
}

const isUnknownValue = (message: string): boolean =>
  /does not exist for the field '(status|issuetype|assignee)'/.test(message);

const markerIn = (value: unknown): unknown =>
  typeof value === 'object' && value !== null ? (value as { marker?: unknown }).marker : undefined;
