import type { CollectionNames } from './collection-limit-rules.ts';
import type { RunOfToken } from './run-token-rules.ts';

export const ROLES = ['owner', 'member', 'application'] as const;
export type Role = (typeof ROLES)[number];

export interface TenantKey {
  tenantId: string;
  /** Unique and never changed; names the tenant in the ids of workflows. */
  tenantSlug: string;
}

export const tenantOf = ({ tenantId, tenantSlug }: TenantKey): TenantKey => ({ tenantId, tenantSlug });

/** Who acts, in exactly one tenant. */
export interface Actor extends TenantKey {
  type: 'user' | 'application' | 'run' | 'operator' | 'system';
  /** Id of the user, application token or run, or the name of the part of the service that acts. */
  id: string;
  role: Role;
  /** E-mail of a user, `app:<token name>` of an application token, `run:<id>` of a run's command. */
  email: string;
  /** Ids of the only projects that a limited application token reaches; absent: all of the tenant. */
  projectIds?: readonly string[];
  /** Names of the only collections of documents that a token limited to projects reaches; absent: it reaches none. */
  collections?: CollectionNames;
  /** The run whose command reports with the token of the run; absent: it is another credential. */
  run?: RunOfToken;
  /** Ids of people who set in motion what it does, beside itself. */
  onBehalfOf?: readonly string[];
  /** The session of a person who came with one. */
  sessionId?: string;
}

/** The service itself, acting in a tenant on a schedule or on behalf of a workflow. */
export const systemActor = ({ tenantId, tenantSlug }: TenantKey, part: string): Actor => ({
  type: 'system',
  id: part,
  tenantId,
  tenantSlug,
  role: 'application',
  email: `system:${part}`,
});
