import { sql } from 'kysely';
import { secondsAgo } from '../../kernel/data/conditions.ts';
import type { Database } from '../../kernel/data/tables.ts';
import type { TenantKey } from '../../kernel/shared/actor.ts';
import { tenantSlugOf } from '../../kernel/tenants/tenants.queries.ts';

export interface OverdueDomain extends TenantKey {
  projectId: string;
  repositoryIdentifier: string;
  domain: string;
  /** In the order in which they were reported. */
  eventIds: string[];
}

/** Domains with release events that were stored so long ago and not applied, each with its first `most` of them. */
export const overdueDomains = (
  system: Database,
  overdueSeconds: number,
  most: number,
  limit: number,
): Promise<OverdueDomain[]> =>
  system
    .selectFrom('release_deployment as d')
    .innerJoin('project as p', (join) => join.onRef('p.tenantId', '=', 'd.tenantId').onRef('p.id', '=', 'd.projectId'))
    .select([
      'd.tenantId',
      tenantSlugOf('d.tenantId'),
      'd.projectId',
      'p.identifier as repositoryIdentifier',
      'd.domain',
      sql<string[]>`(array_agg(d.id order by d.created_at, d.id))[1:${most}]`.as('eventIds'),
    ])
    .where('d.appliedAt', 'is', null)
    .where('d.createdAt', '<', secondsAgo(overdueSeconds))
    .groupBy(['d.tenantId', 'd.projectId', 'p.identifier', 'd.domain'])
    .orderBy((eb) => eb.fn.min('d.createdAt'))
    .limit(limit)
    .execute();
