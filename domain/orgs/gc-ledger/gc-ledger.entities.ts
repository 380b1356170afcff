import { defineEntity, p } from '@mikro-orm/core';
import { jsonColumn } from '../../kernel/data/columns.ts';
import { tenantOwned } from '../../kernel/data/tenant-owned.ts';
import type { GcStatus, Presence } from './gc-ledger-rules.ts';

export const GcEntrySchema = defineEntity({
  name: 'GcEntry',
  tableName: 'gc_entry',
  properties: {
    tenantId: p.uuid().primary(),
    id: p.uuid().primary(),
    projectId: p.uuid(),
    branch: p.text(),
    /** The package that dropped the component. */
    packageName: p.text(),
    componentType: p.text(),
    fullName: p.text(),
    status: p.text().$type<GcStatus>(),
    /** The package of the same branch that has the component now. */
    movedTo: p.text().nullable(),
    /** The project that has it, in status `owned-elsewhere`. */
    ownerProjectId: p.uuid().nullable(),
    /** The last new detection. */
    detectedAt: p.datetime(3).nullable(),
    /** What orgs said before does not count. */
    evidenceSince: p.datetime(3),
    lastEventAt: p.datetime(3),
    createdAt: p.datetime(3),
    updatedAt: p.datetime(3),
  },
});

/** What changed an entry: an event of a pipeline, the manifests of the branch, a check of orgs, or a person. */
export const GC_CAUSES = ['event', 'manifest', 'org_check', 'person'] as const;
export type GcCause = (typeof GC_CAUSES)[number];

export const GcEventSchema = defineEntity({
  name: 'GcEvent',
  tableName: 'gc_event',
  properties: {
    tenantId: p.uuid().primary(),
    entryId: p.uuid().primary(),
    number: p.bigint('string').generated('identity').autoincrement().primary(),
    projectId: p.uuid(),
    occurredAt: p.datetime(3),
    /** Null: the entry was new. */
    fromStatus: p.text().$type<GcStatus>().nullable(),
    toStatus: p.text().$type<GcStatus>(),
    cause: p.text().$type<GcCause>(),
    movedTo: p.text().nullable(),
    /** Environment whose org was checked. */
    environment: p.text().nullable(),
    reason: p.text().nullable(),
    changedBy: p.text(),
  },
});

export const GcPresenceSchema = defineEntity({
  name: 'GcPresence',
  tableName: 'gc_presence',
  properties: {
    tenantId: p.uuid().primary(),
    entryId: p.uuid().primary(),
    environmentId: p.uuid().primary(),
    projectId: p.uuid(),
    presence: p.text().$type<Presence>(),
    /** The org that the environment named when it was asked, in lower case: what it said counts for no other one. */
    orgUsername: p.text(),
    checkedAt: p.datetime(3),
  },
});

/** Numbers of entries, kept by triggers. */
export const GcTallySchema = defineEntity({
  name: 'GcTally',
  tableName: 'gc_tally',
  properties: {
    tenantId: p.uuid().primary(),
    projectId: p.uuid().primary(),
    branch: p.text().primary(),
    packageName: p.text().primary(),
    status: p.text().$type<GcStatus>().primary(),
    entries: p.bigint('string'),
  },
});

export const GC_CHECK_STATUSES = ['queued', 'running', 'completed', 'failed'] as const;
export type GcCheckStatus = (typeof GC_CHECK_STATUSES)[number];

/** What a check found in the org of one environment, in entries of the ledger. */
export interface GcCheckedEnvironment {
  environment: string;
  present: number;
  absent: number;
  unknown: number;
  /** Why entries are unknown: what the org answered; null when all could be asked. */
  error: string | null;
}

export const GcCheckSchema = defineEntity({
  name: 'GcCheck',
  tableName: 'gc_check',
  properties: {
    ...tenantOwned,
    projectId: p.uuid(),
    branch: p.text(),
    status: p.text().$type<GcCheckStatus>().default('queued'),
    requestedBy: p.text(),
    environments: jsonColumn<GcCheckedEnvironment[]>().defaultRaw("'[]'::jsonb"),
    error: p.text().nullable(),
    endedAt: p.datetime(3).nullable(),
  },
});
export class GcCheck extends GcCheckSchema.class {}
GcCheckSchema.setClass(GcCheck);
