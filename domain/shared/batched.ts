/**
 * Turns many concurrent calls into few: the first flushes at once, those that arrive during a flush make the next one.
 * A call resolves with the result for its own item; a failed flush fails each of its calls.
 *
 * @param flush answers one result per item, in the order of the items.
 * @param maxBatch the most items of one flush.
 */
export function batched<Item, Result>(
  flush: (items: Item[]) => Promise<Result[]>,
  maxBatch = 1_000,
): (item: Item) => Promise<Result> {
  let waiting: { item: Item; resolve: (result: Result) => void; reject: (error: unknown) => void }[] = [];
  let isFlushing = false;

  const run = async () => {
    isFlushing = true;
    while (waiting.length > 0) {
      const batch = waiting.slice(0, maxBatch);
      waiting = waiting.slice(maxBatch);
      try {
        const results = await flush(batch.map(({ item }) => item));
        batch.forEach(({ resolve }, index) => resolve(results[index] as Result));
      } catch (error) {
        for (const { reject } of batch) reject(error);
      }
    }
    isFlushing = false;
  };

  return (item) =>
    new Promise((resolve, reject) => {
      waiting.push({ item, resolve, reject });
      if (!isFlushing) void run();
    });
}
