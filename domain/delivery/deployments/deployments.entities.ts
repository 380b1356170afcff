import { defineEntity, p } from '@mikro-orm/core';
import { jsonColumn } from '../../kernel/data/columns.ts';
import { tenantOwned } from '../../kernel/data/tenant-owned.ts';
import type { ReleaseDefinition } from '../release-candidates/comparison-rules.ts';
import type { PolicyViolation } from '../../projects/policies/policy-violation-rules.ts';
import type { DeploymentStatus, EventOutcome } from '../release-candidates/finalization-rules.ts';
import type { Rollback } from '../releases/rollbacks/rollback-rules.ts';
import type { Actor } from '../../kernel/shared/actor.ts';
import type { Packages } from './report-rules.ts';

export interface PackageDetail {
  name: string;
  version?: string | undefined;
  status?: string | undefined;
  skipped?: boolean | undefined;
  /** ISO 8601. */
  startTime?: string | undefined;
  endTime?: string | undefined;
  [more: string]: unknown;
}

export const ReleaseDeploymentSchema = defineEntity({
  name: 'ReleaseDeployment',
  tableName: 'release_deployment',
  properties: {
    ...tenantOwned,
    projectId: p.uuid(),
    environmentId: p.uuid(),
    /** Null once the candidate was deleted. */
    candidateId: p.uuid().nullable(),
    domain: p.text(),
    releaseName: p.text(),
    status: p.text().$type<DeploymentStatus>(),
    deployedAt: p.datetime(3),
    /** Two reports of a release and environment with the same key are one. */
    dedupeKey: p.text(),
    executionId: p.text().nullable(),
    packages: jsonColumn<Record<string, string>>().defaultRaw("'{}'::jsonb"),
    packageDetails: jsonColumn<PackageDetail[]>().defaultRaw("'[]'::jsonb"),
    releaseDefinition: jsonColumn<ReleaseDefinition & Record<string, unknown>>().nullable(),
    metadata: jsonColumn<Record<string, unknown>>().nullable(),
    approval: jsonColumn<Record<string, unknown>>().nullable(),
    /** What of the policies of its environment it broke, as they were when it was reported. */
    policyViolations: jsonColumn<PolicyViolation[]>().defaultRaw("'[]'::jsonb"),
    rolledBackAt: p.datetime(3).nullable(),
    /** Who took it back, as it was reported; null also where that is not known. */
    rolledBackBy: p.text().nullable(),
    reportedBy: jsonColumn<Omit<Actor, 'projectIds' | 'collections' | 'sessionId'>>(),
    requestId: p.text().nullable(),
    traceparent: p.text().nullable(),
    /** When the event had its effect on the candidate; null: it is still to be applied. */
    appliedAt: p.datetime(3).nullable(),
    outcome: jsonColumn<EventOutcome>().nullable(),
    rollback: jsonColumn<Rollback>().nullable(),
    /** Digest of the content that was deployed, as the candidate had it then; null only until a trigger sets it. */
    contentDigest: p.text().nullable(),
    /** The commit of that content; null: it is not known. A trigger sets it. */
    commitSha: p.text().nullable(),
    /** What the report installed: package name to version. */
    installed: jsonColumn<Packages>().defaultRaw("'{}'::jsonb"),
    /** It installed all packages of that content. */
    installsAll: p.boolean().default(false),
  },
});
