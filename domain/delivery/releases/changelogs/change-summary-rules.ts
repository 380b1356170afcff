import type { ReleaseArrival, SeriesDeployment } from '../../deployments/installed-series-rules.ts';
import { arrivalOf } from '../../deployments/installed-series-rules.ts';
import { isSuccess } from '../../release-candidates/finalization-rules.ts';

/** How releases came to an environment, of one domain. */
export interface ArrivalsAt<Deployment> {
  domain: string;
  /** In order. */
  arrivals: readonly ReleaseArrival<Deployment>[];
}

export interface SummaryFilter {
  /** Excluded. */
  fromReleaseName?: string | undefined;
  /** Included. */
  toReleaseName?: string | undefined;
  /** Both inclusive. */
  since?: Date | undefined;
  until?: Date | undefined;
}

/** A release that came to a place, and its successful deployments that match. */
export interface MatchedArrival<Deployment, Place> {
  place: Place;
  arrival: ReleaseArrival<Deployment>;
  deployments: Deployment[];
}

/**
 * How releases of a range of names, exclusive of its begin, or with deployments within two moments came to environments.
 * @returns also, in words, which ranges a domain has in no environment.
 */
export function matchArrivals<Deployment extends SeriesDeployment, Place extends ArrivalsAt<Deployment>>(
  places: readonly Place[],
  filter: SummaryFilter,
): { matched: MatchedArrival<Deployment, Place>[]; unmatchedRanges: string[] } {
  const unmatchedRanges: string[] = [];
  const chosen = [...Map.groupBy(places, ({ domain }) => domain)].flatMap(([domain, ofDomain]) => {
    const ranges = ofDomain.map((place) => ({ place, range: rangeIn(place, filter) }));
    const found = ranges.flatMap(({ place, range }) =>
      Array.isArray(range) ? range.map((arrival) => ({ place, arrival })) : [],
    );
    const isUnmatched = ranges.every(({ range }) => !Array.isArray(range));
    const why = isUnmatched ? whyNoRange(ofDomain, filter) : '';
    if (why !== '') unmatchedRanges.push(`${domain}: ${why}`);
    return found;
  });
  const named = namesOf(filter);
  const isEmptyRange = named.length === 2 && named[0] === named[1];
  if (named.length > 0 && chosen.length === 0 && unmatchedRanges.length === 0 && !isEmptyRange)
    unmatchedRanges.push(`No domain has the releases ${named.join(' and ')}`);
  const matched = chosen
    .map(({ place, arrival }) => ({
      place,
      arrival,
      deployments: arrival.deployments.filter(({ status, at }) => isSuccess(status) && isWithin(at, filter)),
    }))
    .filter(({ deployments }) => deployments.length > 0);
  return { matched, unmatchedRanges };
}

const namesOf = ({ fromReleaseName, toReleaseName }: SummaryFilter): string[] =>
  [fromReleaseName, toReleaseName].filter((name) => name !== undefined);

const isWithin = (moment: number, { since, until }: SummaryFilter): boolean =>
  (since === undefined || moment >= since.getTime()) && (until === undefined || moment <= until.getTime());

type Reversed = 'reversed';

/** Arrivals between two releases at a place; undefined where it does not have both. */
function rangeIn<Deployment extends SeriesDeployment>(
  { arrivals }: ArrivalsAt<Deployment>,
  { fromReleaseName, toReleaseName }: SummaryFilter,
): ReleaseArrival<Deployment>[] | Reversed | undefined {
  const placeOf = (name: string) => {
    const arrival = arrivalOf({ arrivals }, name);
    return arrival ? arrivals.indexOf(arrival) : undefined;
  };
  const from = fromReleaseName === undefined ? -1 : placeOf(fromReleaseName);
  const to = toReleaseName === undefined ? arrivals.length - 1 : placeOf(toReleaseName);
  if (from === undefined || to === undefined) return undefined;
  if (from > to) return 'reversed';
  return arrivals.slice(from + 1, to + 1).filter(({ releaseName }) => releaseName !== fromReleaseName);
}

/** Why a domain has a range in no environment; empty where it knows neither name. */
function whyNoRange<Deployment extends SeriesDeployment>(
  places: readonly ArrivalsAt<Deployment>[],
  filter: SummaryFilter,
): string {
  const named = namesOf(filter);
  const unknown = named.filter((name) => !places.some((place) => arrivalOf(place, name)));
  if (unknown.length > 0) return unknown.length === named.length ? '' : `there is no release ${unknown.join(' or ')}`;
  const [from, to] = named;
  return places.some((place) => rangeIn(place, filter) === 'reversed')
    ? `${from} was deployed after ${to}`
    : `no environment has both ${from} and ${to}`;
}
