import { z } from 'zod';
import { htmlOf, htmlWithPayload, replacedHtml, webLinks } from '../../../domain/work/work-items/embedding-rules.ts';
import { boardsWiql, categoryOf } from '../../../domain/work/work-items/tracker-query-rules.ts';
import {
  type BoardState,
  boardState,
  closingState,
  isClosedName,
  isClosedState,
  isWorkItemId,
  otherReportLabels,
  reportLabel,
} from '../../../domain/work/work-items/work-item-rules.ts';
import {
  type ClosedWorkItem,
  type ReportedState,
  type TrackerAnswer,
  type TrackerFailure,
  type WorkItem,
  type WorkItemFilter,
  type WorkTracker,
} from '../../../domain/work/work-items/work-tracker.port.ts';
import {
  FIELD,
  isoOf,
  Item,
  Items,
  shownItem,
  SUMMARY_FIELDS,
  summaryOf,
  tagsOf,
  textOf,
} from './host-b-work-items.ts';
import { writeReportComment } from '../git-hosts/report-comment.ts';
import { type CallTracker, failureOf } from './tracker-http.ts';

const PLATFORM = 'host-b';
const VERSION = 'api-version=7.1';
const COMMENTS_VERSION = 'api-version=7.1-preview.4';
/** A comment has up to 150 KB: more of them might be a larger reply than is read. */
const COMMENTS_PAGE = 40;
const COMMENT_PAGES_MAX = 5;
const PATCH_TYPE = { 'content-type': 'application/json-patch+json' };
const PARENT = 'System.LinkTypes.Hierarchy-Reverse';
/** How often a label or a closed state is set when somebody changes the work item meanwhile. */
const TRIES = 3;

const Found = z.looseObject({ workItems: z.array(z.looseObject({ id: z.int() })) });
const State = z.object({ name: z.string(), category: z.string() });
const States = z.looseObject({ value: z.array(State) });
const Types = z.looseObject({
  value: z.array(z.looseObject({ name: z.string(), states: z.array(State).default([]) })),
});
const Comment = z.looseObject({
  id: z.int(),
  text: z.string().nullish(),
  createdBy: z.looseObject({ id: z.string().nullish() }).nullish(),
});
const Connection = z.looseObject({ authenticatedUser: z.looseObject({ id: z.string() }) });
const Comments = z.looseObject({ comments: z.array(Comment), continuationToken: z.string().nullish() });
interface Operation {
  op: 'add' | 'replace' | 'test';
  path: string;
  value: unknown;
}
const setField = (name: string, value: unknown, op: 'add' | 'replace' = 'add'): Operation => ({
  op,
  path: `/fields/${name}`,
  value,
});

export interface BoardsLocation {
  baseUrl: string;
  organization: string;
  project: string;
  /** Area paths; none: the whole project. */
  boards: readonly string[];
  issueType: string;
}

/** Azure Boards: REST interface, version 7.1. */
export function hostBTracker(
  call: CallTracker,
  { baseUrl, organization, project, boards, issueType }: BoardsLocation,
): WorkTracker {
  const projectUrl = `${baseUrl}/${encodeURIComponent(organization)}/${encodeURIComponent(project)}`;
  const wit = `${projectUrl}/_apis/wit`;
  const itemUrl = (id: string | number) => `${wit}/workitems/${id}?${VERSION}`;

  async function itemOf(id: string): Promise<TrackerAnswer<Item>> {
    if (!isWorkItemId(PLATFORM, id)) return failureOf('not_found', `${PLATFORM} has no work item ${id}`);
    return call({ method: 'GET', url: `${itemUrl(id)}&$expand=all` }, Item);
  }

  async function statesOf(type: string): Promise<TrackerAnswer<BoardState[]>> {
    const url = `${wit}/workitemtypes/${encodeURIComponent(type)}/states?${VERSION}`;
    const answer = await call({ method: 'GET', url }, States);
    return answer.isOk ? { isOk: true, value: answer.value.value } : answer;
  }

  const batch = (ids: readonly number[]) =>
    call({ method: 'POST', url: `${wit}/workitemsbatch?${VERSION}`, body: { ids, fields: SUMMARY_FIELDS } }, Items);

  const change = (id: string, operations: readonly Operation[]) =>
    call({ method: 'PATCH', url: itemUrl(id), headers: PATCH_TYPE, body: operations }, Item);

  /** `{…}/workItems/{id}`; the title of one that the credential does not see is null. */
  async function parentOf({ relations }: Item): Promise<WorkItem['parent']> {
    const [, id] = /\/(\d{1,10})$/.exec(relations?.find(({ rel }) => rel === PARENT)?.url ?? '') ?? [];
    if (id === undefined) return null;
    const answer = await batch([Number(id)]);
    return { id, key: id, title: answer.isOk ? (answer.value.value[0]?.fields[FIELD.title] ?? null) : null };
  }

  /** What is known of the item is shown, whether or not the tracker says more about its type and its parent. */
  async function workItemOf(item: Item, known?: readonly BoardState[]): Promise<TrackerAnswer<WorkItem>> {
    const [states, parent] = await Promise.all([
      known ? { isOk: true as const, value: known } : statesOf(item.fields[FIELD.type]),
      parentOf(item),
    ]);
    const isClosed = isClosedIn(states.isOk ? states.value : [], item.fields[FIELD.state]);
    return { isOk: true, value: { ...shownItem(item, projectUrl), parent, isClosed } };
  }

  async function queryOf(filter: WorkItemFilter): Promise<TrackerAnswer<string>> {
    if (filter.status === undefined || !categoryOf(filter.status))
      return { isOk: true, value: boardsWiql(filter, boards) };
    const types = await call({ method: 'GET', url: `${wit}/workitemtypes?${VERSION}` }, Types);
    return types.isOk ? { isOk: true, value: boardsWiql(filter, boards, types.value.value) } : types;
  }

  /** Whom the credential belongs to. */
  async function ownId(): Promise<TrackerAnswer<string>> {
    const path = '_apis/connectionData?api-version=7.1-preview.1';
    const url = `${baseUrl}/${encodeURIComponent(organization)}/${path}`;
    const answer = await call({ method: 'GET', url }, Connection);
    return answer.isOk ? { isOk: true, value: answer.value.authenticatedUser.id } : answer;
  }

  /** The comment that has the marker, which anybody can copy, and is our own. Its text is there, shown or not. */
  async function commentWith(id: string, marker: string): Promise<TrackerAnswer<string | undefined>> {
    const url = `${wit}/workItems/${id}/comments?${COMMENTS_VERSION}&$top=${COMMENTS_PAGE}&order=desc`;
    let next = '';
    for (let page = 1; page <= COMMENT_PAGES_MAX; page++) {
      const answer = await call({ method: 'GET', url: url + next }, Comments);
      if (!answer.isOk) return answer;
      const { comments, continuationToken } = answer.value;
      const marked = comments.filter(({ text }) => text?.includes(marker));
      const own = marked.length === 0 ? undefined : await ownId();
      if (own?.isOk === false) return own;
      const found = marked.find(({ createdBy }) => createdBy?.id === own?.value);
      if (found) return { isOk: true, value: String(found.id) };
      if (!continuationToken) break;
      next = `&continuationToken=${encodeURIComponent(continuationToken)}`;
    }
    return { isOk: true, value: undefined };
  }

  function writeComment(id: string, text: string, marker: string, known: string | undefined) {
    const url = `${wit}/workItems/${id}/comments`;
    return writeReportComment(known, {
      edit: (commentId) =>
        call({ method: 'PATCH', url: `${url}/${commentId}?${COMMENTS_VERSION}`, body: { text } }, Comment),
      find: () => commentWith(id, marker),
      create: () => call({ method: 'POST', url: `${url}?${COMMENTS_VERSION}`, body: { text } }, Comment),
    });
  }

  async function setLabel(id: string, state: ReportedState): Promise<TrackerAnswer<unknown>> {
    const [wanted, others] = [reportLabel(state), otherReportLabels(state)];
    for (let tries = 1; ; tries++) {
      const item = await itemOf(id);
      if (!item.isOk) return item;
      const tags = tagsOf(item.value);
      const kept = tags.filter((tag) => !others.has(tag));
      if (tags.includes(wanted) && kept.length === tags.length) return item;
      const labels = [...new Set([...kept, wanted])];
      const changed = await change(id, [guard(item.value), tagged(item.value, labels)]);
      if (changed.isOk || changed.kind !== 'conflict' || tries === TRIES) return changed;
    }
  }

  return {
    async fetch(id) {
      const item = await itemOf(id);
      return item.isOk ? workItemOf(item.value) : item;
    },

    async list(filter) {
      const query = await queryOf(filter);
      if (!query.isOk) return query;
      const url = `${wit}/wiql?${VERSION}&$top=${filter.maxResults}`;
      const found = await call({ method: 'POST', url, body: { query: query.value } }, Found);
      if (!found.isOk) return found;
      const ids = found.value.workItems.slice(0, filter.maxResults).map(({ id }) => id);
      if (ids.length === 0) return { isOk: true, value: [] };
      const items = await batch(ids);
      if (!items.isOk) return items;
      const byId = new Map(items.value.value.map((item) => [item.id, item]));
      return {
        isOk: true,
        value: ids.flatMap((id) => {
          const item = byId.get(id);
          return item ? [summaryOf(item, projectUrl)] : [];
        }),
      };
    },

    async create({ title, body, labels, payload }) {
      const refusal = labelRefusal(labels);
      if (refusal) return refusal;
      const operations = [
        setField(FIELD.title, title),
        setField(FIELD.description, htmlWithPayload(body, payload)),
        ...(labels.length === 0 ? [] : [setField(FIELD.tags, labels.join('; '))]),
      ];
      const url = `${wit}/workitems/$${encodeURIComponent(issueType)}?${VERSION}`;
      const answer = await call({ method: 'POST', url, headers: PATCH_TYPE, body: operations }, Item);
      if (!answer.isOk) {
        const isUnknown = answer.kind === 'not_found';
        return isUnknown ? { ...answer, kind: 'refused' } : answer;
      }
      const { id, key, url: page } = summaryOf(answer.value, projectUrl);
      const createdAt = isoOf(answer.value.fields[FIELD.createdAt]) ?? new Date().toISOString();
      return { isOk: true, value: { id, key, url: page, createdAt } };
    },

    async update(id, { title, body, state, labels, assignees }) {
      const refusal = labelRefusal(labels ?? []);
      if (refusal) return refusal;
      if (assignees && assignees.length > 1)
        return failureOf('refused', `A work item of ${PLATFORM} has at most one assignee`);
      const item = await itemOf(id);
      if (!item.isOk) return item;
      const { fields } = item.value;
      const states = await statesOf(fields[FIELD.type]);
      if (!states.isOk && state !== undefined) return states;
      const known = states.isOk ? states.value : [];
      const newState = state === undefined ? undefined : boardState(known, fields[FIELD.state], state);
      const operations = [
        ...(title === undefined ? [] : [setField(FIELD.title, title)]),
        ...(body === undefined ? [] : [describedAs(item.value, body)]),
        ...(newState ? [setField(FIELD.state, newState)] : []),
        ...(labels === undefined ? [] : [tagged(item.value, labels)]),
        ...(assignees === undefined ? [] : [setField(FIELD.assignee, assignees[0] ?? '')]),
      ];
      if (operations.length === 0) return workItemOf(item.value, known);
      const changed = await change(id, [guard(item.value), ...operations]);
      // The reply to a change has no relations.
      return changed.isOk ? workItemOf({ ...changed.value, relations: item.value.relations }, known) : changed;
    },

    async close(id, { comment, reason }) {
      for (let tries = 1; ; tries++) {
        const item = await itemOf(id);
        if (!item.isOk) return item;
        const { [FIELD.type]: type, [FIELD.state]: current } = item.value.fields;
        const states = await statesOf(type);
        if (!states.isOk) return states;
        const as = (isClosed: boolean, changed?: Item): TrackerAnswer<ClosedWorkItem> => ({
          isOk: true,
          value: { isChanged: changed !== undefined, isClosed, updatedAt: changedAt(changed ?? item.value) },
        });
        if (isClosedIn(states.value, current)) return as(true);
        const state = closingState(states.value, reason);
        if (state === undefined)
          return failureOf(
            'refused',
            `${type} has no closed state ${reason ?? 'Completed'}: one of ${states.value.map(({ name }) => name).join(', ')}`,
          );
        const isClosed = isClosedState(state);
        if (state.name === current) return as(isClosed);
        const changed = await change(id, [
          guard(item.value),
          // What is written to the history is a comment. In the same change it is there once, whatever fails.
          ...(comment === undefined ? [] : [setField(FIELD.history, htmlOf(comment))]),
          setField(FIELD.state, state.name),
        ]);
        if (changed.isOk) return as(isClosed, changed.value);
        if (changed.kind !== 'conflict' || tries === TRIES) return changed;
      }
    },

    async report(id, { marker, lines, links, state, commentId }) {
      const text = [
        ...lines.map((line) => `<div>${htmlOf(line)}</div>`),
        ...webLinks(links).map((link) => `<div><a href="${htmlOf(link.url)}">${htmlOf(link.text)}</a></div>`),
        `<span style="display:none">${htmlOf(marker)}</span>`,
      ].join('');
      const comment = await writeComment(id, text, marker, commentId);
      if (!comment.isOk) return comment;
      const labelled = await setLabel(id, state);
      return labelled.isOk ? { isOk: true, value: { commentId: String(comment.value.id) } } : labelled;
    },
  };
}

/** By its name where the type's states are not known, as of one that was removed from the process. */
function isClosedIn(states: readonly BoardState[], current: string): boolean {
  const state = states.find(({ name }) => name === current);
  return state ? isClosedState(state) : isClosedName(current);
}

const changedAt = ({ fields }: Item): string | null => isoOf(fields[FIELD.changedAt]) ?? null;

/** The change fails with 412 when the work item is no longer as it was read. */
const guard = ({ rev }: Item): Operation => ({ op: 'test', path: '/rev', value: rev });

/** `add` would add to the tags that there are. */
const tagged = (item: Item, labels: readonly string[]): Operation =>
  setField(FIELD.tags, labels.join('; '), item.fields[FIELD.tags] === undefined ? 'add' : 'replace');

const labelRefusal = (labels: readonly string[]): TrackerFailure | undefined =>
  labels.some((label) => /[;,]/.test(label))
    ? failureOf('refused', `Labels of ${PLATFORM} must not contain semicolons and commas`)
    : undefined;

function describedAs({ fields }: Item, body: string): Operation {
  const { [FIELD.description]: description, [FIELD.reproSteps]: steps } = fields;
  const name = description === undefined && steps !== undefined ? FIELD.reproSteps : FIELD.description;
  return setField(name, replacedHtml(body, textOf(fields[name])));
}
