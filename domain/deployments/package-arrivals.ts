import type { DeploymentLog, LoggedDeployment } from './deployment-log-cache.ts';

/** The versions of a package in an environment. */
export interface PackageArrivals {
  /** The deployment by which each version came first, in order. */
  arrivals: readonly { version: string; deployment: LoggedDeployment }[];
  /** The version that is installed now; undefined: none. */
  installed: string | undefined;
}

const cache = new WeakMap<DeploymentLog, Map<string, PackageArrivals>>();

/** Finds which versions of a package came to an environment, by whichever domain, and which is there now. */
export function packageArrivals(log: DeploymentLog, environmentId: string, name: string): PackageArrivals {
  const kept = cache.get(log) ?? new Map<string, PackageArrivals>();
  cache.set(log, kept);
  const key = `${environmentId}\n${name}`;
  const found = kept.get(key) ?? findArrivals(log, environmentId, name);
  kept.set(key, found);
  return found;
}

function findArrivals(log: DeploymentLog, environmentId: string, name: string): PackageArrivals {
  const ofDomains = log.places.flatMap((place) =>
    place.environmentId === environmentId
      ? [place.installed.filter(({ packages }) => Object.hasOwn(packages, name))]
      : [],
  );
  const holding = ofDomains.length === 1 ? (ofDomains[0] ?? []) : ofDomains.flat().toSorted(inOrder);
  const first = new Map<string, LoggedDeployment>();
  for (const deployment of holding) {
    const version = deployment.packages[name] ?? '';
    if (!first.has(version)) first.set(version, deployment);
  }
  return {
    arrivals: [...first].map(([version, deployment]) => ({ version, deployment })),
    installed: holding.at(-1)?.packages[name],
  };
}

const inOrder = (a: LoggedDeployment, b: LoggedDeployment): number =>
  a.at - b.at || a.receivedAt - b.receivedAt || (a.id < b.id ? -1 : 1);
