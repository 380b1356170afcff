/** Place of the first of some things, in order of a number of theirs, whose number is at least this; how many they are when there is none. */
export function firstFrom<Thing>(things: readonly Thing[], least: number, numberOf: (thing: Thing) => number): number {
  let [low, high] = [0, things.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    const thing = things[middle];
    if (thing !== undefined && numberOf(thing) < least) low = middle + 1;
    else high = middle;
  }
  return low;
}
