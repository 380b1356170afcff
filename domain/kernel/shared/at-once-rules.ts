/**
 * Works off a list, so many items at once, in its order; none of the others is begun after one has failed.
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
  await Promise.all(Array.from({ length: Math.min(atOnce, all.length) }, worker));
}
