import type { ArtifactLocation, SarifRun } from './sarif-rules.ts';

/** Names of bases that tools use for the root of the repository. */
const ROOT_NAMES = /^%?(SRCROOT|REPOROOT|REPO_ROOT|ROOTPATH|PROJECTROOT)%?$/i;
/** Bases may refer to each other (3.14.14). */
const BASES_DEEP = 10;
const DRIVE = /^\/?[A-Za-z]:(?=\/)/;
/** Folders that are tried for each path. */
const ROOTS_MAX = 100;
/** What is longer names no file: systems take no longer ones. */
export const URI_MAX = 4_096;

/** A path with slashes, without `.` and `..`. */
function normalized(path: string): string {
  const isRooted = path.startsWith('/') || DRIVE.test(path);
  const kept: string[] = [];
  for (const segment of path.replace(DRIVE, '').split('/')) {
    if (segment === '' || segment === '.') continue;
    if (segment !== '..') kept.push(segment);
    else if (kept.length > 0 && kept.at(-1) !== '..') kept.pop();
    else if (!isRooted) kept.push(segment);
  }
  return (isRooted ? '/' : '') + kept.join('/');
}

/** The path that a URI, or a path where tools write one, stands for. */
function plainPath(uri: string): string {
  const text = uri.replaceAll('\\', '/').replace(/^file:\/\/[^/]*/i, '');
  try {
    return normalized(decodeURIComponent(text));
  } catch {
    // A path with a percent sign that was not encoded.
    return normalized(text);
  }
}

const isAbsolute = (path: string): boolean => path.startsWith('/');

function joined(base: string, path: string): string {
  const whole = `${base === '/' ? '' : base}/${path}`;
  if (whole.length > URI_MAX) return '';
  return path === '..' || path.startsWith('../') ? normalized(whole) : whole;
}

/** What follows the folder that is named as the repository: `/home/runner/work/storefront/storefront/src/a.ts`. */
function belowRepository(path: string, repositoryName: string): string | undefined {
  const segments = path.split('/').slice(1);
  let at = segments.indexOf(repositoryName);
  if (at === -1 || at === segments.length - 1) return undefined;
  while (segments[at + 1] === repositoryName && at + 2 < segments.length) at++;
  return segments.slice(at + 1).join('/');
}

/** Resolves the locations of one run. */
class Locations {
  readonly #run: SarifRun;
  readonly #bases = new Map<string, string>();
  /** Folders of the machine that may be the root of the repository, the most certain first. */
  readonly #roots: string[];

  constructor(run: SarifRun) {
    this.#run = run;
    const folders = this.#rootFolders().filter((path) => isAbsolute(path) && path.length > 1);
    this.#roots = [...new Set(folders)].slice(0, ROOTS_MAX);
  }

  /** What a location names: an absolute path, or one relative to an unnamed root. */
  resolved({ uri = '', uriBaseId }: ArtifactLocation, depth = 0): string {
    if (uri.length > URI_MAX) return '';
    const path = plainPath(uri);
    if (isAbsolute(path) || uriBaseId === undefined || depth > BASES_DEEP) return path;
    const base = this.#base(uriBaseId, depth);
    return base === '' ? path : path === '' ? base : joined(base, path);
  }

  /** The path below the most certain root that it is in. */
  belowRoot(path: string): string | undefined {
    const root = this.#roots.find((folder) => path.startsWith(`${folder}/`));
    return root === undefined ? undefined : path.slice(root.length + 1);
  }

  #base(id: string, depth: number): string {
    if (id.length > URI_MAX) return '';
    let path = this.#bases.get(id);
    if (path === undefined) {
      const base = this.#run.originalUriBaseIds?.[id];
      // Some tools name the base by its own path.
      path = base ? this.resolved(base, depth + 1) : /[/\\]/.test(id) ? plainPath(id) : '';
      this.#bases.set(id, path);
    }
    return path;
  }

  #rootFolders(): string[] {
    const { originalUriBaseIds = {}, versionControlProvenance = [], invocations = [] } = this.#run;
    const bases = Object.entries(originalUriBaseIds).map(
      ([name, location]) => [name, this.resolved(location)] as const,
    );
    const { named = [], others = [] } = Object.groupBy(bases, ([name]) => (ROOT_NAMES.test(name) ? 'named' : 'others'));
    const locations = [
      ...versionControlProvenance.flatMap(({ mappedTo }) => mappedTo ?? []),
      ...invocations.flatMap(({ workingDirectory }) => workingDirectory ?? []),
    ].map((location) => this.resolved(location));
    const shortestFirst = others.map(([, path]) => path).toSorted((a, b) => a.length - b.length);
    return [...named.map(([, path]) => path), ...locations, ...shortestFirst];
  }
}

/**
 * Reduces the paths of a run to paths in the repository: relative to the root that the run names, else to the folder
 * that is named as the repository; else the absolute path without its first slash. Empty for what names no file.
 * @param repositoryIdentifier `owner/repo`.
 */
export function pathReducer(
  run: SarifRun,
  repositoryIdentifier: string,
): (location: ArtifactLocation | undefined) => string {
  const locations = new Locations(run);
  const repositoryName = repositoryIdentifier.split('/').at(-1) ?? '';
  const known = new Map<string, string>();

  const reduce = (location: ArtifactLocation): string => {
    const path = locations.resolved(location);
    if (!isAbsolute(path)) return path;
    return locations.belowRoot(path) ?? belowRepository(path, repositoryName) ?? path.slice(1);
  };
  return (given) => {
    const location = given?.uri === undefined ? run.artifacts?.[given?.index ?? -1]?.location : given;
    if (location?.uri === undefined || location.uri.length > URI_MAX) return '';
    const key = `${location.uriBaseId?.slice(0, URI_MAX) ?? ''} ${location.uri}`;
    let path = known.get(key);
    if (path === undefined) known.set(key, (path = reduce(location)));
    return path;
  };
}
