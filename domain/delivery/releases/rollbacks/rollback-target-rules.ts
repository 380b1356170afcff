import { isEffective } from '../../deployments/deployed-rules.ts';
import { type DeploymentStatus, isSuccess } from '../../release-candidates/finalization-rules.ts';

/** A report of a deployment to one environment and domain. */
export interface InstalledRelease {
  releaseName: string;
  /** Digest of the content that was deployed. */
  contentDigest: string | null;
  /** Digest of the content that the candidate has now; null: it was deleted. */
  currentDigest: string | null;
  status: DeploymentStatus;
  isRolledBack: boolean;
  /** It was reported of a run that rolls back. */
  isByRollback: boolean;
}

export interface RollbackTarget {
  releaseName: string;
  /** The release that is taken back; null when nothing of it was installed: its deployment failed. */
  rolledBackFrom: string | null;
}

const isInstalled = (report: InstalledRelease): boolean => isSuccess(report.status) && isEffective(report);

/** Whether a report says what was last tried there; a rollback that failed is tried again. */
const isAttempt = ({ status, isRolledBack, isByRollback }: InstalledRelease): boolean =>
  status !== 'Cancelled' && !isRolledBack && !(isByRollback && !isSuccess(status));

const isSame = (a: InstalledRelease, b: InstalledRelease): boolean =>
  a.releaseName === b.releaseName && a.contentDigest === b.contentDigest;

/**
 * What a rollback deploys: what was installed before the release that is installed now, or what is installed now when the
 * last deployment was of something else and failed or was partial. Answers why there is nothing to roll back to.
 * @param reports newest first.
 * @param named the release to go back to; undefined: the one before.
 */
export function rollbackTarget(
  reports: readonly InstalledRelease[],
  named: string | undefined,
): RollbackTarget | { why: string } {
  const installed = reports.filter(isInstalled);
  const [current] = installed;
  const last = reports.find(isAttempt);
  const from = last && !(current && isSame(last, current)) ? last : current;
  if (!from) return { why: 'nothing was ever deployed there' };
  const before = from === current ? installed.slice(1).filter((each) => !isSame(each, from)) : installed;
  const target = named === undefined ? before[0] : before.find(({ releaseName }) => releaseName === named);
  if (named !== undefined && from === current && from.releaseName === named && !target)
    return { why: `${named} is installed there already` };
  if (!target) return { why: whyNone(reports, from, named) };
  if (target.contentDigest !== target.currentDigest)
    return {
      why:
        target.currentDigest === null
          ? `the release candidate ${target.releaseName}, which was installed before, was deleted`
          : `the release candidate ${target.releaseName} has other content now than was installed before`,
    };
  const isTakenBack = isEffective(from) && from.releaseName !== target.releaseName;
  const replaced = target === current ? null : (current?.releaseName ?? null);
  return { releaseName: target.releaseName, rolledBackFrom: isTakenBack ? from.releaseName : replaced };
}

function whyNone(
  reports: readonly InstalledRelease[],
  { releaseName: from }: InstalledRelease,
  named: string | undefined,
): string {
  if (named === undefined) return `nothing was installed there before ${from}`;
  const own = reports.filter(({ releaseName, status }) => releaseName === named && isSuccess(status));
  if (own.length === 0) return `${named} was never installed there`;
  return own.every(({ isRolledBack }) => isRolledBack)
    ? `${named} was rolled back there itself; deploy it with execute-release`
    : `${named} was not installed there before ${from}`;
}
