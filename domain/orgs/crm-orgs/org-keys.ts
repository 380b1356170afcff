import type { AuthUrl } from '../crm/auth-url-rules.ts';
import { type Actor, systemActor, type TenantKey } from '../../kernel/shared/actor.ts';
import type { TokenKey, TokenState } from './tokens/crm-tokens.queries.ts';

/** A scratch org as its dev hub knows it. */
export interface ScratchAccess {
  username: string;
  /** The platform's id, where it is known. */
  platformOrgId: string | null;
  /** That the dev hub stores; a secret. */
  authUrl: AuthUrl;
}

/** An org whose token is meant, in its tenant. */
export interface OrgKey extends TenantKey {
  /** Id of the row: of the org itself, or of the one through which another is reached. */
  orgId: string;
  /** A sandbox of that org which is not registered. */
  sandboxName?: string;
  /** A scratch org of that dev hub which is not registered. */
  scratch?: ScratchAccess;
}

/** The token is that of the registered org itself, which has a health. */
export const isRegistered = ({ sandboxName, scratch }: OrgKey): boolean =>
  sandboxName === undefined && scratch === undefined;

/** The long-lived credential is a cache: another is had through the production org. */
export const isJustInTime = (orgKey: OrgKey, { isJitRegistration }: Pick<TokenState, 'isJitRegistration'>): boolean =>
  orgKey.sandboxName !== undefined || (isRegistered(orgKey) && isJitRegistration);

/** Usernames have an `@`, which names of sandboxes have not. */
export const keyOf = ({ orgId, sandboxName, scratch }: OrgKey): TokenKey => ({
  orgId,
  reachedName: (sandboxName ?? scratch?.username ?? '').toLowerCase(),
});

/** Who asks for tokens. */
export const actorOf = (tenant: TenantKey): Actor => systemActor(tenant, 'crm');
