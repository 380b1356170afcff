import { acceptRun, type AcceptedRun } from '../flows/accept-run.ts';
import { isFinal, isSuccess, type RunStatus } from '../flows/run-status-rules.ts';
import type { ProjectFacts } from '../projects/projects.queries.ts';
import type { Tx } from '../unit-of-work.ts';

export interface BuildRun {
  executionId: string;
  status: RunStatus;
}

/** The run that builds, or built, a commit as a whole: the newest that has not failed. */
export async function existingBuild(
  { sql, tenantId }: Pick<Tx, 'sql' | 'tenantId'>,
  projectId: string,
  sha: string,
): Promise<BuildRun | undefined> {
  const runs = await sql<BuildRun>(
    `select id as "executionId", status from flow_run
     where tenant_id = ? and project_id = ? and task_type = 'build' and payload ->> 'commitId' = ? and domain is null order by created_at desc, id desc limit 100`,
    [tenantId, projectId, sha],
  );
  return runs.find(({ status }) => !isFinal(status) || isSuccess(status));
}

/**
 * Has a commit built by a run of the build flow, or answers the run that does so already: two who ask at the same time
 * get the same one. The pipeline is the one that the project is configured with.
 */
export async function runBuild(
  tx: Tx,
  { id, identifier, configuration: { buildPipeline } }: ProjectFacts,
  { branch, sha, requestId }: { branch: string; sha: string; requestId: string },
): Promise<{ existing: BuildRun } | { accepted: AcceptedRun }> {
  await tx.sql('select pg_advisory_xact_lock(hashtextextended(?, 2))', [`build/${tx.tenantId}/${id}/${sha}`]);
  const existing = await existingBuild(tx, id, sha);
  if (existing) return { existing };
  const payload = {
    id: 'build',
    repositoryIdentifier: identifier,
    branch,
    commitId: sha,
    ...(buildPipeline && { pipeline: { ...buildPipeline, ref: branch } }),
  };
  const accepted = await acceptRun(tx, payload, { requestId, pointer: '#/body' });
  if (!accepted) throw new Error('a run without an outside id was taken on before');
  return { accepted };
}
