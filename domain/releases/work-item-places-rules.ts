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
}

export function shareOf(parts: readonly CountedPart[]): Share {
  let [present, total, isUnknown] = [0, 0, false];
  for (const part of parts) {
    present += part.present ?? 0;
    total += part.total;
    if (part.present === undefined) isUnknown = true;
  }
  const presence = present === total ? 'all' : isUnknown ? 'unknown' : present > 0 ? 'some' : 'none';
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
