import type { History } from '../../../code/git/graph/commit-graph-cache.ts';
import { rangeFacts, type Ranges } from '../../../code/git/graph/range-facts.ts';
import type { ProjectFacts } from '../../../projects/projects/projects.queries.ts';
import { memoized } from '../../../kernel/caches/memoized.ts';
import type { Tx } from '../../../unit-of-work.ts';
import { rangesOf, type SideKeys, sideKeys, type SideSummary, sidesOf, totalsOf } from './change-sides.ts';
import { commitRange, rangeEnds } from './changelog.ts';
import { type ResolvedChange, resolveChanges } from './resolved-changes.ts';
import type { MissingChangelog } from './missing-changelog-rules.ts';
import { changeKey, type PackageChange } from './package-change-rules.ts';

export interface ChangelogTotals {
  totalCommits: number;
  totalWorkItems: number;
  totalPullRequests: number;
}

/** Totals of what a step is about, and of all that it adds and takes back. */
export interface TwoSidedTotals extends ChangelogTotals {
  added: SideSummary;
  removed: SideSummary;
}

export interface PackageChangeView extends ChangelogTotals {
  packageName: string;
  fromVersion: string | null;
  toVersion: string | null;
  workItems: { issues: string[]; pullRequests: number[]; byType: Record<string, number> };
  commitRange: { from: string | null; to: string } | null;
  added: SideKeys;
  removed: SideKeys;
  missingChangelog: MissingChangelog | null;
}

/** What one step changed. */
export interface ChangesView {
  changes: PackageChangeView[];
  /** Distinct over all packages. */
  totals: TwoSidedTotals;
}

/**
 * What the package changes of some steps consist of, in the order of the steps: read for all of them together, computed
 * once and kept. A step that is given several times is one.
 * @param isForced computes them anew, though they are kept.
 */
export async function viewChanges(
  tx: Tx,
  history: History,
  { configuration }: Pick<ProjectFacts, 'configuration'>,
  steps: readonly (readonly PackageChange[])[],
  { isForced = false } = {},
): Promise<{ views: ChangesView[]; calculated: number; kept: number }> {
  const distinct = new Map([...new Set(steps)].flat().map((change) => [changeKey(change), change]));
  const resolvedChanges = await resolveChanges(tx, history, [...distinct.values()]);
  const ranges = await rangeFacts(tx, history, rangesOf(resolvedChanges), { isForced });
  const shas = await rangeEnds(tx, history, resolvedChanges);
  const provider = configuration.workItems?.provider ?? 'issue';
  const known = new Map(
    resolvedChanges.map((change) => [changeKey(change), { change, view: changeView(change, ranges, shas, provider) }]),
  );
  const viewOf = memoized((changes: readonly PackageChange[]): ChangesView => {
    const own = changes.flatMap((change) => known.get(changeKey(change)) ?? []);
    const { main, added, removed } = totalsOf(
      ranges,
      own.map(({ change }) => change),
    );
    const { totalCommits, totalWorkItems, totalPullRequests } = main;
    return {
      changes: own.map(({ view }) => view),
      totals: { totalCommits, totalWorkItems, totalPullRequests, added, removed },
    };
  });
  return { views: steps.map(viewOf), calculated: ranges.calculated, kept: ranges.kept };
}

function changeView(
  change: ResolvedChange,
  ranges: Ranges,
  shas: ReadonlyMap<number, string>,
  provider: string,
): PackageChangeView {
  const { commits = [], workItems = [], pullRequests = [] } = change.range ? ranges.of(change.range) : {};
  const { added, removed } = sidesOf(ranges, change);
  return {
    packageName: change.name,
    fromVersion: change.from,
    toVersion: change.to,
    totalCommits: commits.length,
    totalWorkItems: workItems.length,
    totalPullRequests: pullRequests.length,
    workItems: {
      issues: [...workItems],
      pullRequests: [...pullRequests],
      byType: workItems.length === 0 ? {} : { [provider]: workItems.length },
    },
    commitRange: commitRange(change.range, shas),
    added: sideKeys(added),
    removed: sideKeys(removed),
    missingChangelog: change.missing,
  };
}
