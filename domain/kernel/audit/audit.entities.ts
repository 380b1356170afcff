import { defineEntity, p } from '@mikro-orm/core';
import { jsonColumn } from '../data/columns.ts';
import { tenantOwned } from '../data/tenant-owned.ts';
import type { StoredFilter } from './audit-filter.ts';
import type { AuditSource, AuditEntry as AuditEntryFields } from './audit-rules.ts';
import type { ExportStatus } from './export-rules.ts';

export const AuditEntrySchema = defineEntity({
  name: 'AuditEntry',
  tableName: 'audit_entry',
  properties: {
    tenantId: p.uuid().primary(),
    sequence: p.bigint('string').primary(),
    id: p.uuid(),
    occurredAt: p.datetime(3),
    source: p.text().$type<AuditSource>(),
    action: p.text(),
    actor: jsonColumn<AuditEntryFields['actor']>(),
    repositoryIdentifier: p.text().nullable(),
    entityType: p.text(),
    entityId: p.text().nullable(),
    summary: p.text(),
    before: jsonColumn<unknown>().nullable(),
    after: jsonColumn<unknown>().nullable(),
    requestId: p.text().nullable(),
    prevHash: p.text(),
    hash: p.text(),
    actorEmail: p.text().generated("((actor ->> 'email'::text)) stored"),
    actorId: p.text().generated("((actor ->> 'id'::text)) stored"),
  },
});
export class AuditEntry extends AuditEntrySchema.class {}
AuditEntrySchema.setClass(AuditEntry);

export const AuditExportSchema = defineEntity({
  name: 'AuditExport',
  tableName: 'audit_export',
  properties: {
    ...tenantOwned,
    status: p.text().$type<ExportStatus>().default('queued'),
    filters: jsonColumn<StoredFilter>(),
    requestedBy: p.text(),
    requestedAt: p.datetime(3).defaultRaw('now()'),
    upperSequence: p.bigint('string'),
    objectKey: p.text().nullable(),
    fileName: p.text().nullable(),
    rowCount: p.bigint('string').nullable(),
    fileSizeBytes: p.bigint('string').nullable(),
    sha256: p.text().nullable(),
    error: p.text().nullable(),
    completedAt: p.datetime(3).nullable(),
    expiresAt: p.datetime(3),
  },
});
export class AuditExport extends AuditExportSchema.class {}
AuditExportSchema.setClass(AuditExport);

export const AuditHeadSchema = defineEntity({
  name: 'AuditHead',
  tableName: 'audit_head',
  properties: {
    tenantId: p.uuid().primary(),
    sequence: p.bigint('string'),
    hash: p.text(),
  },
});

export const AuditTallySchema = defineEntity({
  name: 'AuditTally',
  tableName: 'audit_tally',
  properties: {
    tenantId: p.uuid().primary(),
    facet: p.text().primary(),
    value: p.text().primary(),
    hour: p.datetime(6).primary(),
    entries: p.bigint('string'),
  },
});
