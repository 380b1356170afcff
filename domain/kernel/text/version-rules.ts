const VERSION = /^v?(\d+)\.(\d+)(?:\.(\d+))?(?:([-.+])(.+))?$/;

/**
 * Compares two package versions `major.minor.patch[-.+]build` numerically; a missing part counts as 0. What follows the
 * patch is compared part by part, numbers as numbers: build numbers of pipelines stand there (`+20261123.10`). A version
 * with a word as its build, such as `1.2.0-Beta_2`, is older than the same with a number or without (semver.org, 11).
 * @returns below, equal to or above 0 as `a` is older than, the same as or newer than `b`; versions of another form
 * are compared as text, and are older than any that can be read.
 */
export function compareVersions(a: string, b: string): number {
  const left = parts(a);
  const right = parts(b);
  if (!left || !right) return left ? 1 : right ? -1 : compareText(a, b);
  for (const [index, number] of left.numbers.entries()) {
    const difference = compareDigits(number, right.numbers[index] ?? '0');
    if (difference !== 0) return difference;
  }
  if (left.isPreRelease !== right.isPreRelease) return left.isPreRelease ? -1 : 1;
  return compareBuilds(left.build, right.build);
}

/** `compareVersions` for many packages in turn, of which those beside each other mostly have the same versions. */
export function versionComparison(): typeof compareVersions {
  let last: { a: string; b: string; order: number } | undefined;
  return (a, b) => {
    if (last?.a !== a || last.b !== b) last = { a, b, order: compareVersions(a, b) };
    return last.order;
  };
}

/** Numbers within builds count as numbers: `Beta_10` comes after `Beta_9`, `20261123.10` after `20261123.9`. */
function compareBuilds(a: string, b: string): number {
  const [left, right] = [a, b].map((build) => (/^0+$/.test(build) ? '' : build).split(/(\d+)/)) as [string[], string[]];
  for (const [index, text] of left.entries()) {
    const other = right[index] ?? '';
    const difference = index % 2 === 1 ? compareDigits(text, other) : compareText(text, other);
    if (difference !== 0) return difference;
  }
  return left.length - right.length;
}

/** Numbers of any length, exactly. */
function compareDigits(a: string, b: string): number {
  const [left, right] = [a, b].map((digits) => digits.replace(/^0+/, '')) as [string, string];
  return left.length - right.length || compareText(left, right);
}

export const compareText = (a: string, b: string): number => (a === b ? 0 : a < b ? -1 : 1);

function parts(version: string): { numbers: string[]; build: string; isPreRelease: boolean } | undefined {
  const match = VERSION.exec(version.trim());
  if (!match) return undefined;
  const [, major = '', minor = '', patch = '0', separator, build = ''] = match;
  const isPreRelease = separator === '-' && /^[a-z]/i.test(build);
  return { numbers: [major, minor, patch], build, isPreRelease };
}
