import { compareVersions } from '../shared/version-rules.ts';

interface RecordFacts {
  environmentId: string;
  name: string;
  status: string;
  rolledBackAt: string | null;
  packages: Readonly<Record<string, string>>;
  packageDetails: readonly { name: string; status?: unknown; error?: unknown; skipped?: unknown }[];
}

interface StateFacts {
  environmentId: string;
  name: string;
  category: string;
  packages: Readonly<Record<string, string>>;
}

export interface DeploymentCounts {
  deployed: number;
  skipped: number;
  failed: number;
  total: number;
}

const isFailed = ({ status, error }: RecordFacts['packageDetails'][number]): boolean =>
  (error !== undefined && error !== null && error !== '') ||
  (typeof status === 'string' && /^(fail|error)/i.test(status));

/** Of the packages of one deployment; without details all count as what the deployment came to. */
export function deploymentCounts({ status, packages, packageDetails }: RecordFacts): DeploymentCounts {
  const total = Math.max(Object.keys(packages).length, packageDetails.length);
  if (packageDetails.length === 0)
    return status === 'Success'
      ? { deployed: total, skipped: 0, failed: 0, total }
      : { deployed: 0, skipped: 0, failed: total, total };
  const failed = packageDetails.filter(isFailed).length;
  const skipped = packageDetails.filter((detail) => detail.skipped === true && !isFailed(detail)).length;
  return { deployed: Math.max(0, total - failed - skipped), skipped, failed, total };
}

const issueOf = ({ status, error }: RecordFacts['packageDetails'][number]): string => {
  const issue = error ?? status;
  return typeof issue === 'string' ? issue : JSON.stringify(issue);
};

export interface DeploymentState {
  /** completed: in every active release environment; failed: the last deployment somewhere did; rolled_back: only taken back. */
  status: 'completed' | 'in_progress' | 'failed' | 'rolled_back';
  totalPackages: number;
  /** In every active release environment, in this release's version or a newer one. */
  packagesCompleted: number;
  packagesInProgress: number;
  packagesWithIssues: { packageName: string; issue: string }[];
  /** Active release environments in which the release did not succeed. */
  missingFromEnvironments: string[];
  recommendations: string[];
}

export interface PackageStatus {
  packageName: string;
  releaseVersion: string;
  isFullyDeployed: boolean;
  /** It did not get everywhere, and where it is missing a newer version runs already. */
  isAbandoned: boolean;
  /** Names of the environments that run it, in the order in which releases travel. */
  trajectory: string[];
}

const isDeployed = ({ status, rolledBackAt }: RecordFacts): boolean => status === 'Success' && rolledBackAt === null;

/** How far the packages of a release came. */
export function packageStatuses(
  packages: Readonly<Record<string, string>>,
  records: readonly RecordFacts[],
  states: readonly StateFacts[],
): PackageStatus[] {
  const reached = new Map(records.filter(isDeployed).map((record) => [record.environmentId, record]));
  const required = states.filter(({ category }) => category === 'release');
  return Object.entries(packages).map(([packageName, releaseVersion]) => {
    const versionIn = ({ packages: running }: StateFacts) =>
      Object.hasOwn(running, packageName) ? running[packageName] : undefined;
    const has = (state: StateFacts) =>
      reached.get(state.environmentId)?.packages[packageName] === releaseVersion || versionIn(state) === releaseVersion;
    const missing = required.filter((state) => !has(state));
    return {
      packageName,
      releaseVersion,
      isFullyDeployed: required.length > 0 && missing.length === 0,
      isAbandoned:
        missing.length > 0 && missing.every((state) => compareVersions(versionIn(state) ?? '0.0', releaseVersion) > 0),
      trajectory: states.filter(has).map(({ name }) => name),
    };
  });
}

/** What a release came to over all environments. */
export function deploymentState(
  records: readonly RecordFacts[],
  statuses: readonly PackageStatus[],
  states: readonly StateFacts[],
): DeploymentState {
  const missing = states
    .filter(
      ({ category, environmentId }) =>
        category === 'release' &&
        !records.some((record) => record.environmentId === environmentId && isDeployed(record)),
    )
    .map(({ name }) => name);
  const unsuccessful = records.filter(({ status }) => status !== 'Success');
  const issues = records.flatMap(({ name, packageDetails }) =>
    packageDetails
      .filter(isFailed)
      .map((detail) => ({ packageName: detail.name, issue: `${name}: ${issueOf(detail)}` })),
  );
  const packagesCompleted = statuses.filter(({ isFullyDeployed }) => isFullyDeployed).length;
  const isTakenBack = records.length > 0 && records.every(({ rolledBackAt }) => rolledBackAt !== null);
  const hasRequired = states.some(({ category }) => category === 'release');
  return {
    status: isTakenBack
      ? 'rolled_back'
      : unsuccessful.length > 0
        ? 'failed'
        : hasRequired && missing.length === 0
          ? 'completed'
          : 'in_progress',
    totalPackages: statuses.length,
    packagesCompleted,
    packagesInProgress: statuses.filter(({ isFullyDeployed, trajectory }) => !isFullyDeployed && trajectory.length > 0)
      .length,
    packagesWithIssues: issues,
    missingFromEnvironments: missing,
    recommendations: [
      ...unsuccessful.map(({ name, status }) => `Repeat the deployment to ${name}, which came to ${status}`),
      ...missing
        .filter((name) => !unsuccessful.some((record) => record.name === name))
        .map((name) => `Deploy to ${name}`),
    ],
  };
}
