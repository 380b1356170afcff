/** A release that was deployed with success at least once, as it stands in the order of its domain. */
export interface DeployedRelease {
  domain: string;
  releaseName: string;
  /** What its reports installed together: package name to version. */
  packages: Record<string, string>;
  /** Successful ones, oldest first. */
  deployments: { environment: string; category: string; deployedAt: string; isRolledBack: boolean }[];
}

export interface SummaryFilter {
  /** Excluded. */
  fromReleaseName?: string | undefined;
  /** Included. */
  toReleaseName?: string | undefined;
  /** ISO 8601 in UTC with milliseconds, both inclusive. */
  since?: string | undefined;
  until?: string | undefined;
}

/** A release that matches, and the packages that the releases before it in its domain left. */
export interface MatchedRelease {
  release: DeployedRelease;
  before: DeployedRelease['packages'];
  /** Those that match. */
  deployments: DeployedRelease['deployments'];
}

/** Package name to version after some releases, in order: one that a release does not carry stays as it was. */
export const packagesAfter = (releases: readonly Pick<DeployedRelease, 'packages'>[]): DeployedRelease['packages'] =>
  Object.fromEntries(releases.flatMap(({ packages }) => Object.entries(packages)));

/**
 * Releases of a range of names, exclusive of its begin, or with deployments within two moments.
 * @param series in order, by domain.
 * @returns also, in words, which ranges no domain has.
 */
export function matchReleases(
  series: readonly DeployedRelease[],
  filter: SummaryFilter,
): { matched: MatchedRelease[]; unmatchedRanges: string[] } {
  const unmatchedRanges: string[] = [];
  const matched = [...Map.groupBy(series, ({ domain }) => domain)].flatMap(([domain, releases]) => {
    const range = rangeIn(releases, filter);
    if (typeof range === 'string') {
      if (range !== '') unmatchedRanges.push(`${domain}: ${range}`);
      return [];
    }
    const chosen = releases.slice(range.begin, range.end);
    let packages = packagesAfter(releases.slice(0, range.begin));
    return chosen.map((release) => {
      const before = packages;
      packages = packagesAfter([{ packages }, release]);
      const deployments = release.deployments.filter(({ deployedAt }) => isWithin(deployedAt, filter));
      return { release, before, deployments };
    });
  });
  const { fromReleaseName, toReleaseName } = filter;
  const isNamed = fromReleaseName !== undefined || toReleaseName !== undefined;
  if (isNamed && matched.length === 0 && unmatchedRanges.length === 0 && !isEmptyRange(filter)) {
    unmatchedRanges.push(
      `No domain has the releases ${[fromReleaseName, toReleaseName].filter((name) => name !== undefined).join(' and ')}`,
    );
  }
  return { matched: matched.filter(({ deployments }) => deployments.length > 0), unmatchedRanges };
}

const isEmptyRange = ({ fromReleaseName, toReleaseName }: SummaryFilter) =>
  fromReleaseName !== undefined && fromReleaseName === toReleaseName;

const isWithin = (moment: string, { since, until }: SummaryFilter): boolean =>
  (since === undefined || moment >= since) && (until === undefined || moment <= until);

/** Places in the order of a domain; a text: why there is no such range, empty where the domain knows neither name. */
function rangeIn(
  releases: readonly DeployedRelease[],
  { fromReleaseName, toReleaseName }: SummaryFilter,
): { begin: number; end: number } | string {
  const placeOf = (name: string | undefined) => releases.findIndex(({ releaseName }) => releaseName === name);
  const [from, to] = [placeOf(fromReleaseName), placeOf(toReleaseName)];
  const isUnknown = (name: string | undefined, place: number) => name !== undefined && place < 0;
  const unknown = [
    ...(isUnknown(fromReleaseName, from) ? [fromReleaseName] : []),
    ...(isUnknown(toReleaseName, to) ? [toReleaseName] : []),
  ];
  const named = [fromReleaseName, toReleaseName].filter((name) => name !== undefined).length;
  if (unknown.length > 0) return unknown.length === named ? '' : `there is no release ${unknown.join(' or ')}`;
  const end = toReleaseName === undefined ? releases.length : to + 1;
  if (from + 1 > end) return `${fromReleaseName} was deployed after ${toReleaseName}`;
  return { begin: from + 1, end };
}
