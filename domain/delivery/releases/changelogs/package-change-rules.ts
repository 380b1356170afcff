import { isSameCommit } from '../../../code/git/commit-id-rules.ts';
import { compareVersions, versionComparison } from '../../../kernel/text/version-rules.ts';

export type Direction = 'install' | 'upgrade' | 'downgrade' | 'remove';

/** A package that has another version than before; null: it was, or is, not there. */
export interface PackageChange {
  name: string;
  from: string | null;
  to: string | null;
  /** Ids of commits, where the versions do not tell them; from null: it is not known; undefined: the version tells it. */
  commits?: { from?: string | null | undefined; to?: string | undefined } | undefined;
}

/** Tells changes apart. */
export const changeKey = ({ name, from, to, commits }: PackageChange): string =>
  `${name}\n${from}\n${to}${commits ? `\n${commits.from}\n${commits.to}` : ''}`;

/** Whether a change installs, removes, upgrades or downgrades its package. */
export function directionOf({ from, to }: PackageChange, compare = compareVersions): Direction {
  if (from === null) return 'install';
  if (to === null) return 'remove';
  return compare(from, to) > 0 ? 'downgrade' : 'upgrade';
}

type Packages = Readonly<Record<string, string>>;
const versionOf = (packages: Packages, name: string): string | null =>
  Object.hasOwn(packages, name) ? (packages[name] ?? null) : null;

const byName = (a: string, b: string) => (a < b ? -1 : 1);

/** Packages whose versions stay the same but come from another commit, by name; those of which none is known count as kept. */
export const otherContents = (
  before: Packages,
  after: Packages,
  commitBefore: (name: string) => string | null,
  commitAfter: (name: string) => string | null,
): PackageChange[] =>
  Object.entries(after)
    .toSorted(([a], [b]) => byName(a, b))
    .flatMap(([name, to]) => {
      const [from, commitFrom, commit] = [versionOf(before, name), commitBefore(name), commitAfter(name)];
      const isOtherVersion = from === null || compareVersions(from, to) !== 0;
      if (isOtherVersion || commit === null) return [];
      const isKept = commitFrom !== null && isSameCommit(commitFrom, commit);
      return isKept ? [] : [{ name, from, to, commits: { from: commitFrom, to: commit } }];
    });

/**
 * What changes from some packages to others, by name.
 * @param withRemoved whether a package that is missing afterwards counts as removed, or stays as it was.
 */
export function packageChanges(before: Packages, after: Packages, { withRemoved = false } = {}): PackageChange[] {
  const names = new Set([...Object.keys(after), ...(withRemoved ? Object.keys(before) : [])]);
  const compare = versionComparison();
  return [...names]
    .toSorted(byName)
    .map((name): PackageChange => ({ name, from: versionOf(before, name), to: versionOf(after, name) }))
    .filter(({ from, to }) => (from === null || to === null ? from !== to : compare(from, to) !== 0));
}
