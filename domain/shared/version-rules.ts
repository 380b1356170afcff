const VERSION = /^v?(\d+)\.(\d+)(?:\.(\d+))?(?:[-.+](.+))?$/;

/**
 * Compares two package versions `major.minor.patch[-.+]build` numerically; a missing part counts as 0.
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
  const leftBuild = Number(left.build);
  const rightBuild = Number(right.build);
  if (Number.isNaN(leftBuild) || Number.isNaN(rightBuild)) return compareText(left.build, right.build);
  return leftBuild - rightBuild;
}

const compareText = (a: string, b: string): number => (a === b ? 0 : a < b ? -1 : 1);

function parts(version: string): { numbers: number[]; build: string } | undefined {
  const match = VERSION.exec(version.trim());
  if (!match) return undefined;
  const [, major, minor, patch = '0', build = '0'] = match;
  return { numbers: [Number(major), Number(minor), Number(patch)], build };
}
