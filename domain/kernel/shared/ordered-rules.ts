/** The first of some things in order of their moments that is not before a moment; their number when there is none. */
export function firstFrom<Thing>(things: readonly Thing[], moment: number, momentOf: (thing: Thing) => number): number {
  let [low, high] = [0, things.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    const thing = things[middle];
    if (thing !== undefined && momentOf(thing) < moment) low = middle + 1;
    else high = middle;
  }
  return low;
}
