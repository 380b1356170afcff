import { normalPath } from '../../code/git/package-rules.ts';
import { directoryOf, PATH_DEPTH_MAX } from './delta-rules.ts';
import type { StaticReplacement } from './source-build.port.ts';

/** A directory of `sfdx-project.json` whose source is deployed. */
export interface SourcePackage {
  /** Its directory where it has no name. */
  name: string;
  /** Without a slash at either end; empty: the whole repository. */
  directory: string;
}

/** What of `sfdx-project.json` a build reads. */
export interface ProjectFile {
  packages: SourcePackage[];
  /** What says how files are to be read, as JSON. */
  conversion: string;
  /** Texts that the vendor's tools would replace by variables or files of the machine. */
  machineReplacements: { find: string | undefined; files: string }[];
}

const CONVERSION_MEMBERS = ['sourceBehaviorOptions', 'registryPresets', 'registryCustomizations'];
const PACKAGES_MAX = 500;

/** Answers why not, in words, when a text is no such file. */
export function readProjectFile(text: string): ProjectFile | string {
  let file: Record<string, unknown> | null;
  try {
    file = JSON.parse(text) as Record<string, unknown> | null;
  } catch {
    return 'sfdx-project.json is not JSON';
  }
  const entries: unknown = file?.packageDirectories;
  if (!file || !Array.isArray(entries) || entries.length === 0) return 'sfdx-project.json lists no packageDirectories';
  if (entries.length > PACKAGES_MAX) return `sfdx-project.json lists more than ${PACKAGES_MAX} packageDirectories`;
  const packages: SourcePackage[] = [];
  for (const entry of entries as ({ path?: unknown; package?: unknown } | null)[]) {
    if (typeof entry?.path !== 'string') return 'sfdx-project.json lists a package directory without path';
    const directory = normalPath(entry.path);
    if (entry.path.startsWith('/') || directory.split('/').includes('..'))
      return `The package directory ${entry.path} of sfdx-project.json is outside of the repository`;
    if (directory.split('/').length > PATH_DEPTH_MAX)
      return `The package directory ${directory.slice(0, 200).toWellFormed()}… of sfdx-project.json is too deep`;
    const name = typeof entry.package === 'string' && entry.package.trim() !== '' ? entry.package.trim() : directory;
    packages.push({ name, directory });
  }
  const read = Object.fromEntries(CONVERSION_MEMBERS.flatMap((name) => (name in file ? [[name, file[name]]] : [])));
  const packageDirectories = packages.map(({ directory }, index) => ({ path: directory || '.', default: index === 0 }));
  return {
    packages,
    conversion: JSON.stringify({ packageDirectories, ...read }),
    machineReplacements: machineReplacementsIn(file.replacements),
  };
}

function machineReplacementsIn(replacements: unknown): ProjectFile['machineReplacements'] {
  if (!Array.isArray(replacements)) return [];
  return (replacements as Record<string, unknown>[]).map((entry) => ({
    find: typeof entry?.stringToReplace === 'string' ? entry.stringToReplace : undefined,
    files: JSON.stringify(entry?.filename ?? entry?.glob ?? 'files'),
  }));
}

/** Which packages are meant by names or directories, in the order of the file; or what is none of them, in words. */
export function chosenPackages(
  { packages }: ProjectFile,
  wanted: readonly string[] | undefined,
): SourcePackage[] | string {
  if (wanted === undefined) return packages;
  const isMeant = (asked: string, { name, directory }: SourcePackage) =>
    asked === name || normalPath(asked) === directory;
  const unknown = wanted.find((asked) => !packages.some((each) => isMeant(asked, each)));
  if (unknown !== undefined) return `sfdx-project.json lists no package or directory ${unknown}`;
  return packages.filter((each) => wanted.some((asked) => isMeant(asked, each)));
}

/** Finds the package that a path is in: the innermost directory counts, and of several of the same the first. */
export function packageFinder({ packages }: ProjectFile): (path: string) => string {
  const names = new Map(packages.toReversed().map(({ directory, name }) => [directory, name]));
  return (path) => names.get(directoryOf(names, path) ?? '') ?? '';
}

/** Why files that did not change may be read otherwise than before, in words, or undefined. */
export function whyReadOtherwise(
  head: { project: ProjectFile; forceIgnore: string },
  base: { project: ProjectFile; forceIgnore: string },
): string | undefined {
  if (head.project.conversion !== base.project.conversion)
    return 'sfdx-project.json has other package directories than before, or reads source otherwise';
  return head.forceIgnore === base.forceIgnore ? undefined : '.forceignore is another one than before';
}

/** What people are told of replacements that are never made here, as they would read this machine. */
export const replacementWarnings = (
  { machineReplacements }: ProjectFile,
  replacements: readonly StaticReplacement[],
): string[] =>
  machineReplacements
    .filter(({ find }) => find === undefined || !replacements.some((each) => each.find === find))
    .map(
      ({ find, files }) =>
        `sfdx-project.json replaces ${find === undefined ? 'a pattern' : JSON.stringify(find)} in ${files} by a variable or file of the machine: that is not done here; give the environment a replacement of its own`,
    );
