import type { Tx } from '../../../unit-of-work.ts';
import { memoized } from '../../../kernel/caches/memoized.ts';
import { type Attribution, mentionsOf } from '../attribution-rules.ts';
import { attributionOf, type History } from './commit-graph-cache.ts';
import { type Range, type RangeFacts, rangeKey } from './range-cache.ts';
import { keepRanges, readRanges } from './ranges.queries.ts';

export interface Ranges {
  of: (range: Range) => RangeFacts;
  /** How many had to be computed now. */
  calculated: number;
  /** How many were computed before. */
  kept: number;
}

const NONE: RangeFacts = { commits: [], workItems: [], pullRequests: [] };

/** The ends of a range, whatever its package. */
export type Span = Pick<Range, 'from' | 'to'>;

const spanKey = ({ from, to }: Span): string => `${from ?? ''}:${to}`;

/** The attribution of ranges, made once for all that have the same ends. */
export const attributions = (history: History): ((span: Span) => Attribution) =>
  memoized(({ from, to }: Span) => attributionOf(history, from, to), spanKey);

/** Tells which ranges have no commits, since they end at what their beginning descends from. */
function emptiness({ graph }: History): (range: Range) => boolean {
  const answerOf = memoized(
    ({ from, to }: Span) => ({ isEmpty: from !== null && graph.isAncestor(to, from) }),
    spanKey,
  );
  return (range) => answerOf(range).isEmpty;
}

/**
 * The facts of ranges. Each is computed once and kept: commits never change, so the facts of a range do not either.
 * @param isForced computes them anew.
 */
export async function rangeFacts(
  tx: Tx,
  history: History,
  wanted: readonly Range[],
  { isForced = false } = {},
): Promise<Ranges> {
  const isEmpty = emptiness(history);
  const ranges = new Map(wanted.filter((range) => !isEmpty(range)).map((range) => [rangeKey(range), range]));
  const found = new Map<string, RangeFacts>();
  const add = (more: ReadonlyMap<string, RangeFacts>) => {
    for (const [key, facts] of more) {
      found.set(key, facts);
      history.ranges.set(key, facts);
    }
  };
  const missing = () => [...ranges].filter(([key]) => !found.has(key)).map(([, range]) => range);
  if (!isForced) {
    for (const key of ranges.keys()) {
      const facts = history.ranges.get(key);
      if (facts) found.set(key, facts);
    }
    add(await readRanges(tx, history.projectId, missing()));
  }
  const calculated = missing();
  add(await computeRanges(tx, history, calculated));
  return {
    of: (range) => found.get(rangeKey(range)) ?? NONE,
    calculated: calculated.length,
    kept: ranges.size - calculated.length,
  };
}

/**
 * The commits of ranges, computed in memory and not kept: for answers that need nothing else of many of them. Without
 * merges between two commits, those that change a package are listed; with some, git's walk decides, unless nothing
 * changes the package at all, or no merge brings changes of it to the line of first parents. A whole history is walked for each package: it is longer than what changed.
 */
export function commitsOfRanges(history: History): (range: Range) => readonly number[] {
  const { graph, ranges } = history;
  const spans = memoized(({ from, to }: Span) => {
    const commits = graph.log('everything', from, to);
    const hasMerges = commits.some((commit) => graph.parentsOf(commit).length > 1);
    return { from, to, commits, line: hasMerges ? firstParents(graph, from, to) : undefined, hasMerges };
  }, spanKey);
  let last: ReturnType<typeof spans> | undefined;
  return (range) => {
    const { packageNo, from, to } = range;
    if (from !== null) {
      // The packages of a release mostly have the same.
      if (last?.from !== from || last.to !== to) last = spans(range);
      const changed = graph.changedIn(packageNo, last.commits);
      if (!last.hasMerges || changed.length === 0) return changed;
      const { line } = last;
      if (line?.merges.every((merge) => (graph.changeIn(packageNo, merge) & 1n) === 0n))
        return graph.changedIn(packageNo, line.others);
    }
    return ranges.get(rangeKey(range))?.commits ?? graph.log([packageNo], from, to);
  };
}

/**
 * The line of first parents from a commit to before another one; undefined: it does not come to that one. Git follows it
 * alone in the paths of a package in which every merge on it equals its first parent: what is on it descends from the
 * other commit, so that none is left out whatever the order of the walk.
 */
function firstParents(graph: History['graph'], from: number | null, to: number) {
  const merges: number[] = [];
  const others: number[] = [];
  let commit: number | undefined = to;
  for (; commit !== undefined && commit > (from ?? -1); commit = graph.parentsOf(commit)[0])
    if (graph.parentsOf(commit).length > 1) merges.push(commit);
    else others.push(commit);
  return commit === from ? { merges, others } : undefined;
}

async function computeRanges(tx: Tx, history: History, ranges: readonly Range[]): Promise<Map<string, RangeFacts>> {
  if (ranges.length === 0) return new Map();
  const attributionOfRange = attributions(history);
  const computed = ranges.map((range) => {
    const commits = history.graph.log([range.packageNo], range.from, range.to);
    return { range, facts: { commits, ...mentionsOf(commits, attributionOfRange(range)) } };
  });
  await keepRanges(tx, history.projectId, computed);
  return new Map(computed.map(({ range, facts }) => [rangeKey(range), facts]));
}
