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

/** Changes of one package. */
export interface CountedPart {
  /** How many there are somewhere; undefined when it cannot be told. */
  present: number | undefined;
  total: number;
  /** What is missing came there by other commits. */
  isCarriedOver: boolean;
}

/** How much of a whole its parts are. */
export function shareOf(parts: readonly CountedPart[]): Share {
  let [present, total, isUnknown, isComplete] = [0, 0, false, true];
  for (const part of parts) {
    present += part.present ?? 0;
    total += part.total;
    if (part.present === undefined) isUnknown = true;
    if (part.present !== part.total && !part.isCarriedOver) isComplete = false;
  }
  const presence = isComplete ? 'all' : isUnknown ? 'unknown' : present > 0 ? 'some' : 'none';
  return { presence, present, total };
}

/** Which changes of a package are somewhere, as bits: a number for each 32 of them. */
export type HeldChanges = readonly number[];

const hasMore = (some: HeldChanges, other: HeldChanges): boolean =>
  some.some((bits, at) => (bits & ~(other[at] ?? 0)) !== 0);

/**
 * Whether all that a version lacks of a work item came to it by other commits, as changelogs decide it: from none of the
 * others to it is the work item lost, since it has commits for it that the other one has not.
 * @param others what other versions and branches have.
 */
export const isCarriedOver = (held: HeldChanges, others: readonly HeldChanges[]): boolean =>
  others.every((other) => !hasMore(other, held) || hasMore(held, other));

/**
 * Adds the changes that are the same as others that are held, since one was picked from the other.
 * @param picks changes that are the same, by their places in all.
 */
export function withPicks(held: HeldChanges, picks: readonly (readonly number[])[]): HeldChanges {
  const all = [...held];
  for (const same of picks)
    if (same.some((place) => (((held[place >> 5] ?? 0) >>> (place & 31)) & 1) === 1))
      for (const place of same) all[place >> 5] = (all[place >> 5] ?? 0) | (1 << (place & 31));
  return all;
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
