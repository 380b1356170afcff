import type { ExecutorPolicy } from '../policies/executor-policy-rules.ts';
import { defineEntity, p } from '@mikro-orm/core';
import { jsonColumn } from '../../kernel/data/columns.ts';
import type { ApprovalPolicy } from '../policies/approval-policy-rules.ts';
import type { QualityGate } from '../policies/quality-gate-rules.ts';
import type { TestGates } from '../policies/test-gate-rules.ts';
import { tenantOwned } from '../../kernel/data/tenant-owned.ts';

export const PLATFORMS = ['host-a', 'host-b', 'host-c'] as const;
export type Platform = (typeof PLATFORMS)[number];

/** What a project says of itself; a missing member means its default. */
export type ProjectConfiguration = {
  displayName?: string;
  branches?: string[];
  /** A plain name, or a name with the packages that belong to the domain. */
  domains?: (string | { name: string; packages?: string[] })[];
  /** Package name to path, for a repository without a manifest that lists its packages. */
  packagePaths?: Record<string, string>;
  devHubs?: string[];
  /** Finalizes a candidate when it is deployed to all environments of category `release`. */
  autoReleaseFinalization?: boolean;
  /** Who finalizes candidates besides that; missing: anyone. */
  manualFinalization?: 'anyone' | 'owner' | 'never';
  /**
   * Policy of runs whose environment has none, or is not known; missing: the owners approve those whose environment is not
   * known.
   */
  approvalPolicy?: ApprovalPolicy;
  /** What executes runs, by type, where their payloads do not say. */
  executors?: ExecutorPolicy;
  /** The pipeline of the git host that builds a commit. */
  buildPipeline?: { id: string; inputs?: Record<string, string>; timeoutMinutes?: number };
  /** The pipeline of the git host that analyses a commit and publishes the results. */
  analysisPipeline?: { id: string; inputs?: Record<string, string>; timeoutMinutes?: number };
  /** The pipeline of the git host that runs browser sessions, instead of the service. */
  recordPipeline?: { id: string; inputs?: Record<string, string>; timeoutMinutes?: number };
  /** What the results of code analyses must keep to. */
  qualityGate?: QualityGate;
  /** What runs of Apex tests must come to, where their payloads do not say. */
  apexTests?: TestGates;
  cascade?: { from: string; to: string }[];
  workItems?: {
    provider?: string;
    boards?: string[];
    workItemFilters?: string[];
    baseUrl?: string;
    /** Type of the work items that are created; missing: `Task`. */
    issueType?: string;
    /** Closes the work item of a request after its run succeeded; missing: true. */
    closeOnCompletion?: boolean;
  };
  metricsAlertConfig?: Record<string, unknown>;
  /** Candidate statuses of the project's own, beside the four built-in ones. */
  customReleaseStatuses?: string[];
  /** Patterns of the collections of documents that belong to it, besides those named for it. */
  documentCollections?: string[];
};

export const ProjectSchema = defineEntity({
  name: 'Project',
  tableName: 'project',
  properties: {
    ...tenantOwned,
    identifier: p.text(),
    remoteUrl: p.text().nullable(),
    platform: p.text().$type<Platform>(),
    defaultBranch: p.text(),
    configuration: jsonColumn<ProjectConfiguration & Record<string, unknown>>().defaultRaw("'{}'::jsonb"),
    version: p.integer().version().default(1),
  },
});
export class Project extends ProjectSchema.class {}
ProjectSchema.setClass(Project);
