import type { CrmPackageVersion, InstalledPackage } from '../../orgs/crm/crm-packages.port.ts';
import { NO_KEY, validationOf } from './package-answer-rules.ts';
import { compareNumbers } from './package-name-rules.ts';

/** The org in which versions are to be installed. */
export interface PackageTarget {
  installed: readonly InstalledPackage[];
  /** It is the org of an environment to which releases go. */
  isRelease: boolean;
}

export interface InstallFacts {
  /** Ids of the versions that were asked for. */
  named: readonly string[];
  /** These and all that they need, by id. */
  versions: ReadonlyMap<string, CrmPackageVersion>;
  /** Ids of the versions for which there is a key. */
  withKey: { has: (versionId: string) => boolean };
  target: PackageTarget;
  /** What cannot be installed stays as it is, instead of keeping all of it from being begun. */
  isRollback?: boolean | undefined;
}

/** What a run does with one version; nothing where `skip` says why. */
export interface PlannedVersion {
  version: CrmPackageVersion;
  /** What the org has of the package. */
  before: string | null;
  skip: string | null;
  /** A rollback cannot take it back. */
  isLeft?: true;
}

export interface InstallPlan {
  /** Each behind what it needs. */
  planned: PlannedVersion[];
  /** Why nothing of it is begun; empty: it can be. */
  refusals: string[];
}

/** A validation that ends once what a version needs is there. */
const OF_MISSING_NEEDS = /^PACKAGE_?NOT_?INSTALLED$/i;

export const labelOf = ({ name, number }: Pick<CrmPackageVersion, 'name' | 'number'>): string => `${name} ${number}`;

/** The version of each package that satisfies all who need it: the latest. */
function chosen({ versions }: InstallFacts): Map<string, CrmPackageVersion> {
  const byPackage = new Map<string, CrmPackageVersion>();
  for (const version of versions.values()) {
    const other = byPackage.get(version.packageId);
    if (!other || compareNumbers(other.number, version.number) < 0) byPackage.set(version.packageId, version);
  }
  return byPackage;
}

/** Packages behind what they need, in the order in which the platform lists it. */
function ordered(
  { named, versions }: InstallFacts,
  byPackage: ReadonlyMap<string, CrmPackageVersion>,
  isLeft: (version: CrmPackageVersion) => boolean,
) {
  const order: CrmPackageVersion[] = [];
  const seen = new Set<string>();
  const visit = (id: string): void => {
    const version = byPackage.get(versions.get(id)?.packageId ?? '');
    if (!version || seen.has(version.packageId)) return;
    seen.add(version.packageId);
    if (!isLeft(version)) for (const needed of version.dependencies) visit(needed);
    order.push(version);
  };
  for (const id of named) visit(id);
  return order;
}

/** What is to be installed in which order, what is skipped, and why nothing may be begun. */
export function planInstall(facts: InstallFacts): InstallPlan {
  const { named, versions, target, withKey, isRollback = false } = facts;
  const isNamed = new Set(named);
  const there = new Map(target.installed.map((each) => [each.packageId, each]));
  const byPackage = chosen(facts);
  const planned: PlannedVersion[] = [];
  const refusals: string[] = [];
  for (const id of named) {
    const version = versions.get(id);
    const other = version && byPackage.get(version.packageId);
    if (version && other && other.id !== id)
      refusals.push(`${labelOf(version)} is asked for, and ${labelOf(other)} is needed or asked for in the same run`);
  }
  const whyNot = (version: CrmPackageVersion) =>
    version.needsKey && !withKey.has(version.id)
      ? NO_KEY
      : whyNotInstalled(version, there.get(version.packageId), target);
  const isThere = ({ id, packageId }: CrmPackageVersion) => there.get(packageId)?.versionId === id;
  const isLeft = (version: CrmPackageVersion) => isRollback && !isThere(version) && whyNot(version) !== undefined;
  for (const version of ordered(facts, byPackage, isLeft)) {
    const present = there.get(version.packageId);
    const before = present?.number ?? null;
    if (isThere(version)) {
      planned.push({ version, before, skip: 'the org has it' });
      continue;
    }
    if (present && compareNumbers(version.number, present.number) < 0 && !isNamed.has(version.id)) {
      planned.push({ version, before, skip: `the org has the later ${present.number}` });
      continue;
    }
    const reason = whyNot(version);
    if (reason !== undefined && isRollback) {
      planned.push({ version, before, skip: reason, isLeft: true });
      continue;
    }
    if (reason !== undefined) refusals.push(`${labelOf(version)}: ${reason}`);
    planned.push({ version, before, skip: null });
  }
  return { planned, refusals };
}

function whyNotInstalled(
  version: CrmPackageVersion,
  present: InstalledPackage | undefined,
  { isRelease }: PackageTarget,
): string | undefined {
  if (present && compareNumbers(version.number, present.number) < 0)
    return `the org has the later ${present.number}, over which an earlier version is never installed`;
  if (isRelease && !version.isReleased)
    return 'it is a beta, which environments of the category release do not take: promote it';
  if (OF_MISSING_NEEDS.test(version.validation) && version.dependencies.length > 0) return undefined;
  const validation = validationOf(version.validation);
  return validation.is === 'refused' ? validation.reason : undefined;
}
