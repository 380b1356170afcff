import { defineEntity, p } from '@mikro-orm/core';
import type { ApprovalPolicy } from '../approvals/policy-rules.ts';
import { jsonColumn } from '../data/columns.ts';
import { tenantOwned } from '../data/tenant-owned.ts';
import type { PromotionPolicy } from '../promotion/promotion-policy-rules.ts';

export const ENVIRONMENT_CATEGORIES = ['dev', 'test', 'snapshot', 'release'] as const;
export type EnvironmentCategory = (typeof ENVIRONMENT_CATEGORIES)[number];

export const EnvironmentSchema = defineEntity({
  name: 'Environment',
  tableName: 'environment',
  properties: {
    ...tenantOwned,
    projectId: p.uuid(),
    name: p.text(),
    description: p.text().default(''),
    category: p.text().$type<EnvironmentCategory>(),
    orgUsername: p.text().nullable(),
    devHubUsername: p.text().nullable(),
    /** Pattern of the branches that are deployed there. */
    branch: p.text().default('**'),
    /** Place in the order in which releases travel. */
    orchestrationOrder: p.integer().default(0),
    isActive: p.boolean().default(true),
    tags: jsonColumn<string[]>().defaultRaw("'[]'::jsonb"),
    metadata: jsonColumn<Record<string, unknown>>().defaultRaw("'{}'::jsonb"),
    approvalPolicy: jsonColumn<ApprovalPolicy>().nullable(),
    promotion: jsonColumn<PromotionPolicy>().nullable(),
    version: p.integer().version().default(1),
  },
});
export class Environment extends EnvironmentSchema.class {}
EnvironmentSchema.setClass(Environment);
