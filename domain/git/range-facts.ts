import type { Tx } from '../unit-of-work.ts';
import type { History } from './commit-graph-cache.ts';
import { type Range, type RangeFacts, rangeKey } from './range-cache.ts';
import { commitMentions, keepRanges, type Mentions, readRanges } from './ranges.queries.ts';

export interface Ranges {
  of: (range: Range) => RangeFacts;
  /** How many had to be computed now. */
  calculated: number;
  /** How many were computed before. */
  kept: number;
}

const NONE: RangeFacts = { commits: [], workItems: [], pullRequests: [] };

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
  const ranges = new Map(wanted.map((range) => [rangeKey(range), range]));
  const found = new Map<string, RangeFacts>();
  const missing = () => [...ranges].filter(([key]) => !found.has(key)).map(([, range]) => range);
  if (!isForced) {
    for (const key of ranges.keys()) {
      const facts = history.ranges.get(key);
      if (facts) found.set(key, facts);
    }
    for (const [key, facts] of await readRanges(tx, history.projectId, missing())) found.set(key, facts);
  }
  const calculated = missing();
  for (const [key, facts] of await computeRanges(tx, history, calculated)) found.set(key, facts);
  for (const [key, facts] of found) history.ranges.set(key, facts);
  return {
    of: (range) => found.get(rangeKey(range)) ?? NONE,
    calculated: calculated.length,
    kept: ranges.size - calculated.length,
  };
}

async function computeRanges(
  tx: Tx,
  { projectId, graph }: History,
  ranges: readonly Range[],
): Promise<Map<string, RangeFacts>> {
  if (ranges.length === 0) return new Map();
  const listed = ranges.map((range) => ({ range, commits: graph.log([range.packageNo], range.from, range.to) }));
  const all = listed.flatMap(({ commits }) => commits);
  const mentions = await commitMentions(tx, projectId, all);
  const computed = listed.map(({ range, commits }) => ({
    range,
    facts: { commits, ...mentionsOf(commits, mentions) },
  }));
  await keepRanges(tx, projectId, computed);
  return new Map(computed.map(({ range, facts }) => [rangeKey(range), facts]));
}

/** What some commits mention together, in order of first mention. */
export const mentionsOf = (commits: readonly number[], mentions: Mentions) => ({
  workItems: [...new Set(commits.flatMap((commit) => mentions.get(commit)?.workItems ?? []))],
  pullRequests: [...new Set(commits.flatMap((commit) => mentions.get(commit)?.pullRequests ?? []))],
});
