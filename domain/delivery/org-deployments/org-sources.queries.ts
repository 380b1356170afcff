import { sql } from 'kysely';
import { json } from '../../kernel/data/columns.ts';
import type { Reads } from '../../kernel/data/fenced-reads.ts';
import { newId } from '../../kernel/shared/ids.ts';
import type { Tx } from '../../unit-of-work.ts';
import type { ComponentName } from '../source/source-build.port.ts';

/** What a run deployed to an org. */
export interface DeployedSource {
  projectId: string;
  orgId: string;
  platformOrgId: string | null;
  environmentId: string | null;
  commitSha: string;
  runId: string;
  deploymentId: string;
  pending: readonly ComponentName[];
}

/** The source of a project that an org took last from the service; undefined: none. */
export const sourceOfOrg = ({ db, tenantId }: Reads, projectId: string, orgId: string) =>
  db
    .selectFrom('org_source')
    .where('tenantId', '=', tenantId)
    .where('projectId', '=', projectId)
    .where('orgId', '=', orgId)
    .select(['platformOrgId', 'environmentId', 'commitSha', 'runId', 'deployedAt', 'pending'])
    .executeTakeFirst();

/** Keeps what an org runs now. */
export async function keepSource({ db, tenantId, now }: Tx, { pending, ...source }: DeployedSource): Promise<void> {
  await db
    .insertInto('org_source')
    .values({ ...source, id: newId(), tenantId, deployedAt: now, pending: json([...pending]) })
    .onConflict((conflict) =>
      conflict.columns(['tenantId', 'projectId', 'orgId']).doUpdateSet((eb) => ({
        platformOrgId: eb.ref('excluded.platformOrgId'),
        environmentId: eb.ref('excluded.environmentId'),
        commitSha: eb.ref('excluded.commitSha'),
        runId: eb.ref('excluded.runId'),
        deploymentId: eb.ref('excluded.deploymentId'),
        deployedAt: eb.ref('excluded.deployedAt'),
        pending: eb.ref('excluded.pending'),
        updatedAt: sql<string>`now()`,
      })),
    )
    .execute();
}

/** Whether something else was deployed to an environment since, as was reported here. */
export async function wasDeployedSince(
  { db, tenantId }: Reads,
  environmentId: string,
  { runId, deployedAt }: { runId: string; deployedAt: string },
): Promise<boolean> {
  const found = await db
    .selectFrom('release_deployment')
    .where('tenantId', '=', tenantId)
    .where('environmentId', '=', environmentId)
    .where('deployedAt', '>', deployedAt)
    .where((eb) => eb.or([eb('executionId', 'is', null), eb('executionId', '!=', runId)]))
    .select('id')
    .limit(1)
    .executeTakeFirst();
  return found !== undefined;
}
