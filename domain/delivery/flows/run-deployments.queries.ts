import { sql } from 'kysely';
import { json } from '../../kernel/data/columns.ts';
import type { Reads } from '../../kernel/data/fenced-reads.ts';
import type { Tx } from '../../unit-of-work.ts';
import type { DeployedContent } from './run-deployment-rules.ts';
import { PROJECT_POLICY } from './gates/run-gates.queries.ts';

/** How far the work of a run came. `now`: by the database's clock, which all processes share, in milliseconds since the epoch. */
export const workOfRun = ({ db, tenantId }: Reads, id: string) =>
  db
    .selectFrom('flow_run')
    .where('tenantId', '=', tenantId)
    .where('id', '=', id)
    .select([
      'hasWorkflow',
      'environmentId',
      sql<string | null>`payload->>'environmentName'`.as('environmentName'),
      'startedAt',
      'programStartedAt',
      'dispatchTriedAt',
      'reportedEnd',
      'deploys',
      sql<number>`(extract(epoch from date_trunc('milliseconds', now())) * 1000)::float8`.as('now'),
    ])
    .executeTakeFirst();

/** Records what a run deploys; what was recorded first stays. */
export async function keepContent({ db, tenantId }: Tx, id: string, content: DeployedContent): Promise<void> {
  await db
    .updateTable('flow_run')
    .set({ deploys: json(content) })
    .where('tenantId', '=', tenantId)
    .where('id', '=', id)
    .where('deploys', 'is', null)
    .execute();
}

/** What was recorded that a run deploys; undefined: nothing yet. */
export async function contentKept({ db, tenantId }: Reads, id: string): Promise<DeployedContent | undefined> {
  const run = await db
    .selectFrom('flow_run')
    .where('tenantId', '=', tenantId)
    .where('id', '=', id)
    .select('deploys')
    .executeTakeFirst();
  return run?.deploys ?? undefined;
}

/** What a run deploys; `hasWorkflow` false: an external worker executes it, so that it passed no gates. */
export interface ContentOfRun extends DeployedContent {
  hasWorkflow: boolean;
}

/** What a run deploys to an environment; undefined when there is no such run, or it does not deploy there. */
export async function contentOfRun(
  { db, tenantId }: Reads,
  id: string,
  {
    projectId,
    environmentId,
    domain,
    releaseName,
  }: Record<'projectId' | 'environmentId' | 'domain' | 'releaseName', string>,
): Promise<ContentOfRun | undefined> {
  const run = await db
    .selectFrom('flow_run')
    .where('tenantId', '=', tenantId)
    .where('id', '=', id)
    .where('projectId', '=', projectId)
    .where('domain', '=', domain)
    .where('releaseName', '=', releaseName)
    .select(['deploys', 'hasWorkflow'])
    .executeTakeFirst();
  return run?.deploys?.environmentIds.includes(environmentId)
    ? { ...run.deploys, hasWorkflow: run.hasWorkflow }
    : undefined;
}

/** The ones of some environments that belong to a project, with the policies that hold for them. */
export const environmentsOfProject = ({ db, tenantId }: Reads, projectId: string, ids: readonly string[]) =>
  db
    .selectFrom('environment as e')
    .innerJoin('project as p', (join) => join.onRef('p.tenantId', '=', 'e.tenantId').onRef('p.id', '=', 'e.projectId'))
    .where('e.tenantId', '=', tenantId)
    .where('e.projectId', '=', projectId)
    .where('e.id', '=', sql<string>`any (${ids}::uuid[])`)
    .orderBy('e.orchestrationOrder')
    .orderBy('e.name')
    .select([
      'e.id',
      'e.name',
      'e.promotion',
      'e.approvalPolicy',
      'e.orchestrationOrder',
      PROJECT_POLICY.as('projectPolicy'),
    ])
    .execute();

/** How a run was approved; undefined when nobody was asked. */
export const approvalGivenTo = ({ db, tenantId }: Reads, runId: string) =>
  db
    .selectFrom('approval')
    .where('tenantId', '=', tenantId)
    .where('runId', '=', runId)
    .select([
      'id as approvalId',
      'status',
      'requestedBy',
      'resolvedBy as approvedBy',
      'resolvedAt as approvedAt',
      sql<number | null>`(extract(epoch from resolved_at - created_at) * 1000)::bigint::float8`.as('responseTimeMs'),
    ])
    .executeTakeFirst();
