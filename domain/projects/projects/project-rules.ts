import { type DomainError, unknownName } from '../../kernel/shared/errors.ts';
import { matchesPattern } from '../../kernel/text/pattern-rules.ts';

interface WithDomains {
  domains?: (string | { name: string; packages?: string[] })[];
}

/** Names of the domains that a project's configuration lists. */
export const domainNames = ({ domains = [] }: WithDomains): string[] =>
  domains.map((domain) => (typeof domain === 'string' ? domain : domain.name));

/** The error about a domain that a project does not list; undefined if it lists it, or lists none. */
export function unknownDomain(configuration: WithDomains, domain: string): DomainError | undefined {
  const names = domainNames(configuration);
  return names.length === 0 || names.includes(domain) ? undefined : unknownName('Domain', domain, names);
}

interface WithBranches {
  defaultBranch: string;
  configuration: { branches?: string[]; cascade?: { from: string; to: string }[] };
}

/** Whether a project is configured for a branch, so that it outlives its candidates. */
export const isProtectedBranch = (
  branch: string,
  { defaultBranch, configuration: { branches = [], cascade = [] } }: WithBranches,
): boolean =>
  [defaultBranch, ...branches, ...cascade.flatMap(({ from, to }) => [from, to])].some((pattern) =>
    matchesPattern(pattern, branch),
  );
