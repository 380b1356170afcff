import { sql } from 'kysely';
import { nameSandboxInEnvironments } from '../../projects/environments/environments.mutations.ts';
import type { AuthUrl } from '../crm/auth-url-rules.ts';
import type { CrmFailure, MintedToken, OrgIdentity } from '../crm/crm-platform.port.ts';
import { invalidField, notFound } from '../../kernel/shared/errors.ts';
import type { Encryption } from '../../kernel/encryption/encryption.ts';
import type { Tx } from '../../unit-of-work.ts';
import { emitEvent } from '../../events/webhooks/event-catalog.ts';
import { CrmOrg } from './crm-orgs.entities.ts';
import { environmentsNaming, type OrgRow } from './crm-orgs.queries.ts';
import { replaceToken } from './tokens/crm-tokens.queries.ts';
import { sealAccessToken, sealCredential } from './tokens/crm-secrets.ts';
import { changeHealth, lockedOrg } from './org-health.mutations.ts';
import { METADATA_MAX, mergedMetadata } from './org-metadata-rules.ts';

/** What the platform says of an org. */
export interface OrgFacts {
  identity: OrgIdentity;
  instanceUrl: string;
}

/** Marks that people set; absent: as they are. */
export interface OrgMarks {
  isDevHub?: boolean | undefined;
  /** A default is a dev hub. */
  isDefault?: boolean | undefined;
}

/** What of an org stands in the audit trail: no secrets. */
export const stateOf = ({
  tenantId: _t,
  createdAt: _c,
  updatedAt: _u,
  healthCheckedAt: _h,
  refusedAt: _r,
  ...state
}: CrmOrg) => ({
  ...state,
});

/** Notes in the audit trail what was done with an org. */
export const noteOrg = (
  tx: Tx,
  action: string,
  entityId: string,
  summary: string,
  change: { before?: unknown; after?: unknown } = {},
): void => tx.audit({ source: 'crm', action: `org.${action}`, entityType: 'crm_org', entityId, summary, ...change });

/** Throws `not_found`. */
export async function orgToChange(tx: Tx, id: string): Promise<CrmOrg> {
  const org = await lockedOrg(tx, id);
  if (!org) throw notFound('The org');
  return org;
}

export function follow(org: CrmOrg, { identity, instanceUrl }: OrgFacts): void {
  const { kind, orgId, organizationType, instanceName } = identity;
  const expiresAt = identity.expiresAt === null ? null : new Date(identity.expiresAt);
  if (org.expiresAt?.getTime() !== expiresAt?.getTime()) org.expiryAnnouncedAt = null;
  Object.assign(org, { kind, platformOrgId: orgId, organizationType, instanceName, instanceUrl, expiresAt });
}

/** Sets the marks; a default ends the one before. Throws `invalid_request` for a default that is no dev hub. */
export async function mark(tx: Tx, org: CrmOrg, { isDevHub = org.isDevHub, isDefault = org.isDefault }: OrgMarks) {
  const isStillDefault = isDefault && isDevHub;
  if (isStillDefault && !org.isDefault) {
    await sql`select pg_advisory_xact_lock(hashtextextended(${`crm-default:${tx.tenantId}`}, 0))`.execute(tx.db);
    const others = await tx.em.find(CrmOrg, { tenantId: tx.tenantId, isDefault: true, id: { $ne: org.id } });
    for (const other of others) {
      other.isDefault = false;
      noteOrg(tx, 'updated', other.id, `Org ${other.username} is no longer the default dev hub`, {
        before: { isDefault: true },
        after: { isDefault: false },
      });
    }
    await tx.em.flush();
  }
  Object.assign(org, { isDevHub, isDefault: isStillDefault });
}

export interface NewCredential {
  encryption: Encryption;
  credential: AuthUrl;
  minted: MintedToken;
}

/** The credential of an org from now on; what is known of an older one no longer counts. */
export async function giveCredential(
  tx: Tx,
  orgId: string,
  { encryption, credential, minted }: NewCredential,
): Promise<void> {
  const { accessToken, instanceUrl, refreshToken } = minted;
  const current = refreshToken === null ? credential : { ...credential, refreshToken };
  await replaceToken(tx, orgId, (tokenId) => ({
    credential: sealCredential(encryption, tokenId, current),
    accessToken: sealAccessToken(encryption, tokenId, accessToken),
    instanceUrl,
    mintedAt: tx.now,
  }));
}

/** Where a sandbox comes from. */
export interface SandboxOf {
  name: string;
  production: Pick<OrgRow, 'id' | 'username'>;
}

/** Notes of which production org an org turned out to be a sandbox, so that the sandbox's name finds it. */
export async function nameSandbox(tx: Tx, id: string, { name, production }: SandboxOf): Promise<void> {
  const org = await lockedOrg(tx, id);
  if (!org || org.sandboxName !== null) return;
  const named = { sandboxName: name, parentProductionUsername: production.username };
  Object.assign(org, named);
  await tx.em.flush();
  await nameSandboxInEnvironments(tx, org);
  noteOrg(tx, 'updated', id, `Org ${org.username} is the sandbox ${name} of ${production.username}`, { after: named });
}

export interface OrgPatch extends OrgMarks {
  /** Merged; null removes a pair. */
  metadata?: Record<string, string | null> | undefined;
  /** A new credential, and what the platform says of the org with it. */
  renewal?: (OrgFacts & NewCredential) | undefined;
}

/** Throws `not_found`, and `invalid_request` for too many pairs of metadata. */
export async function changeOrg(tx: Tx, id: string, { metadata, renewal, ...marks }: OrgPatch): Promise<void> {
  const org = await orgToChange(tx, id);
  const before = stateOf(org);
  if (metadata) {
    org.metadata = mergedMetadata(org.metadata, metadata);
    if (Object.keys(org.metadata).length > METADATA_MAX)
      throw invalidField('metadata', `an org has at most ${METADATA_MAX} pairs`);
  }
  if (renewal) {
    follow(org, renewal);
    org.isJitRegistration = false;
    changeHealth(tx, org, undefined);
  }
  await mark(tx, org, marks);
  await tx.em.flush();
  if (renewal) await giveCredential(tx, id, renewal);
  noteOrg(tx, 'updated', id, `Org ${org.username} updated${renewal ? ', with a new credential' : ''}`, {
    before,
    after: stateOf(org),
  });
}

/** Removes an org with everything that is kept of it. Throws `not_found`. */
export async function removeOrg(tx: Tx, id: string): Promise<void> {
  const org = await orgToChange(tx, id);
  const environments = await environmentsNaming(tx, [org.username]);
  const before = {
    ...stateOf(org),
    namedBy: environments.map(({ repositoryIdentifier, name }) => `${repositoryIdentifier}: ${name}`),
  };
  await tx.em.remove(org).flush();
  noteOrg(tx, 'removed', id, `Org ${org.username} removed`, { before });
  emitEvent(tx, 'org.removed', {
    orgUsername: org.username,
    orgId: org.platformOrgId,
    removedBy: tx.actor.email,
  });
}

/** Notes the result of a test of the connection. Throws `not_found`. */
export async function noteTested(
  tx: Tx,
  id: string,
  result: { identity: OrgIdentity } | { failure: CrmFailure },
): Promise<void> {
  const org = await orgToChange(tx, id);
  const failure = 'failure' in result ? result.failure : undefined;
  if ('identity' in result) follow(org, { identity: result.identity, instanceUrl: org.instanceUrl });
  changeHealth(tx, org, failure);
  await tx.em.flush();
  noteOrg(tx, 'connection_tested', id, `Connection to org ${org.username} tested: ${org.healthStatus}`, {
    after: { healthStatus: org.healthStatus, healthError: org.healthError },
  });
}

/** Announces once that an org expires soon. */
export async function announceOrgExpiry(tx: Tx, id: string): Promise<void> {
  const org = await lockedOrg(tx, id);
  if (!org?.expiresAt || org.expiryAnnouncedAt) return;
  org.expiryAnnouncedAt = tx.now;
  emitEvent(tx, 'org.expiring', { orgUsername: org.username, expiresAt: org.expiresAt.toISOString() });
}
