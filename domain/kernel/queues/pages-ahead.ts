import { setImmediate as turnOfOthers } from 'node:timers/promises';

/**
 * Rows page by page, the next page read while the caller is at work on the one before.
 *
 * @param pageRows a page with fewer is the last.
 * @param fetch the first page, or the one behind a row.
 */
export async function* pagesAhead<Row>(
  pageRows: number,
  fetch: (behind?: Row) => Promise<Row[]>,
): AsyncGenerator<Row[], void> {
  let coming = fetch();
  for (;;) {
    const rows = await coming;
    const last = rows.at(-1);
    if (last === undefined) return;
    const isLast = rows.length < pageRows;
    if (!isLast) {
      coming = fetch(last);
      // Its failure is met when it is awaited, or by nobody when the caller has gone.
      coming.catch(() => undefined);
      // A caller that computes leaves nobody else a turn: without this one the query would be sent when it has finished.
      await turnOfOthers();
    }
    yield rows;
    if (isLast) return;
  }
}
