import { defineEntity, p } from '@mikro-orm/core';
import { jsonColumn } from '../../kernel/data/columns.ts';
import { tenantOwned } from '../../kernel/data/tenant-owned.ts';
import type { InstanceState, OnRelease, PoolType } from './instance-rules.ts';

/** Orgs of a project that are handed out for reviews, one after another. */
export const ReviewPoolSchema = defineEntity({
  name: 'ReviewPool',
  tableName: 'review_pool',
  properties: {
    ...tenantOwned,
    projectId: p.uuid(),
    /** Unique in the project, and never changed. */
    tag: p.text(),
    type: p.text().$type<PoolType>(),
    minAvailable: p.integer(),
    maxInstances: p.integer(),
    leaseHours: p.integer(),
    maxLeaseHours: p.integer(),
    onRelease: p.text().$type<OnRelease>(),
    /** For the builder; the service reads `pipeline` alone. */
    definition: jsonColumn<Record<string, unknown>>().defaultRaw("'{}'::jsonb"),
    isActive: p.boolean().default(true),
    version: p.integer().version().default(1),
    createdBy: p.text(),
    updatedBy: p.text(),
    /** The run that prepares orgs now. */
    prepareRunId: p.uuid().nullable(),
    prepareStartedAt: p.datetime(3).nullable(),
    /** In a row. */
    prepareFailures: p.integer().default(0),
    /** Why the last of them failed; null once one has succeeded. */
    prepareError: p.text().nullable(),
    /** After a failure: when the next run may begin. */
    prepareDueAt: p.datetime(3).nullable(),
    /** When `review_pool.low` was announced; null once there are enough orgs. */
    lowAnnouncedAt: p.datetime(3).nullable(),
    /** When its workflow last saw it. */
    checkedAt: p.datetime(3).nullable(),
  },
});
export class ReviewPool extends ReviewPoolSchema.class {}
ReviewPoolSchema.setClass(ReviewPool);

/** One org of a pool. */
export const ReviewInstanceSchema = defineEntity({
  name: 'ReviewInstance',
  tableName: 'review_instance',
  properties: {
    ...tenantOwned,
    projectId: p.uuid(),
    poolId: p.uuid(),
    /** Username in the org; without regard to case, one live instance of the tenant has it. */
    username: p.text(),
    instanceUrl: p.text().nullable(),
    /** Encrypted. */
    cliAuthUrl: p.text().nullable(),
    /** When the org itself ends. */
    expiresAt: p.datetime(3).nullable(),
    metadata: jsonColumn<Record<string, unknown>>().defaultRaw("'{}'::jsonb"),
    state: p.text().$type<InstanceState>(),
    /** Why it came into this state. */
    reason: p.text().nullable(),
    stateChangedAt: p.datetime(3).defaultRaw('now()'),
    /** The run that registered it, or was the last to make it available. */
    preparedBy: p.uuid().nullable(),
  },
});
export class ReviewInstance extends ReviewInstanceSchema.class {}
ReviewInstanceSchema.setClass(ReviewInstance);
