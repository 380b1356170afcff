import { type BoardState, isClosedState } from './work-item-rules.ts';
import type { WorkItemFilter } from './work-tracker.port.ts';

/** A text in JQL: in double quotes, which like backslashes are escaped. */
export const jqlText = (text: string): string => `"${withoutControls(text).replaceAll(/["\\]/g, String.raw`\$&`)}"`;

/** A text in WIQL: in single quotes, which are doubled. */
export const wiqlText = (text: string): string => `'${withoutControls(text).replaceAll("'", "''")}'`;

/** Neither language has a way to write them. */
const withoutControls = (text: string): string => text.replaceAll(/\p{Cc}/gu, ' ');

/** What is asked for by its category instead of its name; undefined: by its name. */
export const categoryOf = (status: string): 'open' | 'closed' | undefined => {
  const word = status.toLowerCase();
  return word === 'open' || word === 'closed' ? word : undefined;
};

/** Jira refuses a search without a bound; without boards this one is its bound. */
const UNBOUNDED_SINCE = 'updated >= "-365d"';

/** A search of Jira's projects. @param projects none: all that the credential sees. */
export const projectsJql = (filter: WorkItemFilter, projects: readonly string[]): string =>
  jqlOf(filter, projects.length === 0 ? UNBOUNDED_SINCE : `project in (${projects.map(jqlText).join(', ')})`);

/** A search within an agile board, which is a bound of its own. */
export const boardJql = (filter: WorkItemFilter): string => jqlOf(filter);

const STATUS_CATEGORIES = { open: 'statusCategory != Done', closed: 'statusCategory = Done' };

function jqlOf({ status, assignee, type }: WorkItemFilter, bound?: string): string {
  const category = status === undefined ? undefined : categoryOf(status);
  const conditions = [
    ...(bound === undefined ? [] : [bound]),
    ...(status === undefined ? [] : [category ? STATUS_CATEGORIES[category] : `status = ${jqlText(status)}`]),
    ...(type === undefined ? [] : [`issuetype = ${jqlText(type)}`]),
    ...(assignee === undefined ? [] : [`assignee = ${assignee === 'me' ? 'currentUser()' : jqlText(assignee)}`]),
  ];
  return `${conditions.join(' AND ')} ORDER BY updated DESC`.trim();
}

/** Types of work items of a project of Azure Boards. */
export interface BoardType {
  name: string;
  states: readonly BoardState[];
}

/**
 * A query of Azure Boards for ids, newest change first.
 * @param areas area paths, none: the whole project. @param types only needed for a category of states, which differ by type.
 */
export function boardsWiql(
  { status, assignee, type }: WorkItemFilter,
  areas: readonly string[],
  types: readonly BoardType[] = [],
): string {
  const category = status === undefined ? undefined : categoryOf(status);
  const conditions = [
    '[System.TeamProject] = @project',
    ...(areas.length === 0 ? [] : [anyOf(areas.map((path) => `[System.AreaPath] UNDER ${wiqlText(path)}`))]),
    ...(assignee === undefined ? [] : [`[System.AssignedTo] = ${assignee === 'me' ? '@Me' : wiqlText(assignee)}`]),
    ...(type === undefined ? [] : [`[System.WorkItemType] = ${wiqlText(type)}`]),
    ...(status === undefined ? [] : [category ? inCategory(category, types) : `[System.State] = ${wiqlText(status)}`]),
  ];
  return `SELECT [System.Id] FROM WorkItems WHERE ${conditions.join(' AND ')} ORDER BY [System.ChangedDate] DESC`;
}

const anyOf = (conditions: readonly string[]): string => `(${conditions.join(' OR ')})`;

function inCategory(category: 'open' | 'closed', types: readonly BoardType[]): string {
  const conditions = types.flatMap(({ name, states }) => {
    const names = states.filter((state) => isClosedState(state) === (category === 'closed')).map((state) => state.name);
    const ofType = `[System.WorkItemType] = ${wiqlText(name)}`;
    return names.length === 0 ? [] : [`(${ofType} AND [System.State] IN (${names.map(wiqlText).join(', ')}))`];
  });
  // Nothing is of no type.
  return conditions.length === 0 ? "[System.WorkItemType] = ''" : anyOf(conditions);
}
