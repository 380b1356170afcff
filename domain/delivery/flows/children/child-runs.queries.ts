import { isOneOf } from '../../../kernel/data/conditions.ts';
import type { Reads } from '../../../kernel/data/fenced-reads.ts';
import type { Tx } from '../../../unit-of-work.ts';
import { PROJECT_POLICY } from '../gates/run-gates.queries.ts';

/** The latest attempt of each child of a run: of each type, path, domain and environment. */
export const latestChildren = ({ db, tenantId }: Reads, parentId: string) =>
  db
    .selectFrom('flow_run')
    .distinctOn(['taskType', 'flowPath', 'domain', 'environmentId'])
    .where('tenantId', '=', tenantId)
    .where('parentId', '=', parentId)
    .orderBy('taskType')
    .orderBy('flowPath')
    .orderBy('domain')
    .orderBy('environmentId')
    .orderBy('createdAt', 'desc')
    .orderBy('id', 'desc')
    .select(['id', 'taskType', 'flowPath', 'domain', 'environmentId', 'status', 'hasWorkflow', 'workflowPath'])
    .execute();
export type ChildRun = Awaited<ReturnType<typeof latestChildren>>[number];

/** The children of a run that have not ended and have a workflow. */
export const openChildren = ({ db, tenantId }: Reads, parentId: string) =>
  db
    .selectFrom('flow_run as r')
    .leftJoin('environment as e', (join) =>
      join.onRef('e.tenantId', '=', 'r.tenantId').onRef('e.id', '=', 'r.environmentId'),
    )
    .where('r.tenantId', '=', tenantId)
    .where('r.parentId', '=', parentId)
    .where('r.hasWorkflow', '=', true)
    .where('r.endedAt', 'is', null)
    .select(['r.id as runId', 'r.taskType', 'r.workflowPath', 'e.name as environmentName'])
    .execute();

/** Names the domain of a run that has none yet. */
export async function setDomain({ db, tenantId }: Tx, id: string, domain: string): Promise<void> {
  await db
    .updateTable('flow_run')
    .set({ domain })
    .where('tenantId', '=', tenantId)
    .where('id', '=', id)
    .where('domain', 'is', null)
    .execute();
}

/** The active environments to which a release of a project is deployed, of these names if any are given. */
export const releaseEnvironments = (
  { db, tenantId }: Reads,
  projectId: string,
  names: readonly string[] | undefined,
) => {
  const environments = db
    .selectFrom('environment as e')
    .innerJoin('project as p', (join) => join.onRef('p.tenantId', '=', 'e.tenantId').onRef('p.id', '=', 'e.projectId'))
    .where('e.tenantId', '=', tenantId)
    .where('e.projectId', '=', projectId)
    .where('e.isActive', '=', true)
    .where('e.category', '=', 'release')
    .orderBy('e.orchestrationOrder')
    .orderBy('e.name')
    .select([
      'e.id',
      'e.name',
      'e.category',
      'e.isActive',
      'e.branch',
      'e.orchestrationOrder',
      'e.approvalPolicy',
      PROJECT_POLICY.as('projectPolicy'),
    ]);
  return (names ? environments.where((eb) => isOneOf(eb, 'e.name', names)) : environments).execute();
};
