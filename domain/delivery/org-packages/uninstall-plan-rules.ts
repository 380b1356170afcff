import type { InstalledPackage } from '../../orgs/crm/crm-packages.port.ts';
import { longId } from '../../orgs/crm/org-id-rules.ts';
import type { VersionAliases } from './package-name-rules.ts';

/** The packages of an org that are meant, what means none, and what means several. An id or alias of a version means that version alone. */
export function installedAs(
  asked: readonly string[],
  installed: readonly InstalledPackage[],
  aliases: VersionAliases,
): { packages: InstalledPackage[]; unknown: string[]; ambiguous: string[] } {
  const found = new Set<InstalledPackage>();
  const unknown: string[] = [];
  const ambiguous: string[] = [];
  for (const name of asked) {
    const word = name.toLowerCase();
    const id = aliases.get(name) ?? longId(name);
    const meant = installed.filter(
      (each) =>
        each.versionId === id ||
        each.packageId === id ||
        each.name.toLowerCase() === word ||
        each.namespace?.toLowerCase() === word,
    );
    if (meant.length === 0) unknown.push(name);
    const ids = new Set(meant.map(({ packageId }) => packageId));
    if (ids.size > 1) ambiguous.push(`${name} (${[...ids].join(', ')})`);
    for (const each of meant) found.add(each);
  }
  return { packages: [...found], unknown, ambiguous };
}

/** Each before what it needs. @param needs ids of versions by the id of the version that needs them. */
export function inUninstallOrder(
  packages: readonly InstalledPackage[],
  needs: ReadonlyMap<string, readonly string[]>,
): InstalledPackage[] {
  const byVersion = new Map(packages.map((each) => [each.versionId, each]));
  const order: InstalledPackage[] = [];
  const seen = new Set<string>();
  const visit = (each: InstalledPackage): void => {
    if (seen.has(each.versionId)) return;
    seen.add(each.versionId);
    for (const id of needs.get(each.versionId) ?? []) {
      const needed = byVersion.get(id);
      if (needed) visit(needed);
    }
    order.push(each);
  };
  for (const each of packages) visit(each);
  return order.toReversed();
}
