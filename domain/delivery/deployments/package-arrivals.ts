import type { DeploymentPlace, LoggedDeployment } from './deployment-log-cache.ts';

/** The versions of a package that one domain brought to an environment. */
export interface PackageArrivals {
  /** The deployment by which each version came first, in order. */
  arrivals: readonly { version: string; deployment: LoggedDeployment }[];
  /** The deployment by which the package came last; undefined: it is not there. */
  last: LoggedDeployment | undefined;
}

type InstalledPlace = Pick<DeploymentPlace, 'installed'>;

const cache = new WeakMap<InstalledPlace, Map<string, PackageArrivals>>();

interface Found {
  installed: readonly LoggedDeployment[];
  arrivals: PackageArrivals;
}

/** What was found last of each place and package, by the first deployment of the place. */
const newest = new WeakMap<LoggedDeployment, Map<string, Found>>();

/** How many deployments are added to what was found; with more, all are gone through. */
const ADDED_MAX = 16;

/**
 * Finds which versions of a package came to a place, and by what; kept while the place's deployments are the same.
 * Where deployments were only added since, the arrivals before them are the same objects.
 */
export function packageArrivals(place: InstalledPlace, name: string): PackageArrivals {
  const kept = cache.get(place) ?? new Map<string, PackageArrivals>();
  cache.set(place, kept);
  const found = kept.get(name) ?? findArrivals(place, name);
  kept.set(name, found);
  return found;
}

function findArrivals({ installed }: InstalledPlace, name: string): PackageArrivals {
  const [first] = installed;
  if (!first) return { arrivals: [], last: undefined };
  const ofPlace = newest.get(first) ?? new Map<string, Found>();
  newest.set(first, ofPlace);
  const before = ofPlace.get(name);
  const arrivals =
    before && isContinued(before.installed, installed) ? addTo(before, installed, name) : allOf(installed, name);
  ofPlace.set(name, { installed, arrivals });
  return arrivals;
}

const isContinued = (before: readonly LoggedDeployment[], installed: readonly LoggedDeployment[]): boolean =>
  installed.length <= before.length + ADDED_MAX && before.every((each, at) => installed[at] === each);

function addTo({ installed: before, arrivals: found }: Found, installed: readonly LoggedDeployment[], name: string) {
  let { last } = found;
  const added: { version: string; deployment: LoggedDeployment }[] = [];
  const hasCome = (version: string) =>
    found.arrivals.some((each) => each.version === version) || added.some((each) => each.version === version);
  for (const deployment of installed.slice(before.length)) {
    const version = Object.hasOwn(deployment.packages, name) ? deployment.packages[name] : undefined;
    if (version === undefined) continue;
    last = deployment;
    if (!hasCome(version)) added.push({ version, deployment });
  }
  return { arrivals: added.length === 0 ? found.arrivals : found.arrivals.concat(added), last };
}

function allOf(installed: readonly LoggedDeployment[], name: string): PackageArrivals {
  const first = new Map<string, LoggedDeployment>();
  let last: LoggedDeployment | undefined;
  for (const deployment of installed) {
    if (!Object.hasOwn(deployment.packages, name)) continue;
    last = deployment;
    const version = deployment.packages[name] ?? '';
    if (!first.has(version)) first.set(version, deployment);
  }
  return { arrivals: [...first].map(([version, deployment]) => ({ version, deployment })), last };
}

/** Older deployments first: those of the same moment as their reports came. */
export const inOrder = (a: LoggedDeployment, b: LoggedDeployment): number =>
  a.at - b.at || a.receivedAt - b.receivedAt || (a.id < b.id ? -1 : 1);
