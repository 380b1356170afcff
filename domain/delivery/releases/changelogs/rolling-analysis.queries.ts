import { sql } from 'kysely';
import type { Reads } from '../../../kernel/data/fenced-reads.ts';

/** The most candidates of one analysis: the newest. */
export const ANALYSED_MAX = 200;

/** The candidates of an analysis. */
export interface AnalysisScope {
  projectId: string;
  domain: string;
  /** Undefined: all branches. */
  branch: string | undefined;
  defaultBranch: string;
}

/**
 * A digest of all that an analysis is made of: candidates, deployments, environments, the project's settings and the
 * facts of its repository. Another digest, another analysis.
 */
export async function analysisDigest(
  { db, tenantId }: Reads,
  { projectId, domain, branch, defaultBranch }: AnalysisScope,
): Promise<string> {
  const ofProject = sql`tenant_id = ${tenantId} and project_id = ${projectId}`;
  const ofBranch = branch === undefined ? sql`` : sql`and coalesce(branch, ${defaultBranch}) = ${branch}`;
  const { rows } = await sql<{ digest: string }>`
    select md5(concat_ws('|',
      (select version from project where tenant_id = ${tenantId} and id = ${projectId}),
      (select concat_ws(',', revision, work_items_epoch, fetched_at is null, error, requested_at > attempted_at or completed_at < attempted_at)
        from git_mirror where ${ofProject}),
      (select string_agg(concat_ws(',', id, version), ';' order by id) from environment where ${ofProject}),
      (select string_agg(concat_ws(',', id, version), ';' order by id) from (
        select id, version from release_candidate
        where ${ofProject} and domain = ${domain} and status <> 'aborted' ${ofBranch}
        order by created_at desc, id desc limit ${sql.lit(ANALYSED_MAX)}) c),
      (select concat_ws(',', count(*), count(rolled_back_at), max(updated_at)) from release_deployment
        where ${ofProject}))) as digest`.execute(db);
  return rows[0]?.digest ?? '';
}
