/** So many waiting calls make a batch that is worth sending without a rest. */
const ENOUGH = 16;
/** Waiting calls that make such a batch where the pauses grow with the batches. */
const ENOUGH_WHEN_GROWING = 64;

export interface BatchOptions {
  /** The most items of one flush. */
  maxBatch?: number;
  /**
   * Milliseconds between the end of a flush and the next one, unless many calls wait. Under load this makes fewer and
   * larger batches, and what each costs beside its items counts less; a call after a pause never waits.
   */
  restMs?: number;
  /** The rest is `restMs` for each item of the last flush, up to this: the higher the load, the larger the batches. */
  maxRestMs?: number;
}

/**
 * Turns many concurrent calls into few: the first flushes at once, those that arrive during a flush make the next one.
 * A call resolves with the result for its own item; a failed flush fails each of its calls.
 *
 * @param flush answers one result per item, in the order of the items.
 */
export function batched<Item, Result>(
  flush: (items: Item[]) => Promise<Result[]>,
  { maxBatch = 1_000, restMs = 0, maxRestMs }: BatchOptions = {},
): (item: Item) => Promise<Result> {
  let waiting: { item: Item; resolve: (result: Result) => void; reject: (error: unknown) => void }[] = [];
  let isFlushing = false;
  let restedAt = 0;
  const enough = maxRestMs === undefined ? ENOUGH : ENOUGH_WHEN_GROWING;

  const rest = async () => {
    const leftMs = restedAt - performance.now();
    if (leftMs > 0 && waiting.length < enough) await new Promise((resolve) => setTimeout(resolve, leftMs));
  };

  const run = async () => {
    isFlushing = true;
    while (waiting.length > 0) {
      if (restMs > 0) await rest();
      const batch = waiting.slice(0, maxBatch);
      waiting = waiting.slice(maxBatch);
      try {
        const results = await flush(batch.map(({ item }) => item));
        batch.forEach(({ resolve }, index) => resolve(results[index] as Result));
      } catch (error) {
        for (const { reject } of batch) reject(error);
      }
      restedAt = performance.now() + (maxRestMs === undefined ? restMs : Math.min(maxRestMs, restMs * batch.length));
    }
    isFlushing = false;
  };

  return (item) =>
    new Promise((resolve, reject) => {
      waiting.push({ item, resolve, reject });
      if (!isFlushing) void run();
    });
}

/** Batches calls as `batched` does, but only calls of the same key share a flush, and each key has flushes of its own. */
export function batchedPerKey<Key, Item, Result>(
  nameOf: (key: Key) => string,
  flush: (key: Key, items: Item[]) => Promise<Result[]>,
  options: BatchOptions = {},
): (key: Key, item: Item) => Promise<Result> {
  const callers = new Map<string, { call: (item: Item) => Promise<Result>; waiting: number }>();
  return async (key, item) => {
    const name = nameOf(key);
    const caller = callers.get(name) ?? { call: batched((items: Item[]) => flush(key, items), options), waiting: 0 };
    callers.set(name, caller);
    caller.waiting++;
    try {
      return await caller.call(item);
    } finally {
      if (--caller.waiting === 0) callers.delete(name);
    }
  };
}
