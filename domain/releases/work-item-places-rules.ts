/** A commit for a work item, and a package that it changes. */
export interface ItemChange {
  packageName: string;
  commit: number;
}

interface NamingCommit {
  commit: number;
  isMerge: boolean;
  /** By package: whether it differs from its first parent, and whether from all its parents. */
  packages: readonly { packageName: string; isOfFirstParent: boolean; isOfAllParents: boolean }[];
}

/**
 * What the commits that name a work item change: as changelogs list them, where they differ from all their parents. When
 * only merges name it, what these brought to their first parents.
 */
export function itemChanges(commits: readonly NamingCommit[]): ItemChange[] {
  const areMerges = commits.every(({ isMerge }) => isMerge);
  return commits.flatMap(({ commit, packages }) =>
    packages
      .filter((each) => (areMerges ? each.isOfFirstParent : each.isOfAllParents))
      .map(({ packageName }) => ({ packageName, commit })),
  );
}

/**
 * How much of a work item is somewhere: all, some or none of its changes; unknown where the commit of a package version
 * is not known and so it cannot be told.
 */
export type Presence = 'all' | 'some' | 'none' | 'unknown';

export interface Share {
  presence: Presence;
  /** Changes that are there, of all. */
  present: number;
  total: number;
}

/** @param isThere undefined when it cannot be told. */
export function shareOf(changes: readonly ItemChange[], isThere: (change: ItemChange) => boolean | undefined): Share {
  const answers = changes.map(isThere);
  const present = answers.filter((answer) => answer === true).length;
  const total = changes.length;
  const presence = present === total ? 'all' : answers.includes(undefined) ? 'unknown' : present > 0 ? 'some' : 'none';
  return { presence, present, total };
}

/** A version of a package that was deployed with success, when it was first. */
export interface Arrival {
  packageName: string;
  version: string;
  releaseName: string;
  /** ISO 8601 in UTC, so that texts are in the order of the moments. */
  deployedAt: string;
}

/** When the first and the last of some changes came to an environment; the last only once all are there. */
export function arrivalOf(
  changes: readonly ItemChange[],
  arrivals: readonly Arrival[],
  holds: (arrival: Arrival, change: ItemChange) => boolean,
): { first: Arrival | null; last: Arrival | null } {
  const inOrder = arrivals.toSorted((a, b) => (a.deployedAt < b.deployedAt ? -1 : 1));
  const each = changes.map((change) =>
    inOrder.find((arrival) => arrival.packageName === change.packageName && holds(arrival, change)),
  );
  const came = each
    .filter((arrival) => arrival !== undefined)
    .toSorted((a, b) => (a.deployedAt < b.deployedAt ? -1 : 1));
  return { first: came[0] ?? null, last: came.length === changes.length ? (came.at(-1) ?? null) : null };
}

interface Configured {
  domains?: (string | { name: string; packages?: string[] })[];
}

/**
 * The packages of each domain: those that the project lists for it, else those that its candidates hold.
 * @param held by domain.
 */
export function packagesOfDomains(
  { domains = [] }: Configured,
  held: ReadonlyMap<string, ReadonlySet<string>>,
): Map<string, ReadonlySet<string>> {
  const listed = domains.flatMap((each) =>
    typeof each === 'string' || !each.packages ? [] : [[each.name, new Set(each.packages)] as const],
  );
  return new Map([...held, ...listed]);
}
