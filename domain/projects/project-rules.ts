interface WithDomains {
  domains?: (string | { name: string; packages?: string[] })[];
}

/** Names of the domains that a project's configuration lists. */
export const domainNames = ({ domains = [] }: WithDomains): string[] =>
  domains.map((domain) => (typeof domain === 'string' ? domain : domain.name));

/**
 * The configuration after a PATCH: objects merge at any depth, arrays are replaced, `null` takes a
 * member out (RFC 7396).
 */
export function mergeConfiguration(current: object, patch: object): Record<string, unknown> {
  const merged: Record<string, unknown> = { ...current };
  for (const [key, value] of Object.entries(patch)) {
    if (value === undefined) continue;
    if (value === null) delete merged[key];
    else if (isPlainObject(value) && isPlainObject(merged[key])) merged[key] = mergeConfiguration(merged[key], value);
    else merged[key] = value;
  }
  return merged;
}

const isPlainObject = (value: unknown): value is object =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
