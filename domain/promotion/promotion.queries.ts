import { sql } from 'kysely';
import { isOneOf } from '../data/conditions.ts';
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

/** Ids of environments of a project by name. */
export async function environmentIdsByName(
  { db, tenantId }: Reads,
  projectId: string,
  names: readonly string[],
): Promise<Map<string, string>> {
  const rows = await db
    .selectFrom('environment')
    .where('tenantId', '=', tenantId)
    .where('projectId', '=', projectId)
    .where((eb) => isOneOf(eb, 'name', names))
    .select(['id', 'name'])
    .execute();
  return new Map(rows.map(({ id, name }) => [name, id]));
}
