const VERSION = /^v?(\d+)\.(\d+)(?:\.(\d+))?(?:([-.+])(.+))?$/;

/**
 * Compares two package versions `major.minor.patch[-.+]build` numerically; a missing part counts as 0. A version with a
 * word as its build, such as `1.2.0-Beta_2`, is older than the same with a number or without (semver.org, 11).
 * @returns below, equal to or above 0 as `a` is older than, the same as or newer than `b`; versions of another form
 * are compared as text, and are older than any that can be read.
 */
export function compareVersions(a: string, b: string): number {
  const left = parts(a);
  const right = parts(b);
  if (!left || !right) return left ? 1 : right ? -1 : compareText(a, b);
  for (let index = 0; index < 3; index++) {
    const difference = (left.numbers[index] ?? 0) - (right.numbers[index] ?? 0);
    if (difference !== 0) return difference;
  }
  if (left.isPreRelease !== right.isPreRelease) return left.isPreRelease ? -1 : 1;
  const leftBuild = Number(left.build);
  const rightBuild = Number(right.build);
  if (!Number.isFinite(leftBuild) || !Number.isFinite(rightBuild)) return compareBuilds(left.build, right.build);
  return leftBuild - rightBuild;
}

/** Numbers within builds count as numbers: `Beta_10` comes after `Beta_9`. */
function compareBuilds(a: string, b: string): number {
  const [left, right] = [a.split(/(\d+)/), b.split(/(\d+)/)];
  for (const [index, text] of left.entries()) {
    const other = right[index] ?? '';
    const difference = index % 2 === 1 ? Number(text) - Number(other) : compareText(text, other);
    if (difference !== 0) return difference;
  }
  return left.length - right.length;
}

export const compareText = (a: string, b: string): number => (a === b ? 0 : a < b ? -1 : 1);

function parts(version: string): { numbers: number[]; build: string; isPreRelease: boolean } | undefined {
  const match = VERSION.exec(version.trim());
  if (!match) return undefined;
  const [, major, minor, patch = '0', separator, build = ''] = match;
  const isPreRelease = separator === '-' && /^[a-z]/i.test(build);
  return { numbers: [Number(major), Number(minor), Number(patch)], build, isPreRelease };
}
