import { displayOf, type FinalStatus, isFinal, type RunStatus } from '../run-status-rules.ts';

/** Outcome of a run from the latest attempt of each of its children; undefined while one of them is open. */
export function outcomeOf(children: readonly RunStatus[]): FinalStatus | undefined {
  if (children.length === 0 || !children.every(isFinal)) return undefined;
  const [display, ...others] = new Set(children.map(displayOf));
  if (others.length > 0) return 'partial';
  if (display === 'Completed') return 'succeeded';
  if (display === 'Failed') return 'failed';
  return display === 'Cancelled' ? 'cancelled' : 'partial';
}

/** One line on the latest children of a run, all of which have ended. */
export function describeChildren(children: readonly { name: string; status: RunStatus }[]): string {
  const failed = children
    .filter(({ status }) => displayOf(status) !== 'Completed')
    .map(({ name, status }) => `${name} ${displayOf(status).toLowerCase()}`);
  return failed.length === 0
    ? `All ${children.length} completed`
    : `${children.length - failed.length} of ${children.length} completed; ${failed.join(', ')}`;
}

/** One item of staged work. */
export interface StagedItem<Item> {
  item: Item;
  order: number;
  /** Status of its latest attempt; undefined: there is none. */
  status: RunStatus | undefined;
}

/**
 * The items to start now: those of the lowest order without an attempt, once everything of a lower order has succeeded.
 * None while something before them is open, and none ever after something before them failed.
 */
export function nextStage<Item>(items: readonly StagedItem<Item>[]): Item[] {
  const missing = items.filter(({ status }) => status === undefined);
  const lowest = Math.min(...missing.map(({ order }) => order));
  const isBlocked = items.some(({ order, status }) => order < lowest && !(status && displayOf(status) === 'Completed'));
  return isBlocked ? [] : missing.filter(({ order }) => order === lowest).map(({ item }) => item);
}
