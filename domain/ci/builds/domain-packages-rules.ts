/** A domain with its packages. */
export interface DomainPackages {
  name: string;
  packages: string[];
}

/** The domains of a project: one that lists no packages has those that no other domain lists. */
export function domainPackages(
  domains: readonly (string | { name: string; packages?: string[] })[],
  known: Iterable<string>,
): DomainPackages[] {
  const listed = domains.map((domain) =>
    typeof domain === 'string'
      ? { name: domain, packages: [] }
      : { name: domain.name, packages: domain.packages ?? [] },
  );
  const claimed = new Set(listed.flatMap(({ packages }) => packages));
  const unclaimed = [...known].filter((each) => !claimed.has(each));
  return listed.map(({ name, packages }) => ({
    name,
    packages: (packages.length > 0 ? packages : unclaimed).toSorted(),
  }));
}

/** Domains that have some of these packages, each with those. */
export const domainsOf = (domains: readonly DomainPackages[], packages: ReadonlySet<string>): DomainPackages[] =>
  domains.flatMap(({ name, packages: own }) => {
    const held = own.filter((each) => packages.has(each));
    return held.length > 0 ? [{ name, packages: held }] : [];
  });
