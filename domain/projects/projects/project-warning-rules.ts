import { type Warning, warning, WARNINGS_MAX } from '../../kernel/shared/warning-rules.ts';

/** What a project says of its domains. */
interface DeclaredProject {
  configuration: { domains?: readonly (string | { name: string; packages?: readonly string[] })[] };
}

/**
 * Packages that a project assigns to other domains only. Packages that it assigns to no domain belong to all.
 * @param path of the packages in their resource.
 */
export function foreignPackages(
  { configuration: { domains = [] } }: DeclaredProject,
  domain: string,
  packages: readonly string[],
  path: readonly string[],
): Warning[] {
  const homes = new Map<string, string[]>();
  for (const entry of domains) {
    if (typeof entry === 'string') continue;
    for (const name of entry.packages ?? []) homes.set(name, [...(homes.get(name) ?? []), entry.name]);
  }
  const foreign = packages.filter((name) => homes.get(name)?.includes(domain) === false);
  return foreign
    .slice(0, WARNINGS_MAX)
    .map((name) =>
      warning(
        'package_of_other_domain',
        [...path, name],
        `${name} is a package of ${homes.get(name)?.join(', ')}, not of ${domain}`,
      ),
    );
}
