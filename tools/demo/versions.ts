import { compareVersions } from '../../domain/kernel/text/version-rules.ts';
import type { DemoPackage } from './manifest-rules.ts';
import { type DemoRepository, git, gitIfAny, type Milestone, packagesAt } from './repository.ts';
import { versionOfTag } from './tag-rules.ts';

const numbersOf = (version: string): string => /^v?(\d+(?:\.\d+){1,2})/.exec(version)?.[1] ?? '0.0.0';

/** The numbers of the newer of two versions. */
const newer = (a: string, b: string): string =>
  compareVersions(numbersOf(a), numbersOf(b)) >= 0 ? numbersOf(a) : numbersOf(b);

/** Package name to version. */
export type Versions = Record<string, string>;

/** The version of a package and of which content it is. */
interface Known {
  version: string;
  tree: string;
}

/**
 * Gives each package at each milestone a version as packages have them: another one when its folder is another. A tag of
 * the package gives it; else it is that of the manifest, or of the tag, with the number of the commit as its build.
 */
export function createVersions({ path, name, packages: newest }: DemoRepository) {
  const known = new Map<string, Known>();
  const taken = new Map<string, string>();
  const names = new Set(newest.map((each) => each.name));

  /** The numbers of the version that was tagged last before a commit. */
  const lastTagged = async (commitSha: string): Promise<string> => {
    const [tag = ''] = await gitIfAny(path, 'describe', '--tags', '--abbrev=0', commitSha);
    return numbersOf(versionOfTag(tag, names)?.version ?? '');
  };

  const versionOf = async (
    { name: packageName, path: folder, versionNumber }: DemoPackage,
    { releaseName, commitSha, tags }: Milestone,
    build: number,
    isFix: boolean,
  ): Promise<string> => {
    const [tree = ''] = await gitIfAny(path, 'rev-parse', '--verify', '--quiet', `${commitSha}:${folder}`);
    const read = tags.map((tag) => versionOfTag(tag, names));
    const own = read.find((each) => each?.packageName === packageName)?.version;
    const before = known.get(packageName);
    if (own === undefined && before?.tree === tree) return before.version;
    const ofAll = read.filter((each) => each?.packageName === undefined).map((each) => each?.version);
    const tagged = ofAll.find((each) => each === versionOfTag(releaseName, names)?.version) ?? ofAll[0];
    const listed = versionNumber ?? (await lastTagged(commitSha));
    // A tag may have gone ahead of the manifest.
    const base =
      isFix || !before || compareVersions(listed, before.version) >= 0 ? listed : newer(listed, before.version);
    let version = own ?? (versionNumber === null ? tagged : undefined) ?? `${base}-${build}`;
    const isTaken = () => (taken.get(`${packageName} ${version}`) ?? tree) !== tree;
    if (own === undefined) for (let next = build; isTaken(); ) version = `${base}-${++next}`;
    taken.set(`${packageName} ${version}`, tree);
    known.set(packageName, { version, tree });
    return version;
  };

  /**
   * Versions of the packages at a milestone; milestones are asked for in order.
   * @param isFix of an older milestone, so that its versions may be older, too.
   */
  return async (milestone: Milestone, { isFix = false } = {}): Promise<Versions> => {
    const { packages } = await packagesAt(path, milestone.commitSha, name);
    const [build = '0'] = await git(path, 'rev-list', '--count', '--end-of-options', milestone.commitSha);
    const versions: Versions = {};
    for (const each of packages) versions[each.name] = await versionOf(each, milestone, Number(build), isFix);
    return versions;
  };
}
