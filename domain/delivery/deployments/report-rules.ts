import { type DeploymentStatus, isSuccess } from '../release-candidates/finalization-rules.ts';

export type Packages = Readonly<Record<string, string>>;

/** What a pipeline says of one package. */
export interface DetailFacts {
  name: string;
  version?: string | undefined;
  status?: unknown;
  error?: unknown;
  skipped?: unknown;
}

export interface ReportFacts {
  status: DeploymentStatus;
  /** Undefined: the report names none. */
  packages: Packages | undefined;
  packageDetails: readonly DetailFacts[];
}

const INSTALLED_WORDS = new Set(['success', 'succeeded', 'installed', 'deployed']);

/** Whether a package's entry says that it failed: by an error, or by its status. */
export const isFailedDetail = ({ status, error }: DetailFacts): boolean =>
  (error !== undefined && error !== null && error !== '' && error !== false) ||
  (typeof status === 'string' && /^(fail|error)/i.test(status));

/** Whether a package's entry says that its version is there: installed now, or skipped because it was. */
const isInstalledDetail = (detail: DetailFacts): boolean =>
  !isFailedDetail(detail) &&
  ((detail.skipped === true && detail.version !== undefined) ||
    (typeof detail.status === 'string' && INSTALLED_WORDS.has(detail.status.toLowerCase())));

/**
 * What a report installed: package name to version. Success: the packages that it names, else all of the candidate,
 * without those whose entry failed. Partial: the packages that it names, else those whose entry says so. Of several
 * entries of a package the last one counts.
 * @param artifacts of the candidate.
 */
export function installedBy({ status, packages, packageDetails }: ReportFacts, artifacts: Packages): Packages {
  const details = [...new Map(packageDetails.map((detail) => [detail.name, detail])).values()];
  if (isSuccess(status)) {
    const failed = new Set(details.filter(isFailedDetail).map(({ name }) => name));
    return Object.fromEntries(Object.entries(packages ?? artifacts).filter(([name]) => !failed.has(name)));
  }
  if (status !== 'Partial') return {};
  if (packages) return packages;
  return Object.fromEntries(
    details
      .filter(isInstalledDetail)
      .flatMap(({ name, version = versionOf(artifacts, name) }) => (version === undefined ? [] : [[name, version]])),
  );
}

/** Whether a report installed all packages of the candidate in their versions. */
export const installsAll = (status: DeploymentStatus, installed: Packages, artifacts: Packages): boolean =>
  isSuccess(status) && Object.entries(artifacts).every(([name, version]) => versionOf(installed, name) === version);

/** The version of a package among some; undefined: it is not one of them. */
export const versionOf = (packages: Packages, name: string): string | undefined =>
  Object.hasOwn(packages, name) ? packages[name] : undefined;
