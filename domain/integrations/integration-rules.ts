/** The external systems that the service works with on behalf of a tenant. */
export const INTEGRATION_KINDS = ['host-a', 'host-b', 'host-c', 'tracker-a', 'browser', 'ai-model', 'metrics'] as const;
export type IntegrationKind = (typeof INTEGRATION_KINDS)[number];

/** What a system needs to know beside credentials. */
export type IntegrationOptions = Record<string, string | number | boolean>;

/** How the service authenticates at an external system. */
export type Credentials =
  | { type: 'token'; token: string; username?: string | undefined }
  | { type: 'basic'; username: string; password: string };
