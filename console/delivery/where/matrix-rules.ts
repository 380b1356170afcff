import type { Environment, ReleaseMatrix, ReleaseMatrixCell } from '@quayside/client';
import type { Tone } from '../../kernel/parts/tone.ts';

export type Row = ReleaseMatrix['rows'][number];
export type EnvironmentColumn = ReleaseMatrix['columns'][number];
export type CellState = ReleaseMatrixCell['state'];

export const TONES: Record<CellState, Tone> = {
  deployed: 'good',
  installed_before: 'idle',
  partial: 'wait',
  failed: 'bad',
  rolled_back: 'bad',
  other_content: 'wait',
  waiting_approval: 'wait',
  held: 'bad',
  waiting_window: 'wait',
  waiting_lock: 'wait',
  running: 'busy',
  never: 'idle',
  not_taken: 'idle',
};

export const isThere = (state: CellState): boolean => state === 'deployed' || state === 'installed_before';

/** Nothing of it was ever deployed in one of the columns, and nothing is on its way. */
export const isNowhere = ({ cells }: Pick<Row, 'cells'>): boolean =>
  cells.every(({ state }) => state === 'never' || state === 'not_taken' || state === 'held');

/**
 * What an environment is to a release: it is there; it can go there next; it was passed over, though what comes later has it;
 * it must be elsewhere first; it can go there later; or it is never taken there.
 */
export type Mark = 'here' | 'next' | 'passed' | 'blocked' | 'later' | 'never';

type Policies = readonly Pick<Environment, 'name' | 'promotion'>[];

/**
 * The mark of each column for one release, whose cells are in the order of the columns. Whether it was deployed where no
 * column is, is not known: nothing is blocked by that.
 */
export function marksOf(
  cells: readonly Pick<ReleaseMatrixCell, 'state'>[],
  columns: readonly Pick<EnvironmentColumn, 'name'>[],
  policies: Policies,
): readonly Mark[] {
  const there = new Set(columns.filter((_, index) => isThere(cells[index]?.state ?? 'never')).map(({ name }) => name));
  const names = new Set(columns.map(({ name }) => name));
  const last = cells.findLastIndex(({ state }) => isThere(state));
  let hasNext = false;
  return columns.map(({ name }, index) => {
    const state = cells[index]?.state ?? 'never';
    if (there.has(name)) return 'here';
    if (state === 'not_taken') return 'never';
    const after = policies.find((policy) => policy.name === name)?.promotion?.after ?? [];
    const missing = after.filter((each) => !there.has(each));
    if (missing.length > 0) return missing.every((each) => names.has(each)) ? 'blocked' : 'later';
    if (index < last) return 'passed';
    // Where a policy names what comes before, being there leads on; else the next one in order is next.
    if (after.length > 0 || !hasNext) {
      hasNext = true;
      return 'next';
    }
    return 'later';
  });
}

/** At most this many environments are columns. */
export const COLUMNS_MAX = 30;

/**
 * The environments to ask for: with few of them all, so that no filter hides where a release can go next. Of more, those
 * chosen (or the first in order), with those where a release must be before, and those that are next by order or by a policy.
 */
export function columnsToAsk(
  environments: readonly Pick<Environment, 'name' | 'isActive' | 'promotion'>[],
  chosen: readonly string[],
): readonly string[] | undefined {
  const active = environments.filter(({ isActive }) => isActive);
  if (active.length <= COLUMNS_MAX) return undefined;
  const names = active.map(({ name }) => name);
  const wanted = names.filter((name) => chosen.includes(name));
  if (wanted.length === 0) return names.slice(0, COLUMNS_MAX);
  const before = active.flatMap(({ name, promotion }) =>
    wanted.includes(name) ? (promotion?.after ?? []).filter((each) => names.includes(each)) : [],
  );
  const following = active.filter(
    ({ name, promotion }, index) =>
      !wanted.includes(name) &&
      (wanted.includes(names[index - 1] ?? '') || (promotion?.after ?? []).some((each) => wanted.includes(each))),
  );
  const asked = new Set(
    [...new Set([...wanted, ...before, ...following.map(({ name }) => name)])].slice(0, COLUMNS_MAX),
  );
  return names.filter((name) => asked.has(name));
}

/**
 * The columns that are shown: those chosen, and, of the release that is chosen, all where it can go next, where it was passed
 * over, and where something of it waits.
 */
export function shownColumns(
  columns: readonly EnvironmentColumn[],
  chosen: readonly string[],
  marks: readonly Mark[] = [],
): readonly number[] {
  const isKnown = columns.some(({ name }) => chosen.includes(name));
  return columns.flatMap(({ name }, index) => {
    const mark = marks[index];
    const isNeeded = mark === 'next' || mark === 'passed';
    return !isKnown || chosen.includes(name) || isNeeded ? [index] : [];
  });
}

/** Texts as one parameter of an address, whatever is in them. */
export const listText = (texts: readonly string[]): string | undefined =>
  texts.length === 0 ? undefined : texts.map((text) => text.replaceAll('%', '%25').replaceAll(',', '%2C')).join(',');

export const textsOf = (text: string | undefined): readonly string[] =>
  text ? text.split(',').map((each) => each.replaceAll('%2C', ',').replaceAll('%25', '%')) : [];

/** A run of the service, not of a pipeline that reports its own name. */
export const isRunId = (id: string | undefined): id is string =>
  id !== undefined && /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i.test(id);
