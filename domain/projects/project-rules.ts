import { matchesPattern } from '../shared/pattern-rules.ts';

interface WithDomains {
  domains?: (string | { name: string; packages?: string[] })[];
}

/** Names of the domains that a project's configuration lists. */
export const domainNames = ({ domains = [] }: WithDomains): string[] =>
  domains.map((domain) => (typeof domain === 'string' ? domain : domain.name));

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
