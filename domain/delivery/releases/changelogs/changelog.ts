import { type CommitView, commitShas, commitViews } from '../../../code/git/commits.queries.ts';
import type { History } from '../../../code/git/graph/commit-graph-cache.ts';
import { installOrder } from '../../../code/git/install-order-rules.ts';
import type { MirrorFreshness } from '../../../code/git/mirror/mirror.queries.ts';
import { dependenciesOf } from '../../../code/git/packages.queries.ts';
import { rangeFacts, type Ranges } from '../../../code/git/graph/range-facts.ts';
import type { Range } from '../../../code/git/graph/range-cache.ts';
import type { ProjectFacts } from '../../../projects/projects/projects.queries.ts';
import type { Tx } from '../../../unit-of-work.ts';
import {
  type ChangelogSide,
  countedCommits,
  noLongerIncluded,
  type NoLongerIncluded,
  rangesOf,
  type SideSummary,
  sidesOf,
  sideView,
  totalsOf,
  type WorkItemView,
  workItemViews,
} from './change-sides.ts';
import type { MissingChangelog } from './missing-changelog-rules.ts';
import type { Direction } from './package-change-rules.ts';
import type { ResolvedChange } from './resolved-changes.ts';

export interface PackageChangelog {
  packageName: string;
  direction: Direction;
  fromVersion: string | null;
  toVersion: string | null;
  commitRange: { from: string | null; to: string } | null;
  totalCommits: number;
  totalWorkItems: number;
  totalPullRequests: number;
  workItems: string[];
  pullRequests: number[];
  /** Newest first, at most `COMMITS_MAX`. */
  commits: CommitView[];
  isTruncated: boolean;
  added: ChangelogSide;
  removed: ChangelogSide;
  missingChangelog: MissingChangelog | null;
}

export interface Changelog {
  /** In the order in which they have to be installed. */
  packages: PackageChangelog[];
  workItems: WorkItemView[];
  /** Work items on the added side alone; `workItems` has the ones that downgrades take back, too. */
  addedWorkItems: WorkItemView[];
  pullRequests: number[];
  noLongerIncluded: NoLongerIncluded;
  summary: {
    totalCommits: number;
    totalWorkItems: number;
    totalPullRequests: number;
    added: SideSummary;
    removed: SideSummary;
  };
  /** Packages that depend on each other, so that their order is not known. */
  dependencyCycles: string[][];
  missingChangelogPackages: string[];
  repository: MirrorFreshness;
}

/** A changelog without how fresh the repository is. */
export type ChangelogFacts = Omit<Changelog, 'repository'>;

/** The most commits that are listed for one side of a package; all else counts all. */
export const COMMITS_MAX = 500;

/** The commits, work items and pull requests of package changes, on both sides. What is not known is said to be missing. */
export async function changelogOf(
  tx: Tx,
  history: History,
  project: ProjectFacts,
  parts: readonly ResolvedChange[],
): Promise<Changelog> {
  const ranges = await rangeFacts(tx, history, rangesOf(parts));
  const sides = parts.map((change) => sidesOf(ranges, change));
  const shown = await commitViews(
    tx,
    history.projectId,
    sides.flatMap(({ added, removed }) => [
      ...added.commits.slice(0, COMMITS_MAX),
      ...removed.commits.slice(0, COMMITS_MAX),
    ]),
  );
  const shas = await rangeEnds(tx, history, parts);
  const itemsOf = (some: readonly (Range | undefined)[]) =>
    workItemViews(countedCommits(history, ranges, some), shown, project);
  const { main, added, removed } = totalsOf(ranges, parts);
  const { totalCommits, totalWorkItems, totalPullRequests } = main;
  const workItems = itemsOf(parts.map(({ range }) => range));
  const isOnlyAdded = parts.every((part) => part.range === part.added);
  return {
    packages: parts.map((change) => packageChangelog(change, ranges, shown, shas)),
    workItems,
    addedWorkItems: isOnlyAdded ? workItems : itemsOf(parts.map((part) => part.added)),
    pullRequests: main.pullRequests,
    noLongerIncluded: noLongerIncluded(history, ranges, parts, shown, project),
    summary: { totalCommits, totalWorkItems, totalPullRequests, added, removed },
    dependencyCycles: installOrder(
      parts.map(({ name }) => name),
      dependenciesOf(history.packages),
    ).cycles,
    missingChangelogPackages: parts.flatMap(({ name, missing }) => (missing === null ? [] : [name])),
    repository: history.freshness,
  };
}

function packageChangelog(
  change: ResolvedChange,
  ranges: Ranges,
  shown: ReadonlyMap<number, CommitView>,
  shas: ReadonlyMap<number, string>,
): PackageChangelog {
  const { added, removed } = sidesOf(ranges, change);
  const [addedView, removedView] = [sideView(added, shown, COMMITS_MAX), sideView(removed, shown, COMMITS_MAX)];
  const isAboutRemoved = change.range !== undefined && change.range === change.removed;
  const { commits, totalCommits, isTruncated, workItems, pullRequests } = isAboutRemoved ? removedView : addedView;
  return {
    packageName: change.name,
    direction: change.direction,
    fromVersion: change.from,
    toVersion: change.to,
    commitRange: commitRange(change.range, shas),
    totalCommits,
    totalWorkItems: workItems.length,
    totalPullRequests: pullRequests.length,
    workItems,
    pullRequests,
    commits,
    isTruncated,
    added: addedView,
    removed: removedView,
    missingChangelog: change.missing,
  };
}

/** Ids of the commits at which the ranges begin and end. */
export const rangeEnds = (
  tx: Tx,
  { projectId }: History,
  changes: readonly ResolvedChange[],
): Promise<Map<number, string>> =>
  commitShas(
    tx,
    projectId,
    changes.flatMap(({ range }) => (range ? [range.to, ...(range.from === null ? [] : [range.from])] : [])),
  );

export const commitRange = (
  range: Range | undefined,
  shas: ReadonlyMap<number, string>,
): { from: string | null; to: string } | null =>
  range ? { from: range.from === null ? null : (shas.get(range.from) ?? null), to: shas.get(range.to) ?? '' } : null;
