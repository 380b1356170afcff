import type { CompareSidesResponse, Environment, ReleaseCandidate } from '@quayside/client';

type Comparison = CompareSidesResponse;
type Changelog = NonNullable<Comparison['changelog']>;
type Commit = Changelog['packages'][number]['added']['commits'][number];

/** A commit, with the packages that it changes. */
export interface CommitRow extends Commit {
  packages: string[];
}

export interface SideOnly {
  commits: CommitRow[];
  /** Distinct ones, listed or not. */
  total: number;
  isCut: boolean;
}

/** A package that differs between the two. */
export interface PackageRow {
  name: string;
  installed: string | null;
  offered: string;
  /** The candidate has an older version. */
  goesBack: boolean;
}

export interface Hotfix {
  verdict: 'lacks' | 'hasAll' | 'unknown';
  /** What the environment alone has, in the order in which it was made. */
  carry: SideOnly;
  /** What the candidate alone has, newest first. */
  brings: SideOnly;
  lostWorkItems: Changelog['noLongerIncluded']['workItems'];
  packages: PackageRow[];
  /** Packages whose commits nobody knows. */
  unknownPackages: string[];
}

const EMPTY: SideOnly = { commits: [], total: 0, isCut: false };

function sideOf({ packages, summary }: Changelog, side: 'added' | 'removed'): SideOnly {
  const rows = new Map<string, CommitRow>();
  for (const each of packages)
    for (const commit of each[side].commits) {
      const row = rows.get(commit.sha);
      if (row) row.packages.push(each.packageName);
      else rows.set(commit.sha, { ...commit, packages: [each.packageName] });
    }
  const commits = [...rows.values()].toSorted((a, b) => Date.parse(b.committedAt) - Date.parse(a.committedAt));
  return {
    commits,
    total: Math.max(summary[side].totalCommits, commits.length),
    isCut: packages.some((each) => each[side].isTruncated),
  };
}

/**
 * What an environment has that a candidate lacks, of a comparison with the candidate on the left. A package that goes back
 * counts as lacking even where its commits are not known; with unknown commits alone nothing can be said.
 */
export function hotfixOf({ changelog, comparison }: Pick<Comparison, 'changelog' | 'comparison'>): Hotfix {
  const back = new Set(
    changelog?.packages.filter(({ direction }) => direction === 'downgrade').map(({ packageName }) => packageName),
  );
  const packages = [...comparison.packagesToUpdate, ...comparison.packagesToInstall].map(({ name, versions }) => ({
    name,
    installed: versions.from,
    offered: versions.to,
    goesBack: back.has(name),
  }));
  if (!changelog)
    return { verdict: 'unknown', carry: EMPTY, brings: EMPTY, lostWorkItems: [], packages, unknownPackages: [] };
  const removed = sideOf(changelog, 'removed');
  const carry = { ...removed, commits: removed.commits.toReversed() };
  const lostWorkItems = changelog.noLongerIncluded.workItems;
  const unknownPackages = changelog.missingChangelogPackages;
  // What was not fetched may be lacking as well.
  const isOld = changelog.repository.isStale || changelog.repository.error !== null;
  const lacks = carry.total > 0 || back.size > 0 || lostWorkItems.length > 0;
  return {
    verdict: lacks ? 'lacks' : unknownPackages.length > 0 || isOld ? 'unknown' : 'hasAll',
    carry,
    brings: sideOf(changelog, 'added'),
    lostWorkItems,
    packages,
    unknownPackages,
  };
}

/**
 * The command that carries the commits back; merges are no changes of their own. Undefined: there is nothing to carry, or not
 * all of it is listed.
 */
export function cherryPickOf({
  commits,
  total,
  isCut,
}: Pick<SideOnly, 'total' | 'isCut'> & {
  commits: readonly Pick<CommitRow, 'sha' | 'isMerge'>[];
}): string | undefined {
  if (isCut || total > commits.length) return undefined;
  const picked = commits.filter(({ isMerge }) => !isMerge).map(({ sha }) => sha);
  return picked.length === 0 ? undefined : `git cherry-pick -x ${picked.join(' ')}`;
}

type Place = Pick<Environment, 'id' | 'name' | 'category' | 'isActive'>;

/** The environment of the address, else the last active one for releases in which one runs, or that at least could take one. */
export function environmentOf<Given extends Place>(
  environments: readonly Given[],
  wanted: string | undefined,
  running: readonly Pick<Running, 'environment'>[],
): Given | undefined {
  const takesReleases = environments.filter(({ category, isActive }) => category === 'release' && isActive);
  return (
    environments.find(({ id, name }) => id === wanted || name === wanted) ??
    takesReleases.findLast(({ name }) => running.some(({ environment }) => environment === name)) ??
    takesReleases.at(-1) ??
    environments.at(-1)
  );
}

type Offered = Pick<ReleaseCandidate, 'id' | 'status' | 'isIntermediate' | 'hold' | 'releaseName' | 'domain'>;
type Running = { environment: string; domain: string; releaseName: string };

/** Statuses of candidates that go nowhere any more. */
const OVER: ReadonlySet<string> = new Set(['aborted', 'finalized']);

/** The candidate of the address, else the newest that may still go to the environment and does not run there. */
export function candidateOf<Given extends Offered>(
  candidates: readonly Given[],
  wanted: string | undefined,
  { environmentName, running }: { environmentName: string; running: readonly Running[] },
): Given | undefined {
  const runsThere = ({ domain, releaseName }: Given): boolean =>
    running.some(
      (each) => each.environment === environmentName && each.domain === domain && each.releaseName === releaseName,
    );
  const isNext = (candidate: Given): boolean =>
    !OVER.has(candidate.status) && !candidate.isIntermediate && !runsThere(candidate);
  return candidates.find(({ id }) => id === wanted) ?? candidates.find(isNext) ?? candidates[0];
}
