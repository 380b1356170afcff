import type { History } from '../git/histories.ts';
import { rangeFacts, type Ranges } from '../git/range-facts.queries.ts';
import type { ProjectFacts } from '../projects/projects.queries.ts';
import type { Tx } from '../unit-of-work.ts';
import { commitRange, rangeEnds, type ResolvedChange, resolveChanges } from './changelog.ts';
import type { PackageChange } from './package-change-rules.ts';

export interface ChangelogTotals {
  totalCommits: number;
  totalWorkItems: number;
  totalPullRequests: number;
}

export interface PackageChangeView extends ChangelogTotals {
  packageName: string;
  fromVersion: string | null;
  toVersion: string | null;
  workItems: { issues: string[]; pullRequests: number[]; byType: Record<string, number> };
  commitRange: { from: string | null; to: string } | null;
  missingChangelog: string | null;
}

/** What one step changed. */
export interface ChangesView {
  changes: PackageChangeView[];
  /** Distinct over all packages. */
  totals: ChangelogTotals;
}

/**
 * What the package changes of some steps consist of, in the order of the steps: read for all of them together, computed
 * once and kept.
 * @param isForced computes them anew, though they are kept.
 */
export async function viewChanges(
  tx: Tx,
  history: History,
  { configuration }: Pick<ProjectFacts, 'configuration'>,
  steps: readonly (readonly PackageChange[])[],
  { isForced = false } = {},
): Promise<{ views: ChangesView[]; calculated: number; kept: number }> {
  const resolvedChanges = await resolveChanges(tx, history, steps.flat());
  const ranges = await rangeFacts(tx, history, resolvedChanges.flatMap(({ range }) => range ?? []), { isForced });
  const shas = await rangeEnds(tx, history, resolvedChanges);
  const provider = configuration.workItems?.provider ?? 'issue';
  const known = new Map<string, PackageChangeView>();
  const viewOf = (change: ResolvedChange): PackageChangeView => {
    const key = `${change.name}\n${change.from}\n${change.to}`;
    const view = known.get(key) ?? changeView(change, ranges, shas, provider);
    known.set(key, view);
    return view;
  };
  let at = 0;
  const views = steps.map((changes): ChangesView => {
    const own = resolvedChanges.slice(at, (at += changes.length));
    return { changes: own.map(viewOf), totals: totalsOf(own, ranges) };
  });
  return { views, calculated: ranges.calculated, kept: ranges.kept };
}

function changeView(change: ResolvedChange, ranges: Ranges, shas: ReadonlyMap<number, string>, provider: string): PackageChangeView {
  const { commits = [], workItems = [], pullRequests = [] } = change.range ? ranges.of(change.range) : {};
  return {
    packageName: change.name,
    fromVersion: change.from,
    toVersion: change.to,
    totalCommits: commits.length,
    totalWorkItems: workItems.length,
    totalPullRequests: pullRequests.length,
    workItems: { issues: [...workItems], pullRequests: [...pullRequests], byType: workItems.length === 0 ? {} : { [provider]: workItems.length } },
    commitRange: commitRange(change.range, shas),
    missingChangelog: change.missing,
  };
}

/** Distinct commits, work items and pull requests over several packages. */
function totalsOf(changes: readonly ResolvedChange[], ranges: Ranges): ChangelogTotals {
  const facts = changes.flatMap(({ range }) => (range ? ranges.of(range) : []));
  return {
    totalCommits: new Set(facts.flatMap(({ commits }) => commits)).size,
    totalWorkItems: new Set(facts.flatMap(({ workItems }) => workItems)).size,
    totalPullRequests: new Set(facts.flatMap(({ pullRequests }) => pullRequests)).size,
  };
}
