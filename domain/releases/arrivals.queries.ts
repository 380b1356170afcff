import type { Tx } from '../unit-of-work.ts';
import type { Arrival } from './work-item-places-rules.ts';

/** Versions of some packages that were deployed with success and not taken back, with the first deployment of each. */
export const packageArrivals = (
  { sql, tenantId }: Pick<Tx, 'sql' | 'tenantId'>,
  projectId: string,
  packageNames: readonly string[],
): Promise<(Arrival & { environmentId: string })[]> =>
  sql(
    `select distinct on (d.environment_id, w.name, d.packages ->> w.name) d.environment_id as "environmentId", w.name as "packageName",
       d.packages ->> w.name as version, d.release_name as "releaseName",
       to_char(d.deployed_at at time zone 'utc', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as "deployedAt"
     from release_deployment d cross join jsonb_array_elements_text(?::jsonb) as w (name)
     where d.tenant_id = ? and d.project_id = ? and d.status = 'Success' and d.rolled_back_at is null and d.packages ->> w.name is not null
     order by d.environment_id, w.name, d.packages ->> w.name, d.deployed_at, d.id`,
    [JSON.stringify(packageNames), tenantId, projectId],
  );
