import { formatAuthUrl } from '../../crm/auth-url-rules.ts';
import type { CrmOrg } from '../../crm/crm-platform.port.ts';
import { longId } from '../../crm/org-id-rules.ts';
import { permittedAuthUrl } from '../../crm/org-origin.ts';
import { DomainError } from '../../../kernel/shared/errors.ts';
import type { OrgRow } from '../crm-orgs.queries.ts';
import { platformFailed } from './org-failure-rules.ts';
import type { OrgKey } from '../org-keys.ts';
import { stillCopying } from '../org-registration.ts';
import { type OrgScope, orgKeyOf } from '../org-scope.ts';
import type { OrgTarget, SandboxTarget, ScratchTarget } from '../org-targets.ts';

/** A token that is handed out was minted at most so long ago. */
const FRESH_MS = 5 * 60_000;

/** An access token that is handed out. */
export interface HandedToken {
  accessToken: string;
  instanceUrl: string;
  username: string;
  orgId: string;
  isDevHub: boolean;
}

export interface Access {
  token: HandedToken;
  /** The calls of the org with that token. */
  calls: CrmOrg;
}

/** An access token for an org. Throws `upstream_error`, `upstream_timeout`; and as `accessOfSandbox`, `accessOfScratch`. */
export function accessOf(scope: OrgScope, target: OrgTarget): Promise<Access> {
  if (target.type === 'sandbox') return accessOfSandbox(scope, target);
  return target.type === 'scratch' ? accessOfScratch(scope, target) : accessOfRegistered(scope, target.org);
}

export async function accessOfRegistered(scope: OrgScope, org: OrgRow): Promise<Access> {
  const { connections } = scope.crm;
  const orgKey = orgKeyOf(scope, org.id);
  const minted = await connections.tokenOf(orgKey, { maxAgeMs: FRESH_MS });
  if (!minted.isOk) throw platformFailed(`Org ${org.username} gives no access token`, minted);
  const { accessToken, instanceUrl, platformOrgId } = minted.value;
  const { username, isDevHub } = org;
  return {
    token: { accessToken, instanceUrl, username, orgId: platformOrgId ?? org.platformOrgId, isDevHub },
    calls: connections.callOrg(orgKey),
  };
}

/** Throws `in_progress` for a sandbox that is still being copied. */
async function accessOfSandbox(scope: OrgScope, { production, sandbox }: SandboxTarget): Promise<Access> {
  if (sandbox.state === 'copying') throw stillCopying(sandbox);
  const { connections } = scope.crm;
  const orgKey = orgKeyOf(scope, production.id, sandbox.name);
  const minted = await connections.tokenOf(orgKey, { maxAgeMs: FRESH_MS });
  if (!minted.isOk)
    throw platformFailed(`Sandbox ${sandbox.name} of ${production.username} gives no access token`, minted);
  const { accessToken, instanceUrl, username, platformOrgId } = minted.value;
  return {
    token: {
      accessToken,
      instanceUrl,
      username: username ?? sandbox.name,
      orgId: platformOrgId ?? longId(sandbox.orgId ?? ''),
      isDevHub: false,
    },
    calls: connections.callOrg(orgKey),
  };
}

/** Throws `not_found` for one that is not active, `invalid_request` where the dev hub stores no auth URL of it. */
async function accessOfScratch(scope: OrgScope, target: ScratchTarget): Promise<Access> {
  const { connections } = scope.crm;
  const { username, orgId } = target.scratch;
  const orgKey = orgKeyOfScratch(scope, target);
  const minted = await connections.tokenOf(orgKey, { maxAgeMs: FRESH_MS });
  if (!minted.isOk) throw platformFailed(`Scratch org ${username} gives no access token`, minted);
  const { accessToken, instanceUrl, platformOrgId } = minted.value;
  return {
    token: { accessToken, instanceUrl, username, orgId: platformOrgId ?? longId(orgId ?? ''), isDevHub: false },
    calls: connections.callOrg(orgKey),
  };
}

/** Where the token of a scratch org is kept: at its record unless that is refused, else at its dev hub. Throws as `accessOfScratch`. */
function orgKeyOfScratch(scope: OrgScope, { devHub, scratch, record }: ScratchTarget): OrgKey {
  const { username, auth, orgId } = scratch;
  if (scratch.status !== 'Active')
    throw new DomainError('not_found', `Scratch org ${username} is not active: its status is ${scratch.status}`);
  if (auth.state !== 'present')
    throw new DomainError(
      'invalid_request',
      auth.state === 'no_field'
        ? `The dev hub ${devHub.username} has no field ${auth.field}, or does not show it, so that it stores no auth URL of ${username}`
        : `The field ${auth.field} of ${username} is empty at the dev hub ${devHub.username}: there is no auth URL`,
    );
  if (record && record.healthStatus !== 'auth_failed') return orgKeyOf(scope, record.id);
  const parsed = permittedAuthUrl(auth.authUrl, scope.crm.outbound);
  if (!parsed.isOk)
    throw new DomainError(
      'upstream_error',
      `Scratch org ${username} gives no access token: the dev hub ${devHub.username} stores no valid auth URL. ${parsed.reason}`,
      { members: { hint: `Write a valid auth URL into ${auth.field}.` } },
    );
  const access = { username, platformOrgId: orgId === null ? null : longId(orgId), authUrl: parsed.authUrl };
  return { ...orgKeyOf(scope, devHub.id), scratch: access };
}

/** The auth URL of a scratch org: as its dev hub stores it, or with the refresh token that replaced that one. */
export async function authUrlOfScratch(scope: OrgScope, target: ScratchTarget): Promise<string> {
  const credential = await scope.crm.connections.credentialOf(orgKeyOfScratch(scope, target));
  if (!credential.isOk) throw platformFailed(`Scratch org ${target.scratch.username} gives no auth URL`, credential);
  return formatAuthUrl(credential.value);
}

/** The record in whose name the trail has what was done with an org: its own, or the one through which it was reached. */
export const rowIdOf = (target: OrgTarget): string =>
  target.type === 'registered' ? target.org.id : target.type === 'sandbox' ? target.production.id : target.devHub.id;

/** Notes in the audit trail that credentials are handed out. */
export const noteRead = (
  { actor, requestId, crm }: OrgScope,
  orgId: string,
  username: string,
  what: string,
): Promise<void> =>
  crm.noteAccess({
    actor,
    requestId,
    action: 'credentials_read',
    orgId,
    summary: `Credentials of org ${username} read: ${what}`,
  });
