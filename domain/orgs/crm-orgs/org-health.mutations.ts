import { LockMode } from '@mikro-orm/core';
import type { CrmFailure } from '../crm/crm-platform.port.ts';
import { forgetPresence } from '../gc-ledger/gc-presence.queries.ts';
import type { Tx } from '../../unit-of-work.ts';
import { emitEvent } from '../../events/webhooks/event-catalog.ts';
import { CrmOrg } from './crm-orgs.entities.ts';
import { healthAfter } from './org-health-rules.ts';
import { credentialVersionOf } from './tokens/crm-tokens.queries.ts';

/** An org is locked before its token, by everybody. */
export const lockedOrg = ({ em, tenantId }: Tx, id: string): Promise<CrmOrg | null> =>
  em.findOne(CrmOrg, { tenantId, id }, { lockMode: LockMode.PESSIMISTIC_WRITE });

/**
 * Notes what a call to an org showed of its health; a refused credential is announced once, and so is the recovery.
 * Nothing happens to an org that was removed meanwhile, or whose credential was replaced since.
 * @param failure undefined when the org answered.
 * @param credentialVersion of the credential that was used; undefined to note it in any case.
 */
export async function noteHealth(
  tx: Tx,
  orgId: string,
  failure: CrmFailure | undefined,
  credentialVersion?: number,
): Promise<void> {
  const org = await lockedOrg(tx, orgId);
  if (!org) return;
  if (credentialVersion !== undefined && (await credentialVersionOf(tx, orgId)) !== credentialVersion) return;
  changeHealth(tx, org, failure);
  await tx.em.flush();
}

/**
 * Follows what calls learn of an org: that it answers, is away, or has no calls left. A refused credential stays so: what
 * a call learns that began before says nothing of it.
 */
export async function followHealth(tx: Tx, orgId: string, failure: CrmFailure | undefined): Promise<void> {
  const org = await lockedOrg(tx, orgId);
  if (!org || org.healthStatus === 'auth_failed') return;
  changeHealth(tx, org, failure);
  await tx.em.flush();
}

/** `noteHealth` for an org that is locked; the caller flushes. */
export function changeHealth(tx: Tx, org: CrmOrg, failure: CrmFailure | undefined): void {
  const before = org.healthStatus;
  const after = healthAfter(failure);
  // An org that is away says nothing of its credential, which stays refused until the org takes one.
  if (before === 'auth_failed' && failure && after !== 'auth_failed') {
    org.healthCheckedAt = tx.now;
    return;
  }
  Object.assign(org, {
    healthStatus: after,
    healthCheckedAt: tx.now,
    refusedAt: after === 'auth_failed' ? (org.refusedAt ?? tx.now) : null,
    healthError: failure?.message ?? null,
    healthHint: failure?.hint ?? null,
  });
  if (after === 'auth_failed' && before !== 'auth_failed') {
    announce(tx, org, 'auth_failed', `The credential of org ${org.username} was refused`);
    emitEvent(tx, 'org.auth_failed', { orgUsername: org.username, error: failure?.message ?? '' });
  } else if (before === 'auth_failed' && after === 'ok') {
    announce(tx, org, 'auth_recovered', `The credential of org ${org.username} is valid again`);
    emitEvent(tx, 'org.auth_recovered', { orgUsername: org.username });
  }
}

const announce = (tx: Tx, { id, healthError, healthHint }: CrmOrg, action: string, summary: string): void =>
  tx.audit({
    source: 'crm',
    action: `org.${action}`,
    entityType: 'crm_org',
    entityId: id,
    summary,
    after: { healthError, healthHint },
  });

/**
 * Follows what a minted token shows of an org: a refreshed sandbox has another id, a moved org another address.
 * @param instanceUrl undefined while tokens are for the same address as before.
 */
export async function noteMoved(
  tx: Tx,
  orgId: string,
  { instanceUrl, platformOrgId }: { instanceUrl: string | undefined; platformOrgId: string | null },
): Promise<void> {
  const org = await lockedOrg(tx, orgId);
  if (!org) return;
  const before = { instanceUrl: org.instanceUrl, platformOrgId: org.platformOrgId };
  const after = { instanceUrl: instanceUrl ?? org.instanceUrl, platformOrgId: platformOrgId ?? org.platformOrgId };
  if (before.instanceUrl === after.instanceUrl && before.platformOrgId === after.platformOrgId) return;
  Object.assign(org, after);
  await tx.em.flush();
  // A refreshed sandbox is another org: what the old one lacked, this one may have.
  if (before.platformOrgId !== after.platformOrgId) await forgetPresence(tx, [org.username, org.sandboxName]);
  tx.audit({
    source: 'crm',
    action: 'org.updated',
    entityType: 'crm_org',
    entityId: orgId,
    summary: `Org ${org.username} has another id or address`,
    before,
    after,
  });
}
