import { sql } from 'kysely';
import type { Reads } from '../data/fenced-reads.ts';

/** The environments of these ids, in the order in which releases travel. */
export const promotionTargets = ({ db, tenantId }: Reads, environmentIds: readonly string[]) =>
  db
    .selectFrom('environment')
    .where('tenantId', '=', tenantId)
    .where('id', '=', sql<string>`any (${environmentIds}::uuid[])`)
    .orderBy('orchestrationOrder')
    .orderBy('name')
    .select(['id', 'projectId', 'name', 'branch', 'promotion'])
    .execute();

/** Runs that wait for a window in a project, or for what must be deployed before; of one release, or all. */
export const runsWaitingForWindows = (
  { db, tenantId }: Reads,
  projectId: string,
  release?: { domain: string; releaseName: string },
) => {
  const waiting = db
    .selectFrom('flow_run')
    .where('tenantId', '=', tenantId)
    .where('projectId', '=', projectId)
    .where('status', '=', 'waiting_window')
    .where('hasWorkflow', '=', true)
    .select(['id as runId', 'taskType']);
  return (
    release ? waiting.where('domain', '=', release.domain).where('releaseName', '=', release.releaseName) : waiting
  ).execute();
};

/** Temporary: since when a candidate is deployed to environments of its project. */
export const deployedSince = async (
  { db, tenantId }: Reads,
  candidateId: string,
): Promise<Map<string, number | null>> => {
  const rows = await db
    .selectFrom('release_deployment as d')
    .innerJoin('environment as e', (join) =>
      join.onRef('e.tenantId', '=', 'd.tenantId').onRef('e.id', '=', 'd.environmentId'),
    )
    .distinctOn('d.environmentId')
    .where('d.tenantId', '=', tenantId)
    .where('d.candidateId', '=', candidateId)
    .orderBy('d.environmentId')
    .orderBy('d.deployedAt', 'desc')
    .select(['e.name', 'd.status', 'd.rolledBackAt', 'd.deployedAt'])
    .execute();
  return new Map(
    rows.map(({ name, status, rolledBackAt, deployedAt }) => [
      name,
      status === 'Success' && rolledBackAt === null ? Date.parse(deployedAt) : null,
    ]),
  );
};
