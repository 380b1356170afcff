import { defineEntity, p } from '@mikro-orm/core';
import { jsonColumn } from '../../kernel/data/columns.ts';
import { tenantOwned } from '../../kernel/data/tenant-owned.ts';

export const REVIEW_TARGET_TYPES = ['pool', 'environment'] as const;
export type ReviewTargetType = (typeof REVIEW_TARGET_TYPES)[number];

/** Where the branches and domains that match go: to a pool of review orgs, or to a dedicated environment. */
export const ReviewRuleSchema = defineEntity({
  name: 'ReviewRule',
  tableName: 'review_rule',
  properties: {
    ...tenantOwned,
    projectId: p.uuid(),
    targetType: p.text().$type<ReviewTargetType>(),
    poolId: p.uuid().nullable(),
    environmentId: p.uuid().nullable(),
    branchPattern: p.text(),
    /** Sorted, each once; none: any domain. */
    domainPatterns: jsonColumn<string[]>().defaultRaw("'[]'::jsonb"),
    priority: p.integer().default(0),
    description: p.text().default(''),
    isActive: p.boolean().default(true),
    version: p.integer().version().default(1),
    createdBy: p.text(),
    updatedBy: p.text(),
    /** Digest of the patterns and the target: no two rules of a project have the same. */
    likeness: p.text(),
  },
});
export class ReviewRule extends ReviewRuleSchema.class {}
ReviewRuleSchema.setClass(ReviewRule);
