import { sql } from 'kysely';
import type { Reads } from '../data/fenced-reads.ts';

export interface MetricsFilter {
  domain?: string | undefined;
  environmentName?: string | undefined;
}

/** Deployments of a project with their environments. */
function deploymentsOf({ db, tenantId }: Reads, projectId: string, { domain, environmentName }: MetricsFilter) {
  let deployments = db
    .selectFrom('release_deployment as d')
    .innerJoin('environment as e', (join) =>
      join.onRef('e.tenantId', '=', 'd.tenantId').onRef('e.id', '=', 'd.environmentId'),
    )
    .where('d.tenantId', '=', tenantId)
    .where('d.projectId', '=', projectId);
  if (domain !== undefined) deployments = deployments.where('d.domain', '=', domain);
  if (environmentName !== undefined) deployments = deployments.where('e.name', '=', environmentName);
  return deployments;
}

/** A deployment that was not cancelled; moments in milliseconds since the epoch. */
export type DeploymentFacts = Awaited<ReturnType<typeof deploymentFacts>>[number];

/** Deployments from a moment on, before another, in order. */
export const deploymentFacts = (
  reads: Reads,
  projectId: string,
  { since, until, limit, ...filter }: MetricsFilter & { since: Date; until: Date; limit: number },
) =>
  deploymentsOf(reads, projectId, filter)
    .where('d.status', '<>', 'Cancelled')
    .where('d.deployedAt', '>=', since.toISOString())
    .where('d.deployedAt', '<', until.toISOString())
    .orderBy('d.deployedAt')
    .orderBy('d.id')
    .limit(limit)
    .select([
      'd.domain',
      'd.environmentId',
      'e.name as environmentName',
      'e.category',
      'e.orchestrationOrder',
      sql<number>`(extract(epoch from d.deployed_at) * 1000)::float8`.as('at'),
      sql<boolean>`d.status = 'Success'`.as('isSuccess'),
      sql<number | null>`(extract(epoch from d.rolled_back_at) * 1000)::float8`.as('rolledBackAt'),
      'd.packages',
    ])
    .execute();

/** What ran in environments, by domain, before a moment. */
export const installedBefore = (
  reads: Reads,
  projectId: string,
  { since, ...filter }: MetricsFilter & { since: Date },
) =>
  deploymentsOf(reads, projectId, filter)
    .where('d.status', '=', 'Success')
    .where('d.rolledBackAt', 'is', null)
    .where('d.deployedAt', '<', since.toISOString())
    .groupBy(['d.environmentId', 'd.domain'])
    .select([
      'd.environmentId',
      'd.domain',
      sql<Record<string, string>>`jsonb_overlaid(d.packages order by d.deployed_at, d.id)`.as('packages'),
    ])
    .execute();
