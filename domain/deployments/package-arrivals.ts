import type { DeploymentPlace, LoggedDeployment } from './deployment-log-cache.ts';

/** The versions of a package that one domain brought to an environment. */
export interface PackageArrivals {
  /** The deployment by which each version came first, in order. */
  arrivals: readonly { version: string; deployment: LoggedDeployment }[];
  /** The deployment by which the package came last; undefined: it is not there. */
  last: LoggedDeployment | undefined;
}

const cache = new WeakMap<DeploymentPlace, Map<string, PackageArrivals>>();

/** Finds which versions of a package came to a place, and by what; kept while the place's deployments are the same. */
export function packageArrivals(place: DeploymentPlace, name: string): PackageArrivals {
  const kept = cache.get(place) ?? new Map<string, PackageArrivals>();
  cache.set(place, kept);
  const found = kept.get(name) ?? findArrivals(place, name);
  kept.set(name, found);
  return found;
}

function findArrivals({ installed }: DeploymentPlace, name: string): PackageArrivals {
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
