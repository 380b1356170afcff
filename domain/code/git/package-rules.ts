import type { ParentBits } from './graph/revision-walk-rules.ts';

/** Where the packages of a project are listed. */
export type PackagesFrom = 'manifest' | 'setting' | 'none';

/** A package of a project: a folder of its repository that is released by itself. */
export interface PackageDefinition {
  name: string;
  /** Relative to the root, without a slash at either end; empty: the whole repository. */
  path: string;
  versionNumber: string | null;
  /** Names of the packages that have to be installed before it, in or outside the repository. */
  dependencies: string[];
}

/** The file on the default branch that lists a project's packages. */
export const MANIFEST = 'sfdx-project.json';
/** The most packages of one project; further ones of a manifest are ignored. */
const PACKAGES_MAX = 2_000;

/** The most dependencies of one package; further ones are ignored. */
const DEPENDENCIES_MAX = 200;

interface Manifest {
  packageDirectories?: unknown;
  packageAliases?: unknown;
}

/**
 * The packages that a `sfdx-project.json` lists: entries of `packageDirectories` with `path` and `package`.
 * Undefined when the text is no such manifest.
 */
export function packagesOfManifest(text: string): PackageDefinition[] | undefined {
  let manifest: Manifest | null;
  try {
    manifest = JSON.parse(text) as Manifest | null;
  } catch {
    return undefined;
  }
  if (!Array.isArray(manifest?.packageDirectories)) return undefined;
  const nameOf = dependencyNames(manifest.packageAliases);
  return distinct(
    manifest.packageDirectories.flatMap((entry: Record<string, unknown> | null) => {
      const { package: name, path, versionNumber, dependencies } = entry ?? {};
      if (typeof name !== 'string' || typeof path !== 'string' || name.trim() === '') return [];
      return [
        {
          name: name.trim(),
          path: normalPath(path),
          versionNumber: typeof versionNumber === 'string' ? versionNumber : null,
          dependencies: dependenciesIn(dependencies, nameOf).filter((each) => each !== name.trim()),
        },
      ];
    }),
  );
}

function dependenciesIn(dependencies: unknown, nameOf: (dependency: string) => string): string[] {
  if (!Array.isArray(dependencies)) return [];
  const names = dependencies.flatMap((dependency: { package?: unknown } | null) =>
    typeof dependency?.package === 'string' && dependency.package.trim() !== ''
      ? nameOf(dependency.package.trim())
      : [],
  );
  return [...new Set(names)].slice(0, DEPENDENCIES_MAX);
}

const ID = /^(?:0Ho|04t)[0-9A-Za-z]{12,15}$/;

/** Names of packages by what a dependency says: a name, an alias such as `base@1.2.0-3`, or an id that has an alias. */
function dependencyNames(aliases: unknown): (dependency: string) => string {
  const aliasOf = new Map<string, string>();
  for (const [alias, id] of Object.entries((aliases ?? {}) as Record<string, unknown>))
    if (typeof id === 'string' && !aliasOf.has(id)) aliasOf.set(id, alias);
  return (dependency) => {
    const named = ID.test(dependency) ? (aliasOf.get(dependency) ?? dependency) : dependency;
    const at = named.indexOf('@', 1);
    return at < 0 ? named : named.slice(0, at);
  };
}

/** The packages that a project's setting lists, as name to path. */
export const packagesOfSetting = (paths: Readonly<Record<string, string>>): PackageDefinition[] =>
  distinct(
    Object.entries(paths).map(([name, path]) => ({
      name,
      path: normalPath(path),
      versionNumber: null,
      dependencies: [],
    })),
  );

/** The first of each name: versions belong to names, so that two folders of one name would be ambiguous. */
const distinct = (packages: readonly PackageDefinition[]): PackageDefinition[] =>
  [...new Map(packages.toReversed().map((each) => [each.name, each])).values()].toReversed().slice(0, PACKAGES_MAX);

/** Packages that are not among the others; one that moved to another path counts as another. */
export function packagesNotIn<Package extends Pick<PackageDefinition, 'name' | 'path'>>(
  others: readonly Pick<PackageDefinition, 'name' | 'path'>[],
  packages: readonly Package[],
): Package[] {
  const keyOf = ({ name, path }: Pick<PackageDefinition, 'name' | 'path'>) => `${path}\0${name}`;
  const known = new Set(others.map(keyOf));
  return packages.filter((each) => !known.has(keyOf(each)));
}

/** A path of a manifest as git writes it: the CLI of the platform takes the separators of Windows, too. */
export const normalPath = (path: string): string =>
  path
    .split(/[/\\]/)
    .filter((segment) => segment !== '' && segment !== '.')
    .join('/');

/** Finds the packages to which a path belongs: those whose folder holds it, or whose path it is. */
export function packageMatcher(
  packages: readonly { packageNo: number; path: string }[],
): (path: string) => readonly number[] {
  const byPath = new Map<string, number[]>();
  for (const { packageNo, path } of packages) byPath.set(path, [...(byPath.get(path) ?? []), packageNo]);
  const ofAll = byPath.get('') ?? [];
  return (path) => {
    const found = [...ofAll];
    for (let at = path.indexOf('/'); at >= 0; at = path.indexOf('/', at + 1)) {
      const folder = byPath.get(path.slice(0, at));
      if (folder) found.push(...folder);
    }
    const itself = byPath.get(path);
    if (itself && path !== '') found.push(...itself);
    return found;
  };
}

/** Collects from which of their parents commits differ, by package. */
export class PackageChanges {
  readonly #packagesOf: (path: string) => readonly number[];
  /** Package to commit to bits. */
  readonly byPackage = new Map<number, Map<number, ParentBits>>();

  constructor(packages: readonly { packageNo: number; path: string }[]) {
    this.#packagesOf = packageMatcher(packages);
  }

  /** @param place of the parent; 0 for the empty tree of a root. */
  add(commit: number, place: number, path: string): void {
    for (const packageNo of this.#packagesOf(path)) {
      const changes = this.byPackage.get(packageNo) ?? new Map<number, ParentBits>();
      changes.set(commit, (changes.get(commit) ?? 0n) | (1n << BigInt(Math.min(place, LAST_BIT))));
      this.byPackage.set(packageNo, changes);
    }
  }
}

/** Bits are kept as a bigint of the database; no merge is known to have more parents. */
const LAST_BIT = 62;

/** Names of the tags that mark a package version, most common first: `name_v1.4.0.7`, also for `1.4.0-7` and `1.4.0+7`. */
export const versionTags = (name: string, version: string): string[] => {
  const plain = version.trim().replace(/^v/, '');
  return [...new Set([`${name}_v${plain.replaceAll(/[-+]/g, '.')}`, `${name}_v${plain}`])];
};
