import { sql } from 'kysely';
import type { Reads } from '../../kernel/data/fenced-reads.ts';
import { INSTALLING_STATUSES } from '../../delivery/deployments/deployments.queries.ts';

export interface VersionLeadTime {
  deploymentId: string;
  /** From the commit to the deployment. */
  leadMs: number;
}

/** Deployments `b` that had installed something where `d` was made, and were not taken back until then. */
const BEFORE = sql`
  b.tenant_id = d.tenant_id and b.environment_id = d.environment_id and b.domain = d.domain and b.status in ${INSTALLING_STATUSES}
    and (b.deployed_at, b.created_at, b.id) < (d.deployed_at, d.created_at, d.id)
    and (b.rolled_back_at is null or b.rolled_back_at > d.deployed_at)`;

/**
 * Lead times of the package versions that deployments brought: of those that did not run before, of the same domain in the same
 * environment. Versions whose commit is not known have none, nor has the first deployment there.
 */
export async function versionLeadTimes(
  { db, tenantId }: Reads,
  deploymentIds: readonly string[],
): Promise<VersionLeadTime[]> {
  const { rows } = await sql<VersionLeadTime>`
    select d.id as "deploymentId", (extract(epoch from d.deployed_at - c.committed_at) * 1000)::float8 as "leadMs"
    from release_deployment d
    cross join lateral jsonb_each_text(d.installed) i (name, version)
    join package_version v on v.tenant_id = d.tenant_id and v.project_id = d.project_id
      and v.name = i.name and v.version = i.version
    join git_commit c on c.tenant_id = v.tenant_id and c.project_id = v.project_id and c.sha = v.commit_sha
    where d.tenant_id = ${tenantId} and d.id = any (${deploymentIds}::uuid[]) and c.committed_at <= d.deployed_at
      and exists (select from release_deployment b where ${BEFORE})
      and i.version is distinct from (
        select b.installed ->> i.name from release_deployment b where ${BEFORE} and jsonb_exists(b.installed, i.name)
        order by b.deployed_at desc, b.created_at desc, b.id desc limit 1)`.execute(db);
  return rows;
}
