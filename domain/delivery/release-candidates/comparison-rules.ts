import { type Dependencies, inInstallOrder, installOrder } from '../../code/git/install-order-rules.ts';
import { compareVersions } from '../../kernel/text/version-rules.ts';

export interface ComparisonEntry {
  name: string;
  /** From the definition's `artifactTypes`; else `package` where a package id is known, and `artifact`. */
  type: string;
  /** The environment runs a newer version than the candidate holds. */
  isOutOfSync: boolean;
  /** The versions are the same, the content is not: it comes from another commit. Absent otherwise. */
  isOtherContent?: boolean | undefined;
  versions: { from: string | null; to: string };
}

export interface Comparison {
  /** In the order in which they have to be installed, and so those to update. */
  packagesToInstall: ComparisonEntry[];
  packagesToUpdate: ComparisonEntry[];
  unchanged: ComparisonEntry[];
  totalChanges: number;
  /** Names of the packages to install and to update, in the order of their dependencies. */
  installOrder: string[];
  /** Packages that depend on each other, so that their order is not known. */
  dependencyCycles: string[][];
}

/** What of a release definition a comparison reads. */
export interface ReleaseDefinition {
  /** Package name to version. */
  artifacts?: Record<string, string> | undefined;
  artifactTypes?: Record<string, string> | undefined;
  /** Package name to package id. */
  packageDependencies?: Record<string, unknown> | undefined;
}

/** Holds a candidate's packages against those installed somewhere. @param others installed in their versions, but from another commit. */
export function comparePackages(
  definition: ReleaseDefinition,
  installed: Readonly<Record<string, string>>,
  dependencies: Dependencies = new Map(),
  others: ReadonlySet<string> = new Set(),
): Comparison {
  const toInstall: ComparisonEntry[] = [];
  const toUpdate: ComparisonEntry[] = [];
  const unchanged: ComparisonEntry[] = [];
  const wanted = Object.entries(definition.artifacts ?? {}).toSorted(([a], [b]) => (a < b ? -1 : 1));
  for (const [name, to] of wanted) {
    const from = Object.hasOwn(installed, name) ? (installed[name] ?? null) : null;
    const difference = from === null ? -1 : compareVersions(from, to);
    const entry = { name, type: typeOf(definition, name), isOutOfSync: difference > 0, versions: { from, to } };
    if (from === null) toInstall.push(entry);
    else if (difference === 0 && others.has(name)) toUpdate.push({ ...entry, isOtherContent: true });
    else if (difference === 0) unchanged.push(entry);
    else toUpdate.push(entry);
  }
  const changed = [...toInstall, ...toUpdate];
  const { order, cycles } = installOrder(
    changed.map(({ name }) => name),
    dependencies,
  );
  return {
    packagesToInstall: inInstallOrder(toInstall, dependencies),
    packagesToUpdate: inInstallOrder(toUpdate, dependencies),
    unchanged,
    totalChanges: changed.length,
    installOrder: order,
    dependencyCycles: cycles,
  };
}

function typeOf({ artifactTypes = {}, packageDependencies = {} }: ReleaseDefinition, name: string): string {
  return artifactTypes[name] ?? (Object.hasOwn(packageDependencies, name) ? 'package' : 'artifact');
}

export interface PackageChanges {
  excludePackages: readonly string[];
  versionOverrides: Readonly<Record<string, string>>;
}

/** The names that a change of packages mentions and the candidate does not hold. */
export const unknownPackages = (artifacts: Readonly<Record<string, string>>, changes: PackageChanges): string[] =>
  [...changes.excludePackages, ...Object.keys(changes.versionOverrides)].filter(
    (name) => !Object.hasOwn(artifacts, name),
  );

/** The packages after a change: those excluded are gone, those overridden have the version given. */
export const changePackages = (
  artifacts: Readonly<Record<string, string>>,
  { excludePackages, versionOverrides }: PackageChanges,
): Record<string, string> =>
  Object.fromEntries(
    Object.entries({ ...artifacts, ...versionOverrides }).filter(([name]) => !excludePackages.includes(name)),
  );
