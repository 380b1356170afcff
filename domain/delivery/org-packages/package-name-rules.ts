import { isIdOf, longId } from '../../orgs/crm/org-id-rules.ts';
import { didYouMean } from '../../kernel/text/suggestion-rules.ts';

/** Ids of package versions (`04t…`) by their names in `packageAliases` of a `sfdx-project.json`. */
export type VersionAliases = ReadonlyMap<string, string>;

export const NO_ALIASES: VersionAliases = new Map();

export const isVersionId = (text: string): boolean => isIdOf('04t', text);

/** The aliases of package versions in a `sfdx-project.json`; undefined: the text is none. */
export function aliasesOfManifest(text: string): VersionAliases | undefined {
  let manifest: { packageAliases?: unknown } | null;
  try {
    manifest = JSON.parse(text) as typeof manifest;
  } catch {
    return undefined;
  }
  return new Map(
    Object.entries((manifest?.packageAliases ?? {}) as Record<string, unknown>).flatMap(([alias, id]) =>
      typeof id === 'string' && isVersionId(id) ? [[alias, longId(id)] as const] : [],
    ),
  );
}

/** A package as a payload asks for it. */
export interface AskedPackage {
  name: string;
  /** Id of a version, an alias, or a number for which there is an alias `name@number`. */
  version: string;
}

/** The packages that a payload asks to install, by name. */
export const askedPackages = ({ packages }: Readonly<Record<string, unknown>>): AskedPackage[] =>
  typeof packages !== 'object' || packages === null || Array.isArray(packages)
    ? []
    : Object.entries(packages)
        .map(([name, version]) => ({ name, version: String(version) }))
        .toSorted((left, right) => (left.name < right.name ? -1 : 1));

/** The packages that a payload asks to uninstall. */
export const askedNames = ({ packages }: Readonly<Record<string, unknown>>): string[] =>
  Array.isArray(packages) ? [...new Set(packages.map(String))] : [];

/** The aliases whose number is the given one, or begins with it: `1.4.0` has `Base@1.4.0-7`. */
const aliasesOfNumber = ({ name, version }: AskedPackage, aliases: VersionAliases): string[] => {
  const plain = (number: string) => number.replace(/^v/, '').replaceAll(/[-+]/g, '.');
  const wanted = plain(version);
  return [...aliases.keys()].filter((alias) => {
    const at = alias.indexOf('@', 1);
    if (at < 0 || alias.slice(0, at) !== name) return false;
    const number = plain(alias.slice(at + 1));
    return number === wanted || number.startsWith(`${wanted}.`);
  });
};

/** The version that a package is asked for in, or why it is not known. */
export function versionAsked(
  asked: AskedPackage,
  aliases: VersionAliases,
): { isOk: true; versionId: string } | { isOk: false; reason: string } {
  const { name, version } = asked;
  if (isVersionId(version)) return { isOk: true, versionId: longId(version) };
  const found = aliases.has(version) ? [version] : aliasesOfNumber(asked, aliases);
  const [alias = '', ...more] = found;
  if (more.length > 0)
    return { isOk: false, reason: `${name} ${version} may be ${found.join(', ')}: name one of them` };
  const versionId = aliases.get(alias);
  if (versionId !== undefined) return { isOk: true, versionId };
  const hint = didYouMean(version, [...aliases.keys()]);
  return {
    isOk: false,
    reason: `${name} ${version} is no id of a version, and sfdx-project.json has no such alias${hint}`,
  };
}

/** A key for installing, with the name under which it is stored. */
export interface NamedKey {
  keyName: string;
  key: string;
}

/** Keys by the id of the version that they are for; those of aliases that are not known are left out. */
export function keysByVersion(
  keys: Readonly<Record<string, string>>,
  aliases: VersionAliases,
): ReadonlyMap<string, NamedKey> {
  const found = new Map<string, NamedKey>();
  for (const [keyName, key] of Object.entries(keys)) {
    const versionId = isVersionId(keyName) ? longId(keyName) : aliases.get(keyName);
    if (versionId !== undefined) found.set(versionId, { keyName, key });
  }
  return found;
}

/** Order of version numbers: `1.4.0.7`. */
export function compareNumbers(left: string, right: string): number {
  const [a, b] = [left, right].map((number) => number.split('.').map(Number));
  for (let part = 0; part < 4; part++) {
    const difference = (a?.[part] ?? 0) - (b?.[part] ?? 0);
    if (difference !== 0) return difference;
  }
  return 0;
}
