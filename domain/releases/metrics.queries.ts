import type { Tx } from '../unit-of-work.ts';

type Sql = Pick<Tx, 'sql' | 'tenantId'>;

export interface MetricsFilter {
  domain?: string | undefined;
  environmentName?: string | undefined;
}

/** A deployment that was not cancelled; moments in milliseconds since the epoch. */
export interface DeploymentFacts {
  domain: string;
  environmentId: string;
  environmentName: string;
  category: string;
  orchestrationOrder: number;
  at: number;
  isSuccess: boolean;
  rolledBackAt: number | null;
  packages: Record<string, string>;
}

const MATCHES = '(?::text is null or d.domain = ?) and (?::text is null or e.name = ?)';
const valuesOf = ({
  domain = null,
  environmentName = null,
}: {
  domain?: string | null | undefined;
  environmentName?: string | null | undefined;
}) => [domain, domain, environmentName, environmentName];

/** Deployments from a moment on, before another, in order. */
export const deploymentFacts = (
  { sql, tenantId }: Sql,
  projectId: string,
  { since, until, limit, ...filter }: MetricsFilter & { since: Date; until: Date; limit: number },
): Promise<DeploymentFacts[]> =>
  sql(
    `select d.domain, d.environment_id as "environmentId", e.name as "environmentName", e.category, e.orchestration_order as "orchestrationOrder",
       (extract(epoch from d.deployed_at) * 1000)::float8 as at, d.status = 'Success' as "isSuccess",
       (extract(epoch from d.rolled_back_at) * 1000)::float8 as "rolledBackAt", d.packages
     from release_deployment d join environment e on e.tenant_id = d.tenant_id and e.id = d.environment_id
     where d.tenant_id = ? and d.project_id = ? and d.status <> 'Cancelled' and d.deployed_at >= ? and d.deployed_at < ? and ${MATCHES}
     order by d.deployed_at, d.id limit ?`,
    [tenantId, projectId, since, until, ...valuesOf(filter), limit],
  );

/** What ran in environments, by domain, before a moment. */
export const installedBefore = (
  { sql, tenantId }: Sql,
  projectId: string,
  { since, ...filter }: MetricsFilter & { since: Date },
): Promise<{ environmentId: string; domain: string; packages: Record<string, string> }[]> =>
  sql(
    `select d.environment_id as "environmentId", d.domain, jsonb_overlaid(d.packages order by d.deployed_at, d.id) as packages
     from release_deployment d join environment e on e.tenant_id = d.tenant_id and e.id = d.environment_id
     where d.tenant_id = ? and d.project_id = ? and d.status = 'Success' and d.rolled_back_at is null and d.deployed_at < ? and ${MATCHES}
     group by d.environment_id, d.domain`,
    [tenantId, projectId, since, ...valuesOf(filter)],
  );
