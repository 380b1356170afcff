/** The external systems that the service works with on behalf of a tenant. */
export const INTEGRATION_KINDS = ['host-a', 'host-b', 'host-c', 'tracker-a', 'browser', 'ai-model', 'metrics'] as const;
export type IntegrationKind = (typeof INTEGRATION_KINDS)[number];

/** What a system needs to know beside credentials. */
export type IntegrationOptions = Record<string, string | number | boolean>;

/** How the service authenticates at an external system. */
export type Credentials =
  | { type: 'token'; token: string; username?: string | undefined }
  | { type: 'basic'; username: string; password: string };

interface Target {
  baseUrl: string | null;
}

/**
 * Whether credentials that were given for one server would now go to another: whoever may change the address must not
 * get hold of a secret that somebody else entered.
 */
export const needsNewCredentials = (before: Target, after: Target): boolean => originOf(before) !== originOf(after);

const originOf = ({ baseUrl }: Target): string | null =>
  baseUrl === null ? null : (URL.parse(baseUrl)?.origin ?? null);
