import { attributions, type Ranges } from '../git/range-facts.ts';
import type { Attribution } from '../git/attribution-rules.ts';
import type { CommitView } from '../git/commits.queries.ts';
import type { History } from '../git/commit-graph-cache.ts';
import type { Range, RangeFacts } from '../git/range-cache.ts';
import { workItemUrl } from '../git/work-item-rules.ts';
import type { ProjectFacts } from '../projects/projects.queries.ts';

/** The ranges of a change: what `git log from..to` lists, and what `git log to..from` does; undefined: nothing, or not known. */
export interface TwoSided {
  added: Range | undefined;
  removed: Range | undefined;
}

/** One side of a change as it is shown. */
export interface ChangelogSide {
  /** Newest first; limited, which nothing else is. */
  commits: CommitView[];
  totalCommits: number;
  isTruncated: boolean;
  workItems: string[];
  pullRequests: number[];
}

/** One side of several changes together: distinct commits, work items and pull requests. */
export interface SideSummary {
  totalCommits: number;
  totalWorkItems: number;
  totalPullRequests: number;
  workItems: string[];
  pullRequests: number[];
}

const NONE: RangeFacts = { commits: [], workItems: [], pullRequests: [] };

/** The ranges of some changes, for their facts. */
export const rangesOf = (changes: readonly TwoSided[]): Range[] =>
  changes.flatMap(({ added, removed }) => [added ?? [], removed ?? []].flat());

/** The facts of both sides of a change. */
export const sidesOf = (ranges: Ranges, { added, removed }: TwoSided): { added: RangeFacts; removed: RangeFacts } => ({
  added: added ? ranges.of(added) : NONE,
  removed: removed ? ranges.of(removed) : NONE,
});

/** One side with its first commits. */
export function sideView(
  { commits, workItems, pullRequests }: RangeFacts,
  shown: ReadonlyMap<number, CommitView>,
  limit: number,
): ChangelogSide {
  return {
    commits: commits.slice(0, limit).flatMap((commit) => shown.get(commit) ?? []),
    totalCommits: commits.length,
    isTruncated: commits.length > limit,
    workItems: [...workItems],
    pullRequests: [...pullRequests],
  };
}

/** Distinct commits, work items and pull requests of several sides. */
export function summaryOf(sides: readonly RangeFacts[]): SideSummary {
  const commits = new Set<number>();
  const workItems = new Set<string>();
  const pullRequests = new Set<number>();
  for (const side of sides) {
    for (const commit of side.commits) commits.add(commit);
    for (const key of side.workItems) workItems.add(key);
    for (const number of side.pullRequests) pullRequests.add(number);
  }
  return {
    totalCommits: commits.size,
    totalWorkItems: workItems.size,
    totalPullRequests: pullRequests.size,
    workItems: [...workItems].toSorted(),
    pullRequests: [...pullRequests].toSorted((a, b) => a - b),
  };
}

export interface WorkItemView {
  key: string;
  url: string | null;
  /** Ids of those listed commits that count for it. */
  commits: string[];
  /** All commits that count for it. */
  totalCommits: number;
}

/** What is on the removed side of changes, and on the added side of none: a cherry-picked work item is still there. */
export interface NoLongerIncluded {
  workItems: WorkItemView[];
  pullRequests: number[];
}

/** Commits that count together, with what each counts for. */
export interface CountedCommits {
  commits: readonly number[];
  attribution: Attribution;
}

/** The commits of ranges with what they count for. */
export function countedCommits(
  history: History,
  ranges: Ranges,
  some: readonly (Range | undefined)[],
): CountedCommits[] {
  const attributionOf = attributions(history);
  return some.flatMap((range) => {
    const { commits } = range ? ranges.of(range) : NONE;
    return range && commits.length > 0 ? [{ commits, attribution: attributionOf(range) }] : [];
  });
}

/** Work items with the commits that count for them, by key. */
export function workItemViews(
  counted: readonly CountedCommits[],
  shown: ReadonlyMap<number, CommitView>,
  { configuration }: Pick<ProjectFacts, 'configuration'>,
): WorkItemView[] {
  const commitsByKey = new Map<string, Set<number>>();
  for (const { commits, attribution } of counted)
    for (const commit of commits)
      for (const key of attribution(commit).workItems) {
        const own = commitsByKey.get(key);
        if (own) own.add(commit);
        else commitsByKey.set(key, new Set([commit]));
      }
  return [...commitsByKey]
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .map(([key, commits]) => ({
      key,
      url: workItemUrl(key, configuration),
      commits: [...commits].flatMap((commit) => shown.get(commit)?.sha ?? []),
      totalCommits: commits.size,
    }));
}

/** Keys on the removed side that are not on the added one, too. */
export function onlyRemoved({ added, removed }: Record<'added' | 'removed', SideSummary>): {
  workItems: string[];
  pullRequests: number[];
} {
  const [items, requests] = [new Set(added.workItems), new Set(added.pullRequests)];
  return {
    workItems: removed.workItems.filter((key) => !items.has(key)),
    pullRequests: removed.pullRequests.filter((number) => !requests.has(number)),
  };
}

export function noLongerIncluded(
  added: SideSummary,
  removed: SideSummary,
  removedItems: readonly WorkItemView[],
): NoLongerIncluded {
  const items = new Set(added.workItems);
  return {
    workItems: removedItems.filter(({ key }) => !items.has(key)),
    pullRequests: onlyRemoved({ added, removed }).pullRequests,
  };
}

/** Both sides of several changes together. */
export const summariesOf = (sides: readonly Record<'added' | 'removed', RangeFacts>[]) => ({
  added: summaryOf(sides.map(({ added }) => added)),
  removed: summaryOf(sides.map(({ removed }) => removed)),
});
