import type { Tx } from '../unit-of-work.ts';
import type { DeployedRelease } from './change-summary-rules.ts';

/** The most releases of one summary: the newest. */
export const SERIES_MAX = 2_000;

/** Releases by domain in the order in which they were first deployed; to one environment, or anywhere. */
export const releaseSeries = (
  { sql, tenantId }: Pick<Tx, 'sql' | 'tenantId'>,
  projectId: string,
  { domain, environmentName }: { domain?: string | undefined; environmentName?: string | undefined },
): Promise<DeployedRelease[]> =>
  sql(
    `select domain, "releaseName", packages, deployments from (
       select d.domain, d.release_name as "releaseName", min(d.deployed_at) as first_at,
         (array_agg(d.packages order by d.deployed_at desc, d.id desc))[1] as packages,
         jsonb_agg(jsonb_build_object('environment', e.name, 'category', e.category, 'isRolledBack', d.rolled_back_at is not null,
           'deployedAt', to_char(d.deployed_at at time zone 'utc', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')) order by d.deployed_at, d.id) as deployments
       from release_deployment d join environment e on e.tenant_id = d.tenant_id and e.id = d.environment_id
       where d.tenant_id = ? and d.project_id = ? and d.status = 'Success' and (?::text is null or d.domain = ?) and (?::text is null or e.name = ?)
       group by d.domain, d.release_name order by first_at desc limit ${SERIES_MAX}) newest
     order by domain, first_at, "releaseName"`,
    [tenantId, projectId, domain ?? null, domain ?? null, environmentName ?? null, environmentName ?? null],
  );
