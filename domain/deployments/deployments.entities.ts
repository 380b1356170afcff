import { defineEntity, p } from '@mikro-orm/core';
import { jsonColumn } from '../data/columns.ts';
import { tenantOwned } from '../data/tenant-owned.ts';
import type { DeploymentStatus, EventOutcome } from '../release-candidates/finalization-rules.ts';
import type { Rollback } from '../releases/rollback-rules.ts';
import type { Actor } from '../shared/actor.ts';
import type { PackageDetail } from './deployments.queries.ts';

export const ReleaseDeploymentSchema = defineEntity({
  name: 'ReleaseDeployment',
  tableName: 'release_deployment',
  properties: {
    ...tenantOwned,
    projectId: p.uuid(),
    environmentId: p.uuid(),
    candidateId: p.uuid().nullable(),
    domain: p.text(),
    releaseName: p.text(),
    status: p.text().$type<DeploymentStatus>(),
    deployedAt: p.datetime(3),
    dedupeKey: p.text(),
    executionId: p.text().nullable(),
    packages: jsonColumn<Record<string, string>>().defaultRaw("'{}'::jsonb"),
    packageDetails: jsonColumn<PackageDetail[]>().defaultRaw("'[]'::jsonb"),
    releaseDefinition: jsonColumn<unknown>().nullable(),
    metadata: jsonColumn<unknown>().nullable(),
    approval: jsonColumn<unknown>().nullable(),
    rolledBackAt: p.datetime(3).nullable(),
    reportedBy: jsonColumn<Actor>(),
    requestId: p.text().nullable(),
    traceparent: p.text().nullable(),
    appliedAt: p.datetime(3).nullable(),
    outcome: jsonColumn<EventOutcome>().nullable(),
    rollback: jsonColumn<Rollback>().nullable(),
  },
});
export class ReleaseDeployment extends ReleaseDeploymentSchema.class {}
ReleaseDeploymentSchema.setClass(ReleaseDeployment);
