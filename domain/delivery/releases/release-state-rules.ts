import { byAge, type DeploymentFact, type RemovedReport } from '../deployments/deployed-rules.ts';
import { type DetailFacts, isFailedDetail, type Packages, versionOf } from '../deployments/report-rules.ts';
import {
  type DeploymentStatus,
  type MissingEnvironment,
  missingFrom,
} from '../release-candidates/finalization-rules.ts';
import { versionComparison } from '../../kernel/text/version-rules.ts';

interface RecordFacts {
  environmentId: string;
  name: string;
  status: DeploymentStatus;
  packages: Packages;
  packageDetails: readonly DetailFacts[];
  /** What it installed. */
  installed: Packages;
}

interface PlaceFacts {
  environmentId: string;
  name: string;
  /** What runs there. */
  packages: Packages;
}

/** What decides how far a release came. */
export interface ReleaseFacts {
  /** Its last deployment to each environment. */
  records: readonly RecordFacts[];
  /** Active environments, in the order in which releases travel. */
  states: readonly PlaceFacts[];
  /** The environments that the release has to reach. */
  required: readonly PlaceFacts[];
  /** Packages that `factOf` is about. */
  artifacts: Packages;
  factOf: (environmentId: string) => DeploymentFact;
  /** The release that an environment runs in its place, if it is a newer one of the same line. */
  newerIn: (environmentId: string) => string | undefined;
}

export interface DeploymentCounts {
  deployed: number;
  skipped: number;
  failed: number;
  total: number;
}

/**
 * How many packages of one deployment were deployed, skipped and failed; without details those that were not installed count
 * as failed.
 */
export function deploymentCounts({ packages, packageDetails, installed }: RecordFacts): DeploymentCounts {
  const total = Math.max(Object.keys(packages).length, packageDetails.length);
  const there = Object.keys(installed).length;
  if (packageDetails.length === 0) return { deployed: there, skipped: 0, failed: Math.max(0, total - there), total };
  const failed = packageDetails.filter(isFailedDetail).length;
  const skipped = packageDetails.filter((detail) => detail.skipped === true && !isFailedDetail(detail)).length;
  return { deployed: Math.max(0, there - skipped), skipped, failed, total };
}

const issueOf = ({ status, error }: DetailFacts): string => {
  const issue = error ?? status;
  return typeof issue === 'string' ? issue : JSON.stringify(issue);
};

export interface DeploymentState {
  /** completed: in every environment that it has to reach; failed: it did somewhere; rolled_back: wherever it was. */
  status: 'completed' | 'in_progress' | 'failed' | 'rolled_back';
  totalPackages: number;
  /** In every environment that it has to reach. */
  packagesCompleted: number;
  packagesInProgress: number;
  packagesWithIssues: { packageName: string; issue: string }[];
  /** Environments that it has to reach and is not deployed to. */
  missingFromEnvironments: string[];
  missing: MissingEnvironment[];
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

/** How far the packages of a release came. */
export function packageStatuses(
  packages: Packages,
  { states, required, artifacts, factOf }: Omit<ReleaseFacts, 'records' | 'newerIn'>,
): PackageStatus[] {
  const facts = new Map(states.map(({ environmentId }) => [environmentId, factOf(environmentId)]));
  const size = Object.keys(artifacts).length;
  const compare = versionComparison();
  return Object.entries(packages).map(([packageName, releaseVersion]) => {
    const has = ({ environmentId, packages: running }: PlaceFacts): boolean => {
      const isRunning = versionOf(running, packageName) === releaseVersion;
      const fact = facts.get(environmentId);
      if (!fact || versionOf(artifacts, packageName) !== releaseVersion) return isRunning;
      // While nothing of this content is there, what others left may be of the same version.
      const isUntouched = fact.packages.length === size && !fact.hasOtherContent;
      return !fact.packages.includes(packageName) || (isUntouched && isRunning);
    };
    const missing = required.filter((place) => !has(place));
    return {
      packageName,
      releaseVersion,
      isFullyDeployed: required.length > 0 && missing.length === 0,
      isAbandoned:
        missing.length > 0 &&
        missing.every((place) => compare(versionOf(place.packages, packageName) ?? '0.0', releaseVersion) > 0),
      trajectory: states.filter(has).map(({ name }) => name),
    };
  });
}

/**
 * The content of a release whose candidate was removed: that of its last report that was not cancelled.
 * @param reports of the release to all environments.
 * @param defined packages that were reported as the release's.
 */
export function lastContent(
  reports: readonly RemovedReport[],
  defined: Packages | undefined,
): { contentDigest: string; artifacts: Packages } {
  const byTime = reports.toSorted(byAge);
  const last = byTime.findLast(({ status }) => status !== 'Cancelled') ?? byTime.at(-1);
  const own = byTime.filter(({ contentDigest }) => contentDigest === last?.contentDigest);
  const artifacts = defined ?? Object.assign({}, ...own.map(({ packages }) => packages));
  return { contentDigest: last?.contentDigest ?? '', artifacts };
}

/** What a release came to over all environments. */
export function deploymentState(
  { records, required, artifacts, factOf, newerIn }: ReleaseFacts,
  statuses: readonly PackageStatus[],
): DeploymentState {
  const places = required.map(({ environmentId: id, name }) => ({ id, name }));
  const missing = missingFrom(places, factOf);
  const reached = missingFrom(
    records.map(({ environmentId: id, name }) => ({ id, name })),
    factOf,
  );
  const failed = reached.filter(({ reason }) => reason === 'failed');
  const isTakenBack =
    records.length > 0 && reached.filter(({ reason }) => reason === 'rolled_back').length === records.length;
  const placeOf = new Map(required.map((place) => [place.name, place]));
  const isPast = ({ environment }: MissingEnvironment): boolean => {
    const place = placeOf.get(environment);
    return place !== undefined && (newerIn(place.environmentId) !== undefined || runsNewer(place, artifacts));
  };
  return {
    status: isTakenBack
      ? 'rolled_back'
      : failed.length > 0
        ? 'failed'
        : required.length > 0 && missing.length === 0
          ? 'completed'
          : 'in_progress',
    totalPackages: statuses.length,
    packagesCompleted: statuses.filter(({ isFullyDeployed }) => isFullyDeployed).length,
    packagesInProgress: statuses.filter(({ isFullyDeployed, trajectory }) => !isFullyDeployed && trajectory.length > 0)
      .length,
    packagesWithIssues: records.flatMap(({ name, packageDetails }) =>
      packageDetails
        .filter(isFailedDetail)
        .map((detail) => ({ packageName: detail.name, issue: `${name}: ${issueOf(detail)}` })),
    ),
    missingFromEnvironments: missing.map(({ environment }) => environment),
    missing,
    recommendations: [
      ...failed
        .filter((each) => !isPast(each))
        .map(({ environment }) => `Repeat the deployment to ${environment}, which failed`),
      ...missing.filter((each) => each.reason !== 'failed' && !isPast(each)).map(recommendation),
    ],
  };
}

/** Whether a place runs all packages of a release in its versions or newer ones, and any in a newer one. */
function runsNewer({ packages }: PlaceFacts, artifacts: Packages): boolean {
  const compare = versionComparison();
  const differences = Object.entries(artifacts).map(([name, version]) =>
    compare(versionOf(packages, name) ?? '', version),
  );
  return differences.every((difference) => difference >= 0) && differences.some((difference) => difference > 0);
}

const recommendation = ({ environment, reason, packages }: MissingEnvironment): string =>
  reason === 'partial'
    ? `Complete the deployment to ${environment}: ${packages.join(', ')} missing`
    : reason === 'other_content'
      ? `Deploy to ${environment} again: the content of the release changed`
      : `Deploy to ${environment}`;
