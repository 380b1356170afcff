import { batch, insertBatch } from '../../../kernel/data/batches.ts';
import type { Reads } from '../../../kernel/data/fenced-reads.ts';
import type { Tx } from '../../../unit-of-work.ts';
import { type Range, type RangeFacts, rangeKey } from './range-cache.ts';

/** `from_seq` of a range that has no commit before it. */
const BEGINNING = -1;

const keyOf = ({ packageNo, from, to }: Range) => ({ packageNo, fromSeq: from ?? BEGINNING, toSeq: to });

/** The facts of those ranges that were computed before, by `rangeKey`. */
export async function readRanges(
  { db, tenantId }: Reads,
  projectId: string,
  ranges: readonly Range[],
): Promise<Map<string, RangeFacts>> {
  if (ranges.length === 0) return new Map();
  const wanted = batch('wanted', ranges.map(keyOf), { packageNo: 'int', fromSeq: 'int', toSeq: 'int' });
  const rows = await db
    .selectFrom(wanted)
    .innerJoin('git_range as r', (join) =>
      join
        .onRef('r.packageNo', '=', 'wanted.packageNo')
        .onRef('r.fromSeq', '=', 'wanted.fromSeq')
        .onRef('r.toSeq', '=', 'wanted.toSeq'),
    )
    .where('r.tenantId', '=', tenantId)
    .where('r.projectId', '=', projectId)
    .select(['r.packageNo', 'r.fromSeq', 'r.toSeq', 'r.commits', 'r.workItems', 'r.pullRequests'])
    .execute();
  return new Map(
    rows.map(({ packageNo, fromSeq, toSeq, ...facts }) => [
      rangeKey({ packageNo, from: fromSeq === BEGINNING ? null : fromSeq, to: toSeq }),
      facts,
    ]),
  );
}

/** Keeps the facts of ranges; those that are kept already stay. */
export async function keepRanges(
  { db, tenantId }: Pick<Tx, 'db' | 'tenantId'>,
  projectId: string,
  computed: readonly { range: Range; facts: RangeFacts }[],
): Promise<void> {
  const rows = computed
    .map(({ range, facts }) => ({ ...keyOf(range), ...facts }))
    // In the order of the key, so that two transactions that keep the same ranges cannot deadlock.
    .toSorted((a, b) => a.packageNo - b.packageNo || a.fromSeq - b.fromSeq || a.toSeq - b.toSeq);
  await insertBatch(db, 'git_range', { tenantId, projectId }, rows, {
    packageNo: 'int',
    fromSeq: 'int',
    toSeq: 'int',
    commits: 'int[]',
    workItems: 'text[]',
    pullRequests: 'int[]',
  })
    .onConflict((conflict) => conflict.columns(['tenantId', 'projectId', 'packageNo', 'fromSeq', 'toSeq']).doNothing())
    .execute();
}
