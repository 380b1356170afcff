import type { SeriesCandidate } from '../release-candidates/candidate-series.queries.ts';
import type { DeploymentStatus } from '../release-candidates/finalization-rules.ts';
import type { Tx } from '../unit-of-work.ts';

type Sql = Pick<Tx, 'sql' | 'tenantId'>;

/** The most candidates of one analysis: the newest. */
export const ANALYSED_MAX = 200;

interface Scope {
  projectId: string;
  domain: string;
  /** Undefined: all branches. */
  branch: string | undefined;
  defaultBranch: string;
}

/** Candidates of a domain that were not aborted, oldest first. */
export const analysedCandidates = (
  { sql, tenantId }: Sql,
  { projectId, domain, branch, defaultBranch }: Scope,
): Promise<SeriesCandidate[]> =>
  sql(
    `select * from (
       select id, domain, release_name as "releaseName", coalesce(branch, ?) as branch, commit_sha as "commitSha", status, value, version, created_at as "createdAt"
       from release_candidate
       where tenant_id = ? and project_id = ? and domain = ? and status <> 'aborted' and (?::text is null or coalesce(branch, ?) = ?)
       order by created_at desc, id desc limit ${ANALYSED_MAX}) newest
     order by "createdAt", id`,
    [defaultBranch, tenantId, projectId, domain, branch ?? null, defaultBranch, branch ?? null],
  );

export interface CandidateDeployment {
  candidateId: string;
  environmentId: string;
  status: DeploymentStatus;
  isRolledBack: boolean;
  deployedAt: string;
}

/** The last deployment of each candidate of a domain to each environment. */
export const candidateDeployments = (
  { sql, tenantId }: Sql,
  candidateIds: readonly string[],
): Promise<CandidateDeployment[]> =>
  sql(
    `select distinct on (candidate_id, environment_id) candidate_id as "candidateId", environment_id as "environmentId", status,
       rolled_back_at is not null as "isRolledBack", deployed_at as "deployedAt"
     from release_deployment
     where tenant_id = ? and candidate_id in (select jsonb_array_elements_text(?::jsonb)::uuid)
     order by candidate_id, environment_id, deployed_at desc, id desc`,
    [tenantId, JSON.stringify(candidateIds)],
  );

/**
 * A digest of all that an analysis is made of: candidates, deployments, environments, the project's settings and the
 * facts of its repository. Another digest, another analysis.
 */
export async function analysisDigest(
  { sql, tenantId }: Sql,
  { projectId, domain, branch, defaultBranch }: Scope,
): Promise<string> {
  const [row] = await sql<{ digest: string }>(
    `select md5(concat_ws('|',
       (select version from project where tenant_id = ? and id = ?),
       (select concat_ws(',', revision, work_items_epoch, fetched_at is null, error) from git_mirror where tenant_id = ? and project_id = ?),
       (select string_agg(concat_ws(',', id, version), ';' order by id) from environment where tenant_id = ? and project_id = ?),
       (select string_agg(concat_ws(',', id, version), ';' order by id) from (
          select id, version from release_candidate
          where tenant_id = ? and project_id = ? and domain = ? and status <> 'aborted' and (?::text is null or coalesce(branch, ?) = ?)
          order by created_at desc, id desc limit ${ANALYSED_MAX}) c),
       (select concat_ws(',', count(*), count(rolled_back_at), max(updated_at)) from release_deployment
        where tenant_id = ? and project_id = ? and domain = ?))) as digest`,
    [
      tenantId,
      projectId,
      tenantId,
      projectId,
      tenantId,
      projectId,
      tenantId,
      projectId,
      domain,
      branch ?? null,
      defaultBranch,
      branch ?? null,
      tenantId,
      projectId,
      domain,
    ],
  );
  return row?.digest ?? '';
}
