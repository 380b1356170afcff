import { isIdOf } from '../../orgs/crm/org-id-rules.ts';
import { isVersionId, type VersionAliases, versionAsked } from '../org-packages/package-name-rules.ts';
import type { SourcePackage } from '../source/project-file-rules.ts';

/** What a release candidate says of its packages. */
export interface CarriedPackages {
  /** Package name to version. */
  artifacts: Readonly<Record<string, string>>;
  /** Package name to type, as far as it is said. */
  types: Readonly<Record<string, string>>;
  /** Package name to the id of a version: of an artifact, or of what is installed before them. */
  dependencies: Readonly<Record<string, unknown>>;
}

/** What `sfdx-project.json` of the commit of a candidate says. */
export interface ProjectPackages {
  aliases: VersionAliases;
  /** Names of packages that the platform builds versions of. */
  built: ReadonlySet<string>;
  /** Names of the directories that are packages. */
  named: ReadonlySet<string>;
  /** Its directories, in their order. */
  directories: readonly SourcePackage[];
}

/** What is done in an org for a candidate. */
export interface ReleaseContent {
  /** Ids of the versions that are installed. */
  versions: string[];
  /** Names of artifacts by the version that has them. */
  artifactsOf: Map<string, string[]>;
  /** What is deployed of the commit; null: nothing. */
  source: {
    /** Names or directories; undefined: all of `sfdx-project.json`. */
    packages: string[] | undefined;
    artifacts: string[];
  } | null;
  /** Packages of `sfdx-project.json` that the candidate does not name. */
  leftOut: string[];
  /** What cannot be installed, in words; nothing of the candidate is then. */
  refusals: string[];
}

/** The packages that the platform builds versions of: their aliases are those of their ids. */
export function builtPackages(text: string): Set<string> {
  const { packageAliases = {} } = JSON.parse(text) as { packageAliases?: Record<string, unknown> };
  return new Set(
    Object.entries(packageAliases).flatMap(([name, id]) => (typeof id === 'string' && isIdOf('0Ho', id) ? [name] : [])),
  );
}

/**
 * Tells the package versions of a candidate from what is deployed as source: artifacts of the name of a package directory of
 * which the platform builds no versions, and directories that are no packages. A candidate without artifacts and dependencies
 * is all of the source of its commit.
 */
export function contentOfRelease(
  { artifacts, types, dependencies }: CarriedPackages,
  { aliases, built, named, directories }: ProjectPackages,
): ReleaseContent {
  const content: ReleaseContent = { versions: [], artifactsOf: new Map(), source: null, leftOut: [], refusals: [] };
  const install = (versionId: string, names: readonly string[]) => {
    if (!content.artifactsOf.has(versionId)) content.versions.push(versionId);
    content.artifactsOf.set(versionId, [...(content.artifactsOf.get(versionId) ?? []), ...names]);
  };
  const others = Object.entries(dependencies).filter(([name]) => !Object.hasOwn(artifacts, name));
  for (const [name, version] of others) {
    const found = versionAsked({ name, version: String(version) }, aliases);
    if (found.isOk) install(found.versionId, []);
    else content.refusals.push(`The dependency ${found.reason}`);
  }
  const aliased = new Set([...aliases.keys()].map((alias) => alias.slice(0, Math.max(0, alias.indexOf('@', 1)))));
  const isOf = (name: string) => (each: SourcePackage) => each.name === name || each.directory === name;
  const deployed: string[] = [];
  const installed = new Set<string>();
  for (const [name, given] of Object.entries(artifacts)) {
    const version = idOf(dependencies, name) ?? given;
    const isVersion = isVersionId(version) || aliases.has(version) || aliased.has(name) || built.has(name);
    const isData = Object.hasOwn(types, name) && /^data$/i.test(types[name] ?? '');
    if (isData) content.refusals.push(`${name} is data, which is loaded by a command`);
    else if (!isVersion && directories.some(isOf(name))) deployed.push(name);
    else {
      const found = versionAsked({ name, version }, aliases);
      if (found.isOk) install(found.versionId, [name]);
      else content.refusals.push(found.reason);
      installed.add(name);
    }
  }
  const isWhole = Object.keys(artifacts).length + others.length === 0;
  const isDeployed = (each: SourcePackage) =>
    isWhole || deployed.some((name) => isOf(name)(each)) || !(named.has(each.name) || installed.has(each.name));
  const chosen = directories.filter(isDeployed);
  content.leftOut = directories
    .filter((each) => !isDeployed(each) && ![...installed].some((name) => isOf(name)(each)))
    .map(({ name }) => name);
  const isAll = chosen.length === directories.length;
  if (chosen.length > 0) content.source = { packages: isAll ? undefined : chosen.map(keyOf), artifacts: deployed };
  return content;
}

function idOf(dependencies: CarriedPackages['dependencies'], name: string): string | undefined {
  const id = Object.hasOwn(dependencies, name) ? dependencies[name] : undefined;
  return typeof id === 'string' && isVersionId(id) ? id : undefined;
}

/** By what a build finds a directory. */
const keyOf = ({ directory, name }: SourcePackage): string => directory || name;
