import { defineEntity, p } from '@mikro-orm/core';
import { tenantOwned } from '../shared/tenant-owned.ts';

export const ENVIRONMENT_CATEGORIES = ['dev', 'test', 'snapshot', 'release'] as const;
export type EnvironmentCategory = (typeof ENVIRONMENT_CATEGORIES)[number];

/** Who may approve a deployment to an environment, and how many of them are needed. */
export interface ApprovalPolicy {
  skipApproval?: boolean;
  /** E-mails and team slugs; none: the tenant's owners. */
  approvers?: string[];
  minApprovals?: number;
  allowSelfApproval?: boolean;
  /** ISO 8601 duration. */
  expiresAfter?: string;
}

const EnvironmentSchema = defineEntity({
  name: 'Environment',
  tableName: 'environment',
  properties: {
    ...tenantOwned,
    projectId: p.uuid(),
    name: p.string(),
    description: p.text().default(''),
    category: p.enum([...ENVIRONMENT_CATEGORIES]).$type<EnvironmentCategory>(),
    orgUsername: p.string().nullable(),
    devHubUsername: p.string().nullable(),
    /** Pattern of the branches that are deployed here: `*` within a segment, `**` across. */
    branch: p.string().default('**'),
    orchestrationOrder: p.integer().default(0),
    isActive: p.boolean().default(true),
    tags: p.json<string[]>(),
    metadata: p.json<Record<string, unknown>>(),
    approvalPolicy: p.json<ApprovalPolicy>().nullable(),
    version: p.integer().version(),
  },
});
export class Environment extends EnvironmentSchema.class {}
EnvironmentSchema.setClass(Environment);

export const environmentEntities = [EnvironmentSchema];
