import { type DeploymentStatus, isSuccess } from '../release-candidates/finalization-rules.ts';

/** A report that installed something in an environment and was not rolled back. */
export interface Installation {
  environmentId: string;
  domain: string;
  releaseName: string;
  candidateId: string | null;
  status: DeploymentStatus;
  /** It installed all packages of its content. */
  installsAll: boolean;
  /** Package name to version. */
  installed: Readonly<Record<string, string>>;
}

/**
 * The release that an environment was brought to by the last success in a domain; those of later parts; and, where that
 * success left packages open, the earlier ones from which these still run.
 * @param installations of one environment and domain, newest first.
 */
export function activeReleases(
  installations: readonly Installation[],
  isDeployed: (candidateId: string, environmentId: string) => boolean,
): Set<string> {
  const names = new Set<string>();
  const seen = new Set<string>();
  let hasSuccess = false;
  for (const { environmentId, candidateId, releaseName, status, installsAll, installed } of installations) {
    const packages = Object.keys(installed);
    const bringsRelease = isSuccess(status) && (installsAll || packages.length > 0);
    const isLastSuccess = bringsRelease && !hasSuccess;
    if (isLastSuccess || packages.some((name) => !seen.has(name))) names.add(releaseName);
    for (const name of packages) seen.add(name);
    if (!bringsRelease) continue;
    hasSuccess = true;
    if (installsAll || candidateId === null || isDeployed(candidateId, environmentId)) break;
  }
  return names;
}
