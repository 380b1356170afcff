/** What a tag says: the version of one package, or of all. */
export interface TagVersion {
  /** Undefined: of all packages. */
  packageName: string | undefined;
  version: string;
}

const VERSION = String.raw`\d+(?:\.\d+)+(?:[-+._]?[\w.+-]*)`;
const OF_PACKAGE = new RegExp(`^(.+?)(?:@|_v)v?(${VERSION})$`);
const OF_ALL = new RegExp(`^(?:.*/)?(?:v|release-)?(${VERSION})$`);

/**
 * Reads tags of the forms `pkg@1.2.3-4`, `pkg_v1.2.3`, `v1.2.3` and `rel/1.2.3`. Undefined for others.
 * @param packageNames of the repository: the first two forms count for these alone.
 */
export function versionOfTag(tag: string, packageNames: ReadonlySet<string>): TagVersion | undefined {
  const [, packageName = '', version = ''] = OF_PACKAGE.exec(tag) ?? [];
  if (packageNames.has(packageName)) return { packageName, version };
  const [, ofAll] = OF_ALL.exec(tag) ?? [];
  return ofAll === undefined ? undefined : { packageName: undefined, version: ofAll };
}

const HAS_LETTERS = /[a-z]/i;

/**
 * The name of a candidate at a commit with these tags: of those for all packages one without a word such as `Beta` in its
 * version, or the last; else the last of all.
 */
export function milestoneName(tags: readonly string[], packageNames: ReadonlySet<string>): string {
  const ofAll = tags.flatMap((tag) => {
    const read = versionOfTag(tag, packageNames);
    return read && read.packageName === undefined ? { tag, version: read.version } : [];
  });
  const found = ofAll.findLast(({ version }) => !HAS_LETTERS.test(version)) ?? ofAll.at(-1);
  return found?.tag ?? tags.at(-1) ?? '';
}
