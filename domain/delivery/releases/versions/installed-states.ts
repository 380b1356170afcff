import type { DeploymentLog, DeploymentPlace, LoggedDeployment } from '../../deployments/deployment-log-cache.ts';
import { lastSuccess, runningNow } from '../../deployments/installed-series-rules.ts';
import { inOrder } from '../../deployments/package-arrivals.ts';
import { listEnvironments } from '../../../projects/environments/environments.queries.ts';
import type { Tx } from '../../../unit-of-work.ts';

/** What one domain left in an environment. */
interface PlaceState {
  /** The deployment by which the release came that runs; undefined: none runs. */
  success: LoggedDeployment | undefined;
  /** By package name, the deployment that installed it last. */
  last: ReadonlyMap<string, LoggedDeployment>;
}

const cache = new WeakMap<DeploymentPlace, PlaceState>();

/** What runs at a place; kept while its deployments are the same. */
function placeState(place: DeploymentPlace): PlaceState {
  const kept = cache.get(place);
  if (kept) return kept;
  const last = new Map<string, LoggedDeployment>();
  for (const deployment of place.installed)
    for (const name of Object.keys(deployment.packages)) last.set(name, deployment);
  const state = { success: lastSuccess(runningNow(place.series)), last };
  cache.set(place, state);
  return state;
}

/**
 * What runs at this moment in the active environments of a project, in the order in which releases travel.
 * @param domain what it brought; undefined: all domains together, of each package the newest.
 */
export async function installedStates(tx: Tx, log: DeploymentLog, projectId: string, domain?: string) {
  const places = Map.groupBy(
    log.places.filter((place) => domain === undefined || place.domain === domain),
    ({ environmentId }) => environmentId,
  );
  const environments = await listEnvironments(tx, projectId);
  return environments
    .filter(({ isActive }) => isActive)
    .map(({ id, name, category, isActive, branch }) => {
      const own = (places.get(id) ?? []).map((place) => ({ domain: place.domain, ...placeState(place) }));
      return {
        environmentId: id,
        name,
        category,
        isActive,
        branch,
        /** The release that runs in each domain, by domain. */
        releases: new Map(own.map((each) => [each.domain, each.success?.releaseName])),
        /** Package name to version. */
        packages: runningPackages(own),
      };
    });
}

/** A deployment, and the domain in which it installed a package last. */
export interface InstalledPackage extends LoggedDeployment {
  domain: string;
}

const statesOf = (log: DeploymentLog, environmentId: string) =>
  log.places
    .filter((place) => place.environmentId === environmentId)
    .map((place) => ({ domain: place.domain, ...placeState(place) }));

/** The deployment that last installed each package that an environment has, by the name of the package. */
export const lastInstalled = (log: DeploymentLog, environmentId: string): Map<string, InstalledPackage> =>
  newestOf(statesOf(log, environmentId));

/**
 * The deployments that brought what an environment runs, oldest first: those that installed a package last, and of each
 * domain the one by which its release came.
 */
export function runningDeployments(log: DeploymentLog, environmentId: string): InstalledPackage[] {
  const states = statesOf(log, environmentId);
  const successes = states.flatMap(({ success, domain }) => (success ? { ...success, domain } : []));
  const running = [...newestOf(states).values(), ...successes];
  return [...new Map(running.map((each) => [each.id, each])).values()].toSorted(inOrder);
}

const runningPackages = (states: readonly (PlaceState & { domain: string })[]): Record<string, string> =>
  Object.fromEntries([...newestOf(states)].map(([name, { packages }]) => [name, packages[name] ?? '']));

function newestOf(states: readonly (PlaceState & { domain: string })[]): Map<string, InstalledPackage> {
  const newest = new Map<string, InstalledPackage>();
  for (const { last, domain } of states)
    for (const [name, deployment] of last) {
      const other = newest.get(name);
      if (!other || inOrder(other, deployment) < 0) newest.set(name, { ...deployment, domain });
    }
  return newest;
}
