interface WithDomains {
  domains?: (string | { name: string; packages?: string[] })[];
}

/** Names of the domains that a project's configuration lists. */
export const domainNames = ({ domains = [] }: WithDomains): string[] =>
  domains.map((domain) => (typeof domain === 'string' ? domain : domain.name));
