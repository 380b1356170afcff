/** A list in parts of so many items; the last may have fewer. */
export const partsOf = <Item>(items: readonly Item[], size: number): Item[][] =>
  Array.from({ length: Math.ceil(items.length / size) }, (_, index) => items.slice(index * size, (index + 1) * size));

/**
 * Works off a list, so many items at once, in its order. After one has failed none of the others is begun, and those that
 * were have ended when this rejects.
 * @param isOver whether no further item is to be begun.
 */
export async function eachAtOnce<Item>(
  items: Iterable<Item>,
  atOnce: number,
  work: (item: Item) => Promise<void>,
  { isOver = () => false }: { isOver?: () => boolean } = {},
): Promise<void> {
  const all = [...items];
  const queue = all.values();
  let hasFailed = false;
  const worker = async () => {
    for (const item of queue) {
      if (hasFailed || isOver()) return;
      try {
        await work(item);
      } catch (error) {
        hasFailed = true;
        throw error;
      }
    }
  };
  const workers = Array.from({ length: Math.min(atOnce, all.length) }, worker);
  const failed = (await Promise.allSettled(workers)).find((result) => result.status === 'rejected');
  if (failed) throw failed.reason;
}
