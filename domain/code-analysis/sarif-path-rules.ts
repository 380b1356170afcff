import type { ArtifactLocation, SarifRun } from './sarif-rules.ts';

/** Names of bases that tools use for the root of the repository. */
const ROOT_NAMES = /^%?(SRCROOT|REPOROOT|REPO_ROOT|ROOTPATH|PROJECTROOT)%?$/i;
/** Bases may refer to each other (3.14.14). */
const BASES_DEEP = 10;
const DRIVE = /^\/?[A-Za-z]:(?=\/)/;

/** The path that a URI, or a path where tools write one, stands for: with slashes, decoded, without `.` and `..`. */
function plainPath(uri: string): string {
  let text = uri.replaceAll('\\', '/').replace(/^file:\/\/[^/]*/i, '');
  try {
    text = decodeURIComponent(text);
  } catch {
    // A path with a percent sign that was not encoded.
  }
  const isAbsolute = text.startsWith('/') || DRIVE.test(text);
  const kept: string[] = [];
  for (const segment of text.replace(DRIVE, '').split('/')) {
    if (segment === '' || segment === '.') continue;
    if (segment !== '..') kept.push(segment);
    else if (kept.length > 0 && kept.at(-1) !== '..') kept.pop();
    else if (!isAbsolute) kept.push(segment);
  }
  return (isAbsolute ? '/' : '') + kept.join('/');
}

const isAbsolute = (path: string): boolean => path.startsWith('/');

/** What a location names: an absolute path, or one relative to an unnamed root. */
function resolved(run: SarifRun, { uri = '', uriBaseId }: ArtifactLocation, depth = 0): string {
  const path = plainPath(uri);
  if (isAbsolute(path) || uriBaseId === undefined || depth > BASES_DEEP) return path;
  const base = run.originalUriBaseIds?.[uriBaseId];
  // Some tools name the base by its own path.
  const basePath = base ? resolved(run, base, depth + 1) : /[/\\]/.test(uriBaseId) ? plainPath(uriBaseId) : '';
  return basePath === '' ? path : plainPath(`${basePath}/${path}`);
}

/** Folders of the machine that may be the root of the repository, the most certain first. */
function rootsOf(run: SarifRun): string[] {
  const bases = Object.entries(run.originalUriBaseIds ?? {}).map(
    ([name, location]) => [name, resolved(run, location)] as const,
  );
  const { named = [], others = [] } = Object.groupBy(bases, ([name]) => (ROOT_NAMES.test(name) ? 'named' : 'others'));
  const locations = [
    ...(run.versionControlProvenance ?? []).flatMap(({ mappedTo }) => mappedTo ?? []),
    ...(run.invocations ?? []).flatMap(({ workingDirectory }) => workingDirectory ?? []),
  ].map((location) => resolved(run, location));
  const shortestFirst = others.map(([, path]) => path).toSorted((a, b) => a.length - b.length);
  return [...named.map(([, path]) => path), ...locations, ...shortestFirst].filter(
    (path) => isAbsolute(path) && path.length > 1,
  );
}

/** What follows the folder that is named as the repository: `/home/runner/work/storefront/storefront/src/a.ts`. */
function belowRepository(path: string, repositoryName: string): string | undefined {
  const segments = path.split('/').slice(1);
  let at = segments.indexOf(repositoryName);
  if (at === -1 || at === segments.length - 1) return undefined;
  while (segments[at + 1] === repositoryName && at + 2 < segments.length) at++;
  return segments.slice(at + 1).join('/');
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
  const roots = rootsOf(run);
  const repositoryName = repositoryIdentifier.split('/').at(-1) ?? '';
  const known = new Map<string, string>();

  const reduce = (location: ArtifactLocation): string => {
    const path = resolved(run, location);
    if (!isAbsolute(path)) return path;
    const root = roots.find((folder) => path.startsWith(`${folder}/`));
    if (root !== undefined) return path.slice(root.length + 1);
    return belowRepository(path, repositoryName) ?? path.slice(1);
  };
  return (given) => {
    const location = given?.uri === undefined ? run.artifacts?.[given?.index ?? -1]?.location : given;
    if (location?.uri === undefined) return '';
    const key = `${location.uriBaseId ?? ''} ${location.uri}`;
    let path = known.get(key);
    if (path === undefined) known.set(key, (path = reduce(location)));
    return path;
  };
}
