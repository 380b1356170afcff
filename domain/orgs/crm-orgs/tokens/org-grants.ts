import { createHash } from 'node:crypto';
import { type AuthUrl, DEFAULT_CLIENT_ID, formatAuthUrl, OAUTH_REDIRECT_URI } from '../../crm/auth-url-rules.ts';
import type { CrmFailure, CrmPlatform, MintedToken } from '../../crm/crm-platform.port.ts';
import { isSameOrgId } from '../../crm/org-id-rules.ts';
import { failure as crmFailure } from '../../crm/platform-error-rules.ts';
import type { FencedReads } from '../../../kernel/data/fenced-reads.ts';
import type { Encryption } from '../../../kernel/encryption/encryption.ts';
import { orgByUsername } from '../crm-orgs.queries.ts';
import { openCredential, type StoredCredential } from './crm-secrets.ts';
import { tokenState, type TokenState } from './crm-tokens.queries.ts';
import type { Lease } from './token-leases.queries.ts';
import type { CallOrg } from './org-connections.ts';
import { actorOf, isJustInTime, keyOf, type OrgKey, type ScratchAccess } from '../org-keys.ts';

export const NOT_REGISTERED = crmFailure('not_found', null, 'The org is not registered.', 'Register it.');
export const NO_CREDENTIAL = crmFailure(
  'auth_failed',
  null,
  'There is no credential for the org.',
  'Register it again.',
);
const OTHER_ORG = crmFailure(
  'refused',
  'OTHER_ORG',
  'The auth URL that its dev hub stores is that of another org.',
  'Write the auth URL of the scratch org into the field of the dev hub.',
);

/** What the platform gave; `lost`: somebody else has the lease now. */
export type Obtained = Minted | Refused | 'lost';
export interface Minted {
  isOk: true;
  minted: MintedToken;
  credential: StoredCredential | null;
  /** Username in an org that is not registered; null for a registered org. */
  username: string | null;
}
export interface Refused {
  isOk: false;
  failure: CrmFailure;
  /** The credential of the org itself was used, not that of its production org. */
  isOwn: boolean;
  /** The kept refresh token was refused; another is had elsewhere. */
  isCacheDead?: boolean;
}

interface GrantParts {
  platform: CrmPlatform;
  reads: FencedReads;
  encryption: Encryption;
}

/** Which auth URL of the dev hub a kept credential comes from: a hub that stores another one is followed. */
export const sourceOf = ({ authUrl }: ScratchAccess): string =>
  createHash('sha256').update(formatAuthUrl(authUrl)).digest('base64url');

/**
 * How the platform is asked for a token: by refresh token; for a sandbox by a code of its production org when there is
 * no living one; for a scratch org by the auth URL that its dev hub stores.
 */
export function createOrgGrants({ platform, reads, encryption }: GrantParts, callOrg: CallOrg) {
  const kept = ({ credential, tokenId }: Lease): StoredCredential | null =>
    credential === null ? null : openCredential(encryption, tokenId, credential);

  async function refresh(credential: StoredCredential | null, username: string | null = null): Promise<Obtained> {
    if (!credential) return { isOk: false, failure: NO_CREDENTIAL, isOwn: true };
    const answer = await platform.refresh(credential);
    return answer.isOk
      ? { isOk: true, minted: answer.value, credential: renewedBy(credential, answer.value), username }
      : { isOk: false, failure: answer, isOwn: true };
  }

  const sandbox = createSandboxGrants({ platform, reads, encryption }, callOrg, refresh, kept);

  async function scratch(access: ScratchAccess, lease: Lease): Promise<Obtained> {
    const { username, authUrl, platformOrgId } = access;
    const source = sourceOf(access);
    const cached = kept(lease);
    if (cached?.source === source && cached.refreshToken !== authUrl.refreshToken) {
      const refreshed = await refresh(cached, username);
      if (refreshed === 'lost' || refreshed.isOk || refreshed.failure.kind !== 'auth_failed') return refreshed;
    }
    const obtained = await refresh({ ...authUrl, source }, username);
    if (obtained === 'lost') return obtained;
    if (!obtained.isOk) return { ...obtained, isCacheDead: true };
    const { orgId } = obtained.minted;
    const isOther = orgId !== null && platformOrgId !== null && !isSameOrgId(orgId, platformOrgId);
    return isOther ? { isOk: false, failure: OTHER_ORG, isOwn: true, isCacheDead: true } : obtained;
  }

  /** @param holdLease whether the lease is still ours, and if so for its full time from now on. */
  return (orgKey: OrgKey, state: TokenState, lease: Lease, holdLease: () => Promise<boolean>): Promise<Obtained> => {
    if (orgKey.scratch) return scratch(orgKey.scratch, lease);
    return isJustInTime(orgKey, state) ? sandbox(orgKey, state, lease, holdLease) : refresh(kept(lease));
  };
}

/** A refresh may bring a new refresh token, which replaces the one that was used. */
const renewedBy = (credential: StoredCredential, { refreshToken }: MintedToken): StoredCredential =>
  refreshToken === null ? credential : { ...credential, refreshToken };

/** A sandbox is entered by a code of its production org when no refresh token of it lives. */
function createSandboxGrants(
  { platform, reads, encryption }: GrantParts,
  callOrg: CallOrg,
  refresh: (credential: StoredCredential | null) => Promise<Obtained>,
  kept: (lease: Lease) => StoredCredential | null,
) {
  /** A code is only given for, and exchanged by, the app that the production org is signed in to with. */
  async function clientOf(orgKey: OrgKey): Promise<Pick<AuthUrl, 'clientId' | 'clientSecret'>> {
    const state = await tokenState(reads.as(actorOf(orgKey)), keyOf(orgKey));
    if (!state?.credential || state.tokenId === null) return { clientId: DEFAULT_CLIENT_ID, clientSecret: '' };
    const { clientId, clientSecret } = openCredential(encryption, state.tokenId, state.credential);
    return { clientId, clientSecret };
  }

  return async function sandbox(
    orgKey: OrgKey,
    state: TokenState,
    lease: Lease,
    holdLease: () => Promise<boolean>,
  ): Promise<Obtained> {
    const isCacheDead = lease.credential !== null;
    if (isCacheDead) {
      const refreshed = await refresh(kept(lease));
      if (refreshed === 'lost' || refreshed.isOk || refreshed.failure.kind !== 'auth_failed') return refreshed;
    }
    const sandboxName = orgKey.sandboxName ?? state.ownSandboxName ?? '';
    const productionUsername = orgKey.sandboxName === undefined ? state.parentProductionUsername : state.orgUsername;
    const byProduction = (failure: CrmFailure): Obtained => ({
      isOk: false,
      failure: { ...failure, message: `The production org ${productionUsername} was asked: ${failure.message}` },
      isOwn: false,
      isCacheDead,
    });
    const production =
      orgKey.sandboxName === undefined
        ? await orgByUsername(reads.as(actorOf(orgKey)), productionUsername ?? '')
        : { id: orgKey.orgId };
    if (!production) return byProduction(NOT_REGISTERED);
    const productionKey = { tenantId: orgKey.tenantId, tenantSlug: orgKey.tenantSlug, orgId: production.id };
    const client = await clientOf(productionKey);
    const code = await callOrg(productionKey).sandboxAuth({ sandboxName, clientId: client.clientId });
    if (!code.isOk) return byProduction(code);
    // Another exchange would cost another of the few approvals that the platform keeps.
    if (!(await holdLease())) return 'lost';
    const { loginUrl, username } = code.value;
    const grant = { ...client, loginUrl, code: code.value.code, redirectUri: OAUTH_REDIRECT_URI };
    const answer = await platform.exchangeCode(grant);
    // A code that came too late says nothing of a credential: the next one may do.
    const isCodeSpent = !answer.isOk && /authorization code/i.test(answer.message);
    if (!answer.isOk) return { isOk: false, failure: answer, isOwn: !isCodeSpent, isCacheDead };
    const { refreshToken } = answer.value;
    return {
      isOk: true,
      minted: answer.value,
      credential: refreshToken === null ? null : { ...client, refreshToken, loginUrl },
      username,
    };
  };
}
