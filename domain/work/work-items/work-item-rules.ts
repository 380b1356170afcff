import { REPORTED_STATES, type ReportedState, type TrackerPlatform } from './work-tracker.port.ts';

const NUMBER = /^[1-9]\d{0,9}$/;
/** Azure's ids have 32 bits. */
const HOST_B_MAX = 2 ** 31 - 1;
const IDS: Record<TrackerPlatform, RegExp> = {
  'tracker-a': /^[A-Z][A-Z0-9_]{0,99}-[1-9]\d{0,9}$/i,
  'host-a': NUMBER,
  'host-b': NUMBER,
};

/** Whether a text can be the id of a work item: `KEY-12` on tracker-a, else a number. */
export const isWorkItemId = (platform: TrackerPlatform, id: string): boolean =>
  IDS[platform].test(id) && (platform !== 'host-b' || Number(id) <= HOST_B_MAX);

/** Types that labels name where a tracker has none of its own. */
const TYPE_LABELS = ['bug', 'story', 'task', 'epic'];

const labelAmong = (labels: readonly string[], names: readonly string[]): string | undefined =>
  names.find((name) => labels.some((label) => label.toLowerCase() === name));

/** Type of an issue of host-a: its issue type, else a label. */
export const issueTypeOf = (type: string | null | undefined, labels: readonly string[]): string =>
  type ?? labelAmong(labels, TYPE_LABELS) ?? 'issue';

/** Priority of an issue of host-a, by a label: `priority:high`, `P0` to `P4`. */
export function priorityOf(labels: readonly string[]): string | null {
  for (const label of labels) {
    const [, named, numbered] = /^(?:priority:\s*(\S.*)|(P[0-4]))$/i.exec(label.trim()) ?? [];
    if (named !== undefined) return named;
    if (numbered !== undefined) return numbered.toUpperCase();
  }
  return null;
}

/** A state of a type of work items of host-b. */
export interface BoardState {
  name: string;
  /** Proposed, InProgress, Resolved, Completed or Removed. */
  category: string;
}

const CLOSED = new Set(['Completed', 'Removed']);
/** Closed states of the processes that Azure Boards has, for types whose states are not known. */
const CLOSED_NAMES = new Set(['closed', 'done', 'completed', 'removed']);
export const isClosedName = (state: string): boolean => CLOSED_NAMES.has(state.toLowerCase());
export const isClosedState = ({ category }: BoardState): boolean => CLOSED.has(category);

const isSame = (left: string, right: string): boolean => left.toLowerCase() === right.toLowerCase();
const stateNamed = (states: readonly BoardState[], name: string) => states.find((state) => isSame(state.name, name));
const firstOf = (states: readonly BoardState[], ...categories: readonly string[]) =>
  categories.flatMap((category) => states.find((state) => isSame(state.category, category)) ?? [])[0];

/**
 * The state that a work item of host-b is to have: `open` and `closed` by category (one that is in it stays), any other
 * word as it is. Undefined: it stays as it is.
 */
export function boardState(states: readonly BoardState[], current: string, wanted: string): string | undefined {
  const currentState = stateNamed(states, current);
  const isClosed = currentState !== undefined && isClosedState(currentState);
  if (isSame(wanted, 'open'))
    return isClosed || !currentState ? firstOf(states, 'Proposed', 'InProgress')?.name : undefined;
  if (isSame(wanted, 'closed')) return isClosed ? undefined : (firstOf(states, 'Completed')?.name ?? wanted);
  return stateNamed(states, wanted)?.name ?? wanted;
}

/**
 * The state that closes a work item of host-b.
 * @param reason a closed or resolved state, or its category; the answer is undefined where it is neither.
 */
export function closingState(states: readonly BoardState[], reason = 'Completed'): BoardState | undefined {
  const closed = states.filter((state) => isClosedState(state));
  // Azure Boards counts `Resolved` among the open states, but it may be asked for.
  const resolved = states.filter(({ category }) => category === 'Resolved');
  return [closed, resolved].map((some) => stateNamed(some, reason) ?? firstOf(some, reason)).find(Boolean);
}

export const reportLabel = (state: ReportedState): string => `quayside:${state}`;

/** Labels of other reported states, which a report takes away. */
export const otherReportLabels = (state: ReportedState): ReadonlySet<string> =>
  new Set(REPORTED_STATES.filter((each) => each !== state).map(reportLabel));

/** Most characters of a description that is shown. */
const DESCRIPTION_MAX = 100_000;
export const shownDescription = (text: string | null | undefined): string | null =>
  text === '' ? null : (text?.slice(0, DESCRIPTION_MAX) ?? null);

/** Most members of `customFields`. */
const CUSTOM_FIELDS_MAX = 100;
/** Most characters of a custom field: longer texts are cut, other longer values left out. */
const CUSTOM_FIELD_MAX = 10_000;
const CUSTOM_FIELD_LEVELS_MAX = 10;

const isShallow = (value: unknown, levels = CUSTOM_FIELD_LEVELS_MAX): boolean =>
  typeof value !== 'object' ||
  value === null ||
  (levels > 0 && Object.values(value).every((inner) => isShallow(inner, levels - 1)));
const isSmall = (value: unknown): boolean =>
  typeof value === 'string' || (isShallow(value) && JSON.stringify(value).length <= CUSTOM_FIELD_MAX);

/** What a work item has beside the members that are shown by name; empty ones are left out. */
export const customFields = (
  fields: Record<string, unknown>,
  isShown: (name: string) => boolean,
  plain: (value: unknown) => unknown,
): Record<string, unknown> =>
  Object.fromEntries(
    Object.entries(fields)
      .filter(([name, value]) => value !== null && value !== undefined && value !== '' && !isShown(name))
      .filter(([, value]) => !(Array.isArray(value) && value.length === 0))
      .filter(([, value]) => isShallow(value))
      .map(([name, value]): [string, unknown] => [name, plain(value)])
      .filter(([, value]) => isSmall(value))
      .slice(0, CUSTOM_FIELDS_MAX)
      .map(([name, value]) => [name, typeof value === 'string' ? value.slice(0, CUSTOM_FIELD_MAX) : value]),
  );
