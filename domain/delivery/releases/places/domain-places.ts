import type { DeploymentLog, LoggedDeployment } from '../../deployments/deployment-log-cache.ts';
import { inOrder, type PackageArrivals, packageArrivals } from '../../deployments/package-arrivals.ts';
import type { CandidateRow } from '../../release-candidates/release-candidates.queries.ts';
import type { Tx } from '../../../unit-of-work.ts';
import { arrivalCommits, keptCommits } from './arrival-commits.ts';
import { type CountedPackageChanges, type PartsIn, placesOf } from './held-parts.ts';
import { environmentLabels } from '../measures/metrics.queries.ts';
import type { knownVersionCommits, versionState } from '../versions/version-commit-cache.ts';
import { arrivalOf, shareOf } from './work-item-places-rules.ts';

export const artifactsOf = ({ value }: CandidateRow): Record<string, string> => value.artifacts ?? {};

export interface PackageState {
  /** By whichever domain it came. */
  ofDomains: readonly PackageArrivals[];
  /** The version that is there now; undefined: none. */
  installed: string | undefined;
}

/** What the active environments of a project have of some packages, in the order in which releases travel. */
export async function environmentStates(tx: Tx, projectId: string, log: DeploymentLog, names: readonly string[]) {
  const environments = await environmentLabels(tx, projectId);
  const places = Map.groupBy(log.places, ({ environmentId }) => environmentId);
  const inEnvironment = (environmentId: string, name: string): PackageState => {
    const ofDomains = (places.get(environmentId) ?? []).map((place) => packageArrivals(place, name));
    const last = ofDomains
      .flatMap((each) => each.last ?? [])
      .toSorted(inOrder)
      .at(-1);
    return { ofDomains, installed: last?.packages[name] };
  };
  return environments
    .filter(({ isActive }) => isActive)
    .toSorted((a, b) => a.orchestrationOrder - b.orchestrationOrder || (a.name < b.name ? -1 : 1))
    .map((environment) => ({
      ...environment,
      packages: new Map(names.map((name) => [name, inEnvironment(environment.id, name)])),
    }));
}

type EnvironmentState = Awaited<ReturnType<typeof environmentStates>>[number];

export const versionIn = (packages: Record<string, string>, name: string): string | undefined =>
  Object.hasOwn(packages, name) ? packages[name] : undefined;

/** Candidates of a domain, newest first, that have any of the changes; new in those that have more than the one before on their branch. */
function candidatesWith(
  candidates: readonly CandidateRow[],
  changes: readonly CountedPackageChanges[],
  partsIn: PartsIn,
) {
  const shares = candidates.map((candidate) => ({
    candidate,
    share: shareOf(partsIn(changes, (name) => versionIn(artifactsOf(candidate), name))),
  }));
  return shares.flatMap(({ candidate, share }, index) => {
    if (share.present === 0) return [];
    const before = shares.slice(index + 1).find((each) => each.candidate.branch === candidate.branch);
    const { id, releaseName, branch, status, createdAt } = candidate;
    return {
      id,
      releaseName,
      branch,
      status,
      createdAt,
      ...share,
      isNew: share.present > (before?.share.present ?? 0),
    };
  });
}

/** The versions of packages that environments have had, and for each of their places the commits that are kept of them. */
export function arrivedVersions(
  states: readonly EnvironmentState[],
  versions: Awaited<ReturnType<typeof versionState>>,
) {
  const kept = new Map<PackageArrivals, number[]>();
  const arrivals = states.flatMap(({ packages }) =>
    [...packages].flatMap(([name, { ofDomains }]) =>
      ofDomains.flatMap((each) => {
        const commits = keptCommits(each, versions);
        kept.set(each, commits);
        return each.arrivals.slice(commits.length).map(({ version }) => ({ name, version }));
      }),
    ),
  );
  return { kept, versions: arrivals };
}

interface Arrived {
  partsIn: PartsIn;
  kept: ReadonlyMap<PackageArrivals, number[]>;
  commitOf: Awaited<ReturnType<typeof knownVersionCommits>>;
}

/** The deployment by which each counted change came to an environment first; undefined: it did not. */
function arrivalsOf(
  packages: EnvironmentState['packages'],
  own: readonly CountedPackageChanges[],
  { kept, commitOf }: Arrived,
): (LoggedDeployment | undefined)[] {
  return own.flatMap((part) => {
    const came = new Map<number, LoggedDeployment>();
    for (const arrived of packages.get(part.packageName)?.ofDomains ?? []) {
      const commits = arrivalCommits(part.packageName, arrived, kept.get(arrived) ?? [], commitOf);
      let missing = part.counted;
      for (let at = 0; at < arrived.arrivals.length && missing !== 0; at++) {
        const end = commits[at];
        const bits = end === undefined ? 0 : part.countedUpTo(end) & missing;
        const arrival = bits === 0 ? undefined : arrived.arrivals[at];
        if (!arrival) continue;
        missing &= ~bits;
        for (const place of placesOf(bits)) {
          const other = came.get(place);
          if (!other || inOrder(arrival.deployment, other) < 0) came.set(place, arrival.deployment);
        }
      }
    }
    return placesOf(part.counted).map((place) => came.get(place));
  });
}

/** How much of a domain's changes an environment has, and since when. */
function environmentShare(
  { id, name, category, packages }: EnvironmentState,
  own: readonly CountedPackageChanges[],
  arrived: Arrived,
) {
  const arrivals = arrivalsOf(packages, own, arrived);
  const share = shareOf(arrived.partsIn(own, (packageName) => packages.get(packageName)?.installed));
  const came = arrivals.filter((arrival) => arrival !== undefined);
  const { first, last } = arrivalOf(share.presence === 'all' ? came : arrivals);
  return {
    environmentId: id,
    name,
    category,
    ...share,
    firstArrivedAt: first ? new Date(first.at).toISOString() : null,
    arrivedAt: last ? new Date(last.at).toISOString() : null,
    releaseName: last?.releaseName ?? null,
  };
}

/** Which candidates and environments have changes of a domain. */
export function domainPlaces(
  own: readonly CountedPackageChanges[],
  candidates: readonly CandidateRow[],
  states: readonly EnvironmentState[],
  arrived: Arrived,
) {
  const environments = states.map((state) => environmentShare(state, own, arrived));
  return {
    packages: [...new Set(own.map(({ packageName }) => packageName))].toSorted(),
    candidates: candidatesWith(candidates, own, arrived.partsIn),
    environments,
    missingFromEnvironments: environments
      .filter(({ category, presence }) => category === 'release' && (presence === 'none' || presence === 'some'))
      .map(({ name }) => name),
  };
}
