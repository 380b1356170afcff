import { defineEntity, p } from '@mikro-orm/core';
import type { CrmFailure } from '../crm/crm-platform.port.ts';
import { jsonColumn } from '../../kernel/data/columns.ts';
import { tenantOwned } from '../../kernel/data/tenant-owned.ts';
import type { OrgHealthStatus } from './org-health-rules.ts';
import type { OrgKind } from './org-rules.ts';

/** A registered org of the CRM platform. */
export const CrmOrgSchema = defineEntity({
  name: 'CrmOrg',
  tableName: 'crm_org',
  properties: {
    ...tenantOwned,
    /** Username as the platform writes it; unique in the tenant without regard to case. */
    username: p.text(),
    /** Name of a sandbox whose production org is or was registered; null for other orgs. */
    sandboxName: p.text().nullable(),
    kind: p.text().$type<OrgKind>(),
    /** Origin of the org, without a slash at its end. */
    instanceUrl: p.text(),
    /** The platform's id, 18 characters; a refreshed sandbox has a new one. */
    platformOrgId: p.text(),
    /** `Sandbox`, `Scratch`, else the edition. */
    organizationType: p.text(),
    instanceName: p.text().nullable(),
    parentProductionUsername: p.text().nullable(),
    /** Its credential is obtained through its production org. */
    isJitRegistration: p.boolean().default(false),
    isDevHub: p.boolean().default(false),
    /** At most one of a tenant, and a dev hub. */
    isDefault: p.boolean().default(false),
    metadata: jsonColumn<Record<string, string>>().defaultRaw("'{}'::jsonb"),
    /** When a scratch org or trial expires; null for other orgs. */
    expiresAt: p.datetime(3).nullable(),
    /** When `org.expiring` was announced for `expiresAt`. */
    expiryAnnouncedAt: p.datetime(3).nullable(),
    healthStatus: p.text().$type<OrgHealthStatus>().default('unknown'),
    healthCheckedAt: p.datetime(3).nullable(),
    /** Since when it refuses its credential; null while it does not. */
    refusedAt: p.datetime(3).nullable(),
    /** What the org answered, without secrets. */
    healthError: p.text().nullable(),
    /** What a person can do about it. */
    healthHint: p.text().nullable(),
  },
});
export class CrmOrg extends CrmOrgSchema.class {}
CrmOrgSchema.setClass(CrmOrg);

/** The credential of an org and what was minted with it, by one process at a time. */
export const CrmTokenSchema = defineEntity({
  name: 'CrmToken',
  tableName: 'crm_token',
  properties: {
    ...tenantOwned,
    orgId: p.uuid(),
    /** Empty for the org itself; else, in lower case, the name of a sandbox or the username of a scratch org without a record. */
    reachedName: p.text().default(''),
    /** Encrypted `StoredCredential`; null for a sandbox that no code has been exchanged for. */
    credential: p.text().nullable(),
    /** Counts credentials that people gave; what was learnt of an older one no longer counts. */
    credentialVersion: p.integer().default(1),
    /** Encrypted. */
    accessToken: p.text().nullable(),
    /** Origin that the access token is for. */
    instanceUrl: p.text().nullable(),
    mintedAt: p.datetime(3).nullable(),
    /** Username in a sandbox or scratch org that is not registered; null for a registered org. */
    username: p.text().nullable(),
    platformOrgId: p.text().nullable(),
    /** Counts attempts to mint: whoever waits for one sees by it that the attempt has ended. */
    generation: p.integer().default(0),
    /** Failure of the last attempt; null when it succeeded. */
    failure: jsonColumn<CrmFailure>().nullable(),
    /** Whoever has the lease mints; all others wait for the result. */
    leaseId: p.uuid().nullable(),
    leaseUntil: p.datetime(3).nullable(),
    /** Calls of the last 24 hours, as the org last said. */
    apiCallsUsed: p.integer().nullable(),
    apiCallsMax: p.integer().nullable(),
    apiCallsAt: p.datetime(3).nullable(),
  },
});
