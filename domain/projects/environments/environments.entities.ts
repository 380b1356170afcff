import { defineEntity, p } from '@mikro-orm/core';
import type { ApprovalPolicy } from '../policies/approval-policy-rules.ts';
import type { DeploySettings } from '../policies/deploy-settings-rules.ts';
import { jsonColumn } from '../../kernel/data/columns.ts';
import { tenantOwned } from '../../kernel/data/tenant-owned.ts';
import type { VerificationPolicy } from '../policies/verification-policy-rules.ts';
import type { PromotionPolicy } from '../policies/promotion-policy-rules.ts';

export const ENVIRONMENT_CATEGORIES = ['dev', 'test', 'snapshot', 'release'] as const;
export type EnvironmentCategory = (typeof ENVIRONMENT_CATEGORIES)[number];

/** How browsers are allocated at the org of an environment. */
export interface BrowserSettings {
  /** Host names that they may reach beside the org, `*.` at the front for all below. */
  allowedHosts?: string[] | undefined;
  /** Whether sessions are recorded that do not say so themselves; missing: they are. */
  recording?: boolean | undefined;
}

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
    browser: jsonColumn<BrowserSettings>().nullable(),
    verification: jsonColumn<VerificationPolicy>().nullable(),
    deploy: jsonColumn<DeploySettings>().nullable(),
    version: p.integer().version().default(1),
  },
});
export class Environment extends EnvironmentSchema.class {}
EnvironmentSchema.setClass(Environment);
