import { normalPath } from '../../domain/code/git/package-rules.ts';

/** A folder that is released by itself. */
export interface DemoPackage {
  name: string;
  /** Relative to the root, without a slash at either end; empty: the whole repository. */
  path: string;
  /** Without the placeholder for the build; null: none is given. */
  versionNumber: string | null;
  /** Names of packages that it needs; with their versions where a package of another repository is meant. */
  dependencies: readonly string[];
}

interface Directory {
  path?: unknown;
  package?: unknown;
  versionNumber?: unknown;
  dependencies?: unknown;
}

const text = (value: unknown): string | undefined =>
  typeof value === 'string' && value.trim() !== '' ? value.trim() : undefined;

/**
 * The packages of a `sfdx-project.json`. Where no directory has a package, each is one, named by its folder, or by its
 * path where two folders have the same name. Undefined when the text is no such manifest.
 */
export function packagesOfManifest(json: string): DemoPackage[] | undefined {
  let manifest: { packageDirectories?: unknown; packageAliases?: unknown } | null;
  try {
    manifest = JSON.parse(json) as typeof manifest;
  } catch {
    return undefined;
  }
  if (!Array.isArray(manifest?.packageDirectories)) return undefined;
  const directories = (manifest.packageDirectories as (Directory | null)[]).flatMap((each) =>
    text(each?.path) === undefined ? [] : { ...each, path: normalPath(text(each?.path) ?? '') },
  );
  const named = directories.filter((each) => text(each.package) !== undefined);
  const aliasOf = aliasesById(manifest.packageAliases);
  const folders = directories.map(({ path }) => folderOf(path));
  return (named.length > 0 ? named : directories).map((each) => {
    const folder = folderOf(each.path);
    const isAmbiguous = folders.filter((other) => other === folder).length > 1;
    return {
      name: text(each.package) ?? (isAmbiguous ? each.path : folder),
      path: each.path,
      versionNumber: text(each.versionNumber)?.replace(/\.(?:NEXT|LATEST)$/, '') ?? null,
      dependencies: dependenciesOf(each.dependencies, aliasOf, named),
    };
  });
}

const folderOf = (path: string): string => path.split('/').at(-1) || 'all';

/** The names that a manifest gives to ids of packages and of their versions. */
function aliasesById(aliases: unknown): (nameOrId: string) => string {
  const byId = new Map(
    Object.entries((aliases ?? {}) as Record<string, unknown>).map(([alias, id]) => [String(id), alias]),
  );
  return (nameOrId) => byId.get(nameOrId) ?? nameOrId;
}

/** A dependency may name a package, a version of one by `name@1.2.3-4`, or the id of either. */
function dependenciesOf(
  dependencies: unknown,
  aliasOf: (nameOrId: string) => string,
  named: readonly Directory[],
): string[] {
  if (!Array.isArray(dependencies)) return [];
  const own = new Set(named.map((each) => text(each.package)));
  return dependencies.flatMap((each: { package?: unknown } | null) => {
    const name = text(each?.package);
    if (name === undefined) return [];
    const alias = aliasOf(name);
    const [withoutVersion = alias] = alias.split('@');
    return own.has(withoutVersion) ? withoutVersion : alias;
  });
}
