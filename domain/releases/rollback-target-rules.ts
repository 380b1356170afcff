import { isEffective } from '../deployments/deployed-rules.ts';
import type { DeploymentStatus } from '../release-candidates/finalization-rules.ts';

/** A report of a deployment to one environment and domain. */
export interface InstalledRelease {
  releaseName: string;
  /** Of the content that was deployed. */
  contentDigest: string | null;
  /** Of the content that the candidate has now; null: it was deleted. */
  currentDigest: string | null;
  status: DeploymentStatus;
  isRolledBack: boolean;
}

export interface RollbackTarget {
  releaseName: string;
  /** The release that is taken back; null when nothing of it was installed: its deployment failed. */
  rolledBackFrom: string | null;
}

const isInstalled = (report: InstalledRelease): boolean => report.status === 'Success' && isEffective(report);

const isSame = (a: InstalledRelease, b: InstalledRelease): boolean =>
  a.releaseName === b.releaseName && a.contentDigest === b.contentDigest;

/**
 * What a rollback deploys: what was installed before the release that is installed now, or before one that was never
 * installed because its deployment, the last one, failed or was partial. Answers why there is nothing to roll back to.
 * @param reports newest first.
 * @param named the release to go back to; undefined: the one before.
 */
export function rollbackTarget(
  reports: readonly InstalledRelease[],
  named: string | undefined,
): RollbackTarget | { why: string } {
  const last = reports.find(({ status, isRolledBack }) => status !== 'Cancelled' && !isRolledBack);
  const installed = reports.filter(isInstalled);
  const wasInstalled = installed.some(({ releaseName }) => releaseName === last?.releaseName);
  const from = last && !wasInstalled ? last : installed[0];
  if (!from) return { why: 'nothing was ever deployed there' };
  const before = installed.slice(from === installed[0] ? 1 : 0).filter((each) => !isSame(each, from));
  const target = named === undefined ? before[0] : before.find(({ releaseName }) => releaseName === named);
  if (named !== undefined && from === installed[0] && from.releaseName === named && !target)
    return { why: `${named} is installed there already` };
  if (!target) return { why: whyNone(reports, from, named) };
  if (target.contentDigest !== target.currentDigest)
    return {
      why:
        target.currentDigest === null
          ? `the release candidate ${target.releaseName}, which was installed before, was deleted`
          : `the release candidate ${target.releaseName} has other content now than was installed before`,
    };
  return { releaseName: target.releaseName, rolledBackFrom: isEffective(from) ? from.releaseName : null };
}

function whyNone(
  reports: readonly InstalledRelease[],
  { releaseName: from }: InstalledRelease,
  named: string | undefined,
): string {
  if (named === undefined) return `nothing was installed there before ${from}`;
  const own = reports.filter(({ releaseName, status }) => releaseName === named && status === 'Success');
  if (own.length === 0) return `${named} was never installed there`;
  return own.every(({ isRolledBack }) => isRolledBack)
    ? `${named} was rolled back there itself; deploy it with execute-release`
    : `${named} was not installed there before ${from}`;
}
