import { defineEntity, p } from '@mikro-orm/core';
import { jsonColumn } from '../../kernel/data/columns.ts';
import { tenantOwned } from '../../kernel/data/tenant-owned.ts';
import type { ReviewTargetType } from '../review-rules/review-rules.entities.ts';
import type { Actor } from '../../kernel/shared/actor.ts';
import type { AssignmentState, AssignmentType } from './assignment-rules.ts';

/** What a pull request, an issue, a person or anything else got for its review, or waits for. */
export const ReviewAssignmentSchema = defineEntity({
  name: 'ReviewAssignment',
  tableName: 'review_assignment',
  properties: {
    ...tenantOwned,
    projectId: p.uuid(),
    /** The order in which they are served. */
    number: p.bigint('string').generated('identity').autoincrement(),
    assignmentType: p.text().$type<AssignmentType>(),
    /**
     * Number of the pull request or issue, e-mail of the person in lower case, or a key of their own. A project has one open
     * assignment of a type and key at most.
     */
    assignmentKey: p.text(),
    branch: p.text().nullable(),
    domains: jsonColumn<string[]>().defaultRaw("'[]'::jsonb"),
    targetType: p.text().$type<ReviewTargetType>(),
    /** Tag of the pool, or name of the environment, when it was requested. */
    targetName: p.text(),
    poolId: p.uuid().nullable(),
    environmentId: p.uuid().nullable(),
    /** Rule by which the target was found. */
    ruleId: p.uuid().nullable(),
    /** Hours of the lease as requested; null: those of the pool. */
    expirationHours: p.integer().nullable(),
    isImmortal: p.boolean().default(false),
    state: p.text().$type<AssignmentState>().default('pending'),
    instanceId: p.uuid().nullable(),
    orgUsername: p.text().nullable(),
    /** When the org itself ends. */
    orgExpiresAt: p.datetime(3).nullable(),
    assignedAt: p.datetime(3).nullable(),
    /** End of the lease; null: it has none. */
    expiresAt: p.datetime(3).nullable(),
    /** When the end of this lease was announced. */
    warnedAt: p.datetime(3).nullable(),
    endedAt: p.datetime(3).nullable(),
    reason: p.text().nullable(),
    requestedBy: jsonColumn<Actor>(),
    /** When its workflow last saw it. */
    seenAt: p.datetime(3).nullable(),
  },
});
export class ReviewAssignment extends ReviewAssignmentSchema.class {}
ReviewAssignmentSchema.setClass(ReviewAssignment);
