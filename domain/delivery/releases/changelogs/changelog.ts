import { type CommitView, commitNumbers, commitShas, commitViews } from '../../../code/git/commits.queries.ts';
import type { History } from '../../../code/git/graph/commit-graph-cache.ts';
import { inInstallOrder, installOrder } from '../../../code/git/install-order-rules.ts';
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
  type TwoSided,
  type WorkItemView,
  workItemViews,
} from './change-sides.ts';
import {
  type MissingChangelog,
  unknownContent,
  unknownPackage,
  unknownVersion,
  whyCommitIsUnknown,
  whyNothingIsKnown,
} from './missing-changelog-rules.ts';
import { directionOf, type Direction, type PackageChange } from './package-change-rules.ts';
import { type PackageVersion, type VersionCommits, versionCommits } from '../versions/package-versions.queries.ts';
import { knownVersionCommits, type VersionState, versionState } from '../versions/version-commit-cache.ts';

/** The commits of one package's change, or why they are not known. */
export interface ResolvedChange extends PackageChange, TwoSided {
  direction: Direction;
  /** The side that the change is about: for a downgrade the removed one; none for a removal. */
  range: Range | undefined;
  missing: MissingChangelog | null;
}

/** The versions whose commits tell of which commits changes consist. */
export function versionsOf(changes: readonly PackageChange[]): PackageVersion[] {
  const versions: PackageVersion[] = [];
  for (const { name, from, to, commits } of changes) {
    if (from !== null && commits?.from === undefined) versions.push({ name, version: from });
    if (to !== null && !commits) versions.push({ name, version: to });
  }
  return versions;
}

/**
 * Finds out of which commits changes consist.
 * @param known of this request, for who resolves changes in several parts.
 */
export async function resolveChanges(
  tx: Tx,
  history: History,
  changes: readonly PackageChange[],
  known?: VersionState,
): Promise<ResolvedChange[]> {
  const ofVersions = await commitsOf(tx, history, known ?? (await versionState(tx, history)), versionsOf(changes));
  const named = changes.flatMap(({ commits }) => (commits ? [commits.from ?? [], commits.to].flat() : []));
  const numbers = named.length === 0 ? undefined : await commitNumbers(tx, history.projectId, named);
  return changes.map((change) => {
    const { commits } = change;
    if (!commits || !numbers) return resolved(change, history, { from: ofVersions, to: ofVersions });
    const end = (sha: string | null): VersionCommits => ({
      of: () => (sha === null ? undefined : history.graph.known(numbers.get(sha))),
      unknownShaOf: () => sha ?? undefined,
    });
    const from = commits.from === undefined ? ofVersions : end(commits.from);
    return resolved(change, history, { from, to: end(commits.to) });
  });
}

/** The commits of versions, as far as they are known from before; the others are read. */
async function commitsOf(
  tx: Tx,
  history: History,
  state: VersionState,
  versions: readonly PackageVersion[],
): Promise<VersionCommits> {
  const commitOf = await knownVersionCommits(tx, history, state, versions);
  const unknown = versions.filter((version) => commitOf(version) === undefined);
  if (unknown.length === 0) return { of: commitOf, unknownShaOf: () => undefined };
  const { of, unknownShaOf } = await versionCommits(tx, history, unknown);
  return { of: (version) => commitOf(version) ?? of(version), unknownShaOf };
}

/** What gives the commits of the versions before and after a change. */
type Ends = Record<'from' | 'to', VersionCommits>;

function resolved(change: PackageChange, history: History, ends: Ends): ResolvedChange {
  const direction = directionOf(change);
  const { name, from, to } = change;
  const packageNo = history.packages.get(name)?.packageNo;
  const missing = whyMissing(change, history, ends);
  if (missing !== null || packageNo === undefined)
    return { ...change, direction, range: undefined, added: undefined, removed: undefined, missing };
  const commitOf = (version: string | null, commits: VersionCommits) =>
    version === null ? null : (commits.of({ name, version }) ?? null);
  const [begin, end] = [commitOf(from, ends.from), commitOf(to, ends.to)];
  const added = end === null ? undefined : { packageNo, from: begin, to: end };
  const removed = begin === null ? undefined : { packageNo, from: end, to: begin };
  const range = direction === 'downgrade' ? removed : added;
  return { ...change, direction, range, added, removed, missing };
}

function whyMissing(
  { name, from, to, commits: named }: PackageChange,
  history: History,
  ends: Ends,
): MissingChangelog | null {
  const nothing = whyNothingIsKnown(history);
  if (nothing) return nothing;
  if (!history.packages.has(name)) return unknownPackage(name, history);
  for (const [version, commits] of [
    [from, ends.from],
    [to, ends.to],
  ] as const) {
    if (version === null || commits.of({ name, version }) !== undefined) continue;
    const sha = commits.unknownShaOf({ name, version });
    if (sha === undefined && named?.from === null) return unknownContent(name, version, history);
    return sha === undefined
      ? unknownVersion(name, version, history)
      : whyCommitIsUnknown(`The commit ${sha} of ${name} ${version}`, history);
  }
  return null;
}

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

/** Finds out of which commits changes consist, in the order in which the packages have to be installed. */
export const resolveInOrder = (
  tx: Tx,
  history: History,
  changes: readonly PackageChange[],
): Promise<ResolvedChange[]> => resolveChanges(tx, history, inInstallOrder(changes, dependenciesOf(history.packages)));

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
