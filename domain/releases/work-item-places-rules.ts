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

/** A deployment that brought something to an environment. */
export interface Arrival {
  releaseName: string;
  /** Milliseconds since the epoch. */
  at: number;
}

/**
 * When the first and the last of some changes came to an environment; the last only once all are there.
 * @param arrivals of each change; undefined: it did not come.
 */
export function arrivalOf(arrivals: readonly (Arrival | undefined)[]): { first: Arrival | null; last: Arrival | null } {
  const came = arrivals.filter((arrival) => arrival !== undefined).toSorted((a, b) => a.at - b.at);
  return { first: came[0] ?? null, last: came.length === arrivals.length ? (came.at(-1) ?? null) : null };
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
