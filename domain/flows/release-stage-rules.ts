/** One item of a staged work, and how it stands. */
export interface Stage<Item> {
  item: Item;
  order: number;
  state: 'absent' | 'open' | 'well' | 'ended';
}

/**
 * The items to start now: those of the lowest order that are absent, once everything of a lower order is well. None
 * while something is open before them, and none ever after something ended otherwise.
 */
export function nextStage<Item>(stages: readonly Stage<Item>[]): Item[] {
  const absent = stages.filter(({ state }) => state === 'absent');
  const lowest = Math.min(...absent.map(({ order }) => order));
  const isHeldUp = stages.some(({ order, state }) => order < lowest && state !== 'well');
  return isHeldUp ? [] : absent.filter(({ order }) => order === lowest).map(({ item }) => item);
}
