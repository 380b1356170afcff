import { type CommitView, commitShas, commitViews } from '../git/commits.queries.ts';
import type { History } from '../git/commit-graph-cache.ts';
import type { MirrorFreshness } from '../git/mirror.queries.ts';
import { rangeFacts } from '../git/range-facts.ts';
import type { Range, RangeFacts } from '../git/range-cache.ts';
import { workItemUrl } from '../git/work-item-rules.ts';
import type { ProjectFacts } from '../projects/projects.queries.ts';
import type { Tx } from '../unit-of-work.ts';
import { directionOf, type Direction, type PackageChange } from './package-change-rules.ts';
import { type PackageVersion, type VersionCommits, versionCommits } from './package-versions.queries.ts';

/** The commits of one package's change, or why they are not known. */
export interface ResolvedChange extends PackageChange {
  direction: Direction;
  /** From the older version's commit to the newer one's, so for a downgrade those that are taken back; none for a removal. */
  range: Range | undefined;
  missing: string | null;
}

/** Finds out of which commits changes consist. */
export async function resolveChanges(
  tx: Tx,
  history: History,
  changes: readonly PackageChange[],
): Promise<ResolvedChange[]> {
  const versions = changes.flatMap(({ name, from, to }) =>
    [from, to].flatMap((version) => (version === null ? [] : [{ name, version }])),
  );
  const commits = await versionCommits(tx, history.projectId, versions);
  return changes.map((change) => resolved(change, history, commits));
}

function resolved(change: PackageChange, history: History, commits: VersionCommits): ResolvedChange {
  const direction = directionOf(change);
  const { name } = change;
  const [older, newer] = direction === 'downgrade' ? [change.to, change.from] : [change.from, change.to];
  const asVersion = (version: string | null): PackageVersion | undefined =>
    version === null ? undefined : { name, version };
  const unknown = [asVersion(older), asVersion(newer)].find((version) => version && commits.of(version) === undefined);
  const known = history.packages.get(name);
  const missing = known ? (unknown ? commits.whyNot(unknown) : null) : `The path of the package ${name} is not known`;
  const end = asVersion(newer);
  const to = end && commits.of(end);
  const begin = asVersion(older);
  const range =
    missing === null && known && to !== undefined
      ? { packageNo: known.packageNo, from: (begin && commits.of(begin)) ?? null, to }
      : undefined;
  return { ...change, direction, range, missing };
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
  missingChangelog: string | null;
}

export interface WorkItemView {
  key: string;
  url: string | null;
  /** Ids of the commits that name it. */
  commits: string[];
}

export interface Changelog {
  packages: PackageChangelog[];
  workItems: WorkItemView[];
  pullRequests: number[];
  summary: { totalCommits: number; totalWorkItems: number; totalPullRequests: number };
  missingChangelogPackages: string[];
  repository: MirrorFreshness;
}

/** The most commits that are listed for one package; totals count all. */
export const COMMITS_MAX = 500;

/** The commits, work items and pull requests of package changes. What is not known is said to be missing. */
export async function changelogOf(
  tx: Tx,
  history: History,
  project: ProjectFacts,
  changes: readonly PackageChange[],
): Promise<Changelog> {
  const resolvedChanges = await resolveChanges(tx, history, changes);
  const ranges = await rangeFacts(
    tx,
    history,
    resolvedChanges.flatMap(({ range }) => range ?? []),
  );
  const parts = resolvedChanges.map((change) => ({
    change,
    facts: change.range ? ranges.of(change.range) : undefined,
  }));
  const shown = await commitViews(
    tx,
    history.projectId,
    parts.flatMap(({ facts }) => facts?.commits.slice(0, COMMITS_MAX) ?? []),
  );
  const shas = await rangeEnds(tx, history, resolvedChanges);
  const all = new Set(parts.flatMap(({ facts }) => facts?.commits ?? []));
  const workItems = workItemViews([...shown.values()], project);
  const keys = new Set(parts.flatMap(({ facts }) => facts?.workItems ?? []));
  const pullRequests = [...new Set(parts.flatMap(({ facts }) => facts?.pullRequests ?? []))];
  return {
    packages: parts.map(({ change, facts }) => packageChangelog(change, facts, shown, shas)),
    workItems,
    pullRequests,
    summary: { totalCommits: all.size, totalWorkItems: keys.size, totalPullRequests: pullRequests.length },
    missingChangelogPackages: resolvedChanges.flatMap(({ name, missing }) => (missing === null ? [] : [name])),
    repository: history.freshness,
  };
}

function packageChangelog(
  change: ResolvedChange,
  facts: RangeFacts | undefined,
  shown: ReadonlyMap<number, CommitView>,
  shas: ReadonlyMap<number, string>,
): PackageChangelog {
  const { commits = [], workItems = [], pullRequests = [] } = facts ?? {};
  return {
    packageName: change.name,
    direction: change.direction,
    fromVersion: change.from,
    toVersion: change.to,
    commitRange: commitRange(change.range, shas),
    totalCommits: commits.length,
    totalWorkItems: workItems.length,
    totalPullRequests: pullRequests.length,
    workItems: [...workItems],
    pullRequests: [...pullRequests],
    commits: commits.slice(0, COMMITS_MAX).flatMap((commit) => shown.get(commit) ?? []),
    isTruncated: commits.length > COMMITS_MAX,
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

/** Work items with the commits that name them, by key. */
export function workItemViews(
  commits: readonly CommitView[],
  { configuration }: Pick<ProjectFacts, 'configuration'>,
): WorkItemView[] {
  const shasByKey = new Map<string, string[]>();
  for (const { sha, workItems } of commits)
    for (const key of workItems) shasByKey.set(key, [...(shasByKey.get(key) ?? []), sha]);
  return [...shasByKey]
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .map(([key, shas]) => ({ key, url: workItemUrl(key, configuration), commits: shas }));
}
