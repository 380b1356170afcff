import type { DeploymentLog, DeploymentPlace, LoggedDeployment } from '../../deployments/deployment-log-cache.ts';
import {
  exceptRelease,
  lastSuccess,
  lastWith,
  packagesOf,
  packagesOfArrival,
  type ReleaseArrival,
  type Running,
  runningBefore,
  runningNow,
} from '../../deployments/installed-series-rules.ts';
import { inOrder } from '../../deployments/package-arrivals.ts';
import type { Packages } from '../../deployments/report-rules.ts';
import { otherContents, type PackageChange, packageChanges } from './package-change-rules.ts';

export type Arrival = ReleaseArrival<LoggedDeployment>;

/** A domain in an environment, which may have none of it yet. */
export interface BasePlace {
  environmentId: string;
  domain: string;
  /** Undefined: nothing of the domain was ever deployed there. */
  place: DeploymentPlace | undefined;
}

/** What a release changes in an environment, and against which release it is held. */
export interface ReleaseStep {
  /** The release that ran before it; null: none did. */
  baseName: string | null;
  /** By name. */
  changes: PackageChange[];
}

/** Steps that are alike as one, which has the places of all. @param keyOf what else must be the same. */
export function joinedSteps<Step extends ReleaseStep & { places: readonly unknown[] }>(
  steps: readonly Step[],
  keyOf: (step: Step) => unknown = () => null,
): Step[] {
  const alike = Map.groupBy(steps, (step) => JSON.stringify([keyOf(step), step.baseName, step.changes]));
  return [...alike.values()].flatMap((own) => {
    const [first] = own;
    return first ? [{ ...first, places: own.flatMap(({ places }) => places) }] : [];
  });
}

/** Finds what runs of the domains of a project, by the log of its deployments. */
export const placesOf = (log: DeploymentLog): ((environmentId: string, domain: string) => BasePlace) => {
  const places = new Map(log.places.map((place) => [`${place.environmentId}\n${place.domain}`, place]));
  return (environmentId, domain) => ({ environmentId, domain, place: places.get(`${environmentId}\n${domain}`) });
};

/**
 * Versions of some packages in an environment at a moment: those of what ran of a domain, else those that other domains
 * brought. @param moment in milliseconds since the epoch; undefined: now.
 */
export function versionsIn(
  log: DeploymentLog,
  { environmentId, domain }: BasePlace,
  running: Running<LoggedDeployment> | undefined,
  moment: number | undefined,
  names: readonly string[],
): Packages {
  const own = packagesOf(running);
  const missing = names.filter((name) => !Object.hasOwn(own, name));
  if (missing.length === 0) return own;
  const others = log.places
    .filter((each) => each.environmentId === environmentId && each.domain !== domain)
    .map(({ series }) => (moment === undefined ? runningNow(series) : runningBefore(series, moment)))
    .map((other) => ({ other, packages: packagesOf(other) }));
  const brought = missing.flatMap((name) => {
    const last = others
      .filter(({ packages }) => Object.hasOwn(packages, name))
      .flatMap(({ other }) => lastWith(other, name) ?? [])
      .toSorted(inOrder)
      .at(-1);
    return last ? [[name, last.packages[name] ?? ''] as const] : [];
  });
  return { ...Object.fromEntries(brought), ...own };
}

/** What changes to a content: other versions, or where there are none, the same versions from another commit. */
function changesTo(
  before: Packages,
  running: Running<LoggedDeployment> | undefined,
  { packages, commitSha }: Content,
): PackageChange[] {
  const changes = packageChanges(before, packages);
  if (changes.length > 0 || commitSha === null) return changes;
  return otherContents(
    before,
    packages,
    (name) => lastWith(running, name)?.commitSha ?? null,
    () => commitSha,
  );
}

/** What is deployed: packages, and the commit that they are of, if that is known. */
export interface Content {
  packages: Packages;
  commitSha: string | null;
}

/** The content of a release as it came to an environment. */
export const contentOf = (arrival: Arrival): Content => ({
  packages: packagesOfArrival(arrival),
  commitSha: arrival.deployments.at(-1)?.commitSha ?? null,
});

/** What a release changed as it came to an environment: held against what ran there before it. */
export function stepOfArrival(log: DeploymentLog, place: BasePlace, arrival: Arrival): ReleaseStep {
  const after = contentOf(arrival);
  const running = exceptRelease(arrival.before, arrival.releaseName);
  const before = versionsIn(log, place, running, arrival.deployments[0]?.at, Object.keys(after.packages));
  return {
    baseName: lastSuccess(running, arrival.releaseName)?.releaseName ?? null,
    changes: changesTo(before, running, after),
  };
}

/** What a deployment of a release changed in an environment, or tried to: held against what ran there before it. */
export function changesOfDeployment(
  log: DeploymentLog,
  place: BasePlace,
  { id, releaseName, packages }: { id: string; releaseName: string; packages: Packages },
): PackageChange[] {
  const series = place.place?.series;
  const deployment = place.place?.deployments.findLast((each) => each.id === id);
  const running = series && (deployment ? series.before.get(deployment) : runningNow(series));
  const below = exceptRelease(running, releaseName);
  const before = versionsIn(log, place, below, deployment?.at, Object.keys(packages));
  return changesTo(before, below, { packages, commitSha: deployment?.commitSha ?? null });
}

/** What a release would change in an environment to which it did not come yet: held against what runs there now. */
export function stepToCome(log: DeploymentLog, place: BasePlace, releaseName: string, after: Content): ReleaseStep {
  const running = exceptRelease(place.place && runningNow(place.place.series), releaseName);
  return {
    baseName: lastSuccess(running, releaseName)?.releaseName ?? null,
    changes: changesTo(versionsIn(log, place, running, undefined, Object.keys(after.packages)), running, after),
  };
}

/** Package name to version of a domain where a release had come to. */
export const packagesAfterArrival = (arrival: Arrival): Packages => ({
  ...packagesOf(arrival.before),
  ...packagesOfArrival(arrival),
});
