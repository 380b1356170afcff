import { defineEntity, p } from '@mikro-orm/core';
import { jsonColumn } from '../../kernel/data/columns.ts';
import type { BuildReports, BuildState, CiInfo } from './build-state-rules.ts';
import type { ImpactedDomain } from './impact.ts';

export const BuildPreviewSchema = defineEntity({
  name: 'BuildPreview',
  tableName: 'build_preview',
  properties: {
    tenantId: p.uuid().primary(),
    projectId: p.uuid().primary(),
    previewKey: p.text().primary(),
    branch: p.text(),
    commitSha: p.text(),
    /** The commit against which the impact was computed; null: from the beginning, or not computed here. */
    baseSha: p.text().nullable(),
    forcedDomains: jsonColumn<string[]>().defaultRaw("'[]'::jsonb"),
    forcedPackages: jsonColumn<string[]>().defaultRaw("'[]'::jsonb"),
    /** Counts the computations. */
    generation: p.integer().default(1),
    status: p.text().$type<'pending' | 'available' | 'error'>().default('pending'),
    impactedDomains: jsonColumn<ImpactedDomain[]>().defaultRaw("'[]'::jsonb"),
    message: p.text().nullable(),
    requestedAt: p.datetime(6).defaultRaw('now()'),
    computedAt: p.datetime(3).nullable(),
  },
});
export class BuildPreview extends BuildPreviewSchema.class {}
BuildPreviewSchema.setClass(BuildPreview);

export const BuildStatusSchema = defineEntity({
  name: 'BuildStatus',
  tableName: 'build_status',
  properties: {
    tenantId: p.uuid().primary(),
    projectId: p.uuid().primary(),
    commitSha: p.text().primary(),
    branch: p.text().nullable(),
    commitMessage: p.text().nullable(),
    commitAuthor: p.text().nullable(),
    commitDate: p.datetime(3),
    ciInfo: jsonColumn<CiInfo>().nullable(),
    workflowStatus: jsonColumn<BuildReports>().defaultRaw("'{}'::jsonb"),
    /** State of all builds of the commit together. */
    state: p.text().$type<BuildState>().default('pending'),
    firstSeenAt: p.datetime(3).defaultRaw('now()'),
    lastUpdatedAt: p.datetime(3).defaultRaw('now()'),
  },
});
export class BuildStatus extends BuildStatusSchema.class {}
BuildStatusSchema.setClass(BuildStatus);

export const HookDeliverySchema = defineEntity({
  name: 'HookDelivery',
  tableName: 'hook_delivery',
  properties: {
    tenantId: p.uuid().primary(),
    projectId: p.uuid().primary(),
    deliveryId: p.text().primary(),
    /** Recognises a replay under another delivery id. */
    bodyDigest: p.text(),
    receivedAt: p.datetime(3).defaultRaw('now()'),
  },
});
export class HookDelivery extends HookDeliverySchema.class {}
HookDeliverySchema.setClass(HookDelivery);

export const HookSecretSchema = defineEntity({
  name: 'HookSecret',
  tableName: 'hook_secret',
  properties: {
    tenantId: p.uuid().primary(),
    projectId: p.uuid().primary(),
    /** Encrypted, as `previousSecret` is. */
    secret: p.text(),
    createdBy: p.text(),
    createdAt: p.datetime(3).defaultRaw('now()'),
    previousSecret: p.text().nullable(),
    previousUntil: p.datetime(3).nullable(),
  },
});
export class HookSecret extends HookSecretSchema.class {}
HookSecretSchema.setClass(HookSecret);
