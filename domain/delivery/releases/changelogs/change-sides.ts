import { attributions, type Ranges } from '../../../code/git/graph/range-facts.ts';
import type { Attribution } from '../../../code/git/attribution-rules.ts';
import type { CommitView } from '../../../code/git/commits.queries.ts';
import type { History } from '../../../code/git/graph/commit-graph-cache.ts';
import type { Range, RangeFacts } from '../../../code/git/graph/range-cache.ts';
import { workItemUrl } from '../../../projects/work-items/work-item-rules.ts';
import type { ProjectFacts } from '../../../projects/projects/projects.queries.ts';

/** The ranges of a change: what `git log from..to` lists, and what `git log to..from` does; undefined: nothing, or not known. */
export interface TwoSided {
  added: Range | undefined;
  removed: Range | undefined;
}

type Sides = Record<'added' | 'removed', RangeFacts>;

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

/** What a side counts, without its commits. */
export interface SideKeys {
  totalCommits: number;
  workItems: string[];
  pullRequests: number[];
}

const NONE: RangeFacts = { commits: [], workItems: [], pullRequests: [] };

/** The ranges of some changes, for their facts. */
export const rangesOf = (changes: readonly TwoSided[]): Range[] =>
  changes.flatMap(({ added, removed }) => [added ?? [], removed ?? []].flat());

/** The facts of both sides of a change. */
export const sidesOf = (ranges: Ranges, { added, removed }: TwoSided): Sides => ({
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

/** One side of a single change without its commits. */
export const sideKeys = ({ commits, workItems, pullRequests }: RangeFacts): SideKeys => ({
  totalCommits: commits.length,
  workItems: workItems.toSorted(),
  pullRequests: pullRequests.toSorted((a, b) => a - b),
});

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

/** A work item that some packages lose: they had commits that count for it, and get none in their place. */
export interface LostWorkItem extends WorkItemView {
  packages: string[];
}

/** What packages lose: on their removed side, and not on their added one, as what was cherry-picked is. */
export interface NoLongerIncluded {
  workItems: LostWorkItem[];
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
  attributionOf = attributions(history),
): CountedCommits[] {
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

/** What one package loses. Another package that gets commits of a work item does not make up for it. */
function lostBy({ added, removed }: Sides): Pick<RangeFacts, 'workItems' | 'pullRequests'> {
  const [items, requests] = [new Set(added.workItems), new Set(added.pullRequests)];
  return {
    workItems: removed.workItems.filter((key) => !items.has(key)),
    pullRequests: removed.pullRequests.filter((number) => !requests.has(number)),
  };
}

/** Keys that any of some packages loses. */
export function lostKeys(sides: readonly Sides[]): Pick<RangeFacts, 'workItems' | 'pullRequests'> {
  const lost = sides.map(lostBy);
  return {
    workItems: [...new Set(lost.flatMap(({ workItems }) => workItems))].toSorted(),
    pullRequests: [...new Set(lost.flatMap(({ pullRequests }) => pullRequests))].toSorted((a, b) => a - b),
  };
}

/** What package changes take back and do not bring as well, with the commits that are lost. */
export function noLongerIncluded(
  history: History,
  ranges: Ranges,
  changes: readonly (TwoSided & { name: string })[],
  shown: ReadonlyMap<number, CommitView>,
  project: Pick<ProjectFacts, 'configuration'>,
): NoLongerIncluded {
  const attributionOf = attributions(history);
  const lost = changes.map((change) => ({ change, keys: new Set(lostBy(sidesOf(ranges, change)).workItems) }));
  const counted = lost.flatMap(({ change: { removed }, keys }) =>
    keys.size === 0
      ? []
      : countedCommits(history, ranges, [removed], attributionOf).map(({ commits, attribution }) => ({
          commits,
          attribution: (commit: number) => {
            const { workItems, pullRequests } = attribution(commit);
            return { workItems: workItems.filter((key) => keys.has(key)), pullRequests };
          },
        })),
  );
  return {
    workItems: workItemViews(counted, shown, project).map((item) => ({
      ...item,
      packages: lost.flatMap(({ change, keys }) => (keys.has(item.key) ? [change.name] : [])),
    })),
    pullRequests: lostKeys(changes.map((change) => sidesOf(ranges, change))).pullRequests,
  };
}

/** Both sides of several changes together, and what these are about: what they add, and what downgrades take back. */
export function totalsOf(ranges: Ranges, changes: readonly (TwoSided & { range: Range | undefined })[]) {
  const sides = summariesOf(changes.map((change) => sidesOf(ranges, change)));
  const isOnlyAdded = changes.every(({ range, added }) => range === added);
  const main = isOnlyAdded ? sides.added : summaryOf(changes.flatMap(({ range }) => (range ? ranges.of(range) : [])));
  return { main, ...sides };
}

/** Both sides of several changes together. */
export const summariesOf = (sides: readonly Sides[]) => ({
  added: summaryOf(sides.map(({ added }) => added)),
  removed: summaryOf(sides.map(({ removed }) => removed)),
});
