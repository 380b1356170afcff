import { sql, type SqlBool } from 'kysely';
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
  /** Packages of `sfdx-project.json`, by name or directory; null: all. */
  packages: readonly string[] | null;
  runId: string;
  deploymentId: string;
  /** See `settingsDigest`. */
  settingsDigest: string | null;
  pending: readonly ComponentName[];
}

/** The source of a project that an org took last from the service; undefined: none. */
export const sourceOfOrg = ({ db, tenantId }: Reads, projectId: string, orgId: string) =>
  db
    .selectFrom('org_source')
    .where('tenantId', '=', tenantId)
    .where('projectId', '=', projectId)
    .where('orgId', '=', orgId)
    .select([
      'platformOrgId',
      'environmentId',
      'commitSha',
      'packages',
      'runId',
      'deployedAt',
      'settingsDigest',
      'pending',
    ])
    .executeTakeFirst();

/** A change of what an org runs, and the commit and settings that it was built upon; null: upon nothing, it is all of the source. */
export type SourceClaim = Omit<DeployedSource, 'deploymentId' | 'packages' | 'pending' | 'settingsDigest'> & {
  baseSha: string | null;
  baseSettings: string | null;
};

/**
 * Claims for a run what an org runs: until `keepSource` nobody knows it. Repeated it changes nothing. False: the org does not
 * run any more what the change was built upon.
 */
export async function claimSource(
  { db, tenantId, now }: Tx,
  { baseSha, baseSettings, platformOrgId, ...claim }: SourceClaim,
): Promise<boolean> {
  const { projectId, orgId, runId } = claim;
  const row = await db
    .selectFrom('org_source')
    .where('tenantId', '=', tenantId)
    .where('projectId', '=', projectId)
    .where('orgId', '=', orgId)
    .select(['id', 'runId', 'commitSha', 'platformOrgId', 'settingsDigest'])
    .forUpdate()
    .executeTakeFirst();
  if (row?.runId === runId) return true;
  const isThere =
    row?.commitSha === baseSha && row.platformOrgId === platformOrgId && row.settingsDigest === baseSettings;
  if (baseSha !== null && !isThere) return false;
  if (row) {
    const unknown = { runId, platformOrgId: null, updatedAt: sql<string>`now()` };
    await db.updateTable('org_source').set(unknown).where('tenantId', '=', tenantId).where('id', '=', row.id).execute();
  } else {
    const unknown = {
      ...claim,
      packages: null,
      platformOrgId: null,
      deploymentId: '',
      deployedAt: now,
      settingsDigest: null,
      pending: json([]),
    };
    await db
      .insertInto('org_source')
      .values({ ...unknown, id: newId(), tenantId })
      .onConflict((conflict) => conflict.doNothing())
      .execute();
  }
  return true;
}

/** From now on nobody knows what an org runs of any project: something else than source of a commit is deployed there. */
export async function forgetSources({ db, tenantId }: Tx, orgId: string): Promise<void> {
  await db
    .updateTable('org_source')
    .set({ platformOrgId: null, updatedAt: sql<string>`now()` })
    .where('tenantId', '=', tenantId)
    .where('orgId', '=', orgId)
    .execute();
}

/** Keeps what an org runs now, unless another run has claimed it since. */
export async function keepSource(
  { db, tenantId, now }: Tx,
  { packages, pending, ...source }: DeployedSource,
): Promise<void> {
  await db
    .insertInto('org_source')
    .values({
      ...source,
      id: newId(),
      tenantId,
      deployedAt: now,
      packages: packages && json([...packages]),
      pending: json([...pending]),
    })
    .onConflict((conflict) =>
      conflict
        .columns(['tenantId', 'projectId', 'orgId'])
        .doUpdateSet((eb) => ({
          platformOrgId: eb.ref('excluded.platformOrgId'),
          environmentId: eb.ref('excluded.environmentId'),
          commitSha: eb.ref('excluded.commitSha'),
          packages: eb.ref('excluded.packages'),
          runId: eb.ref('excluded.runId'),
          deploymentId: eb.ref('excluded.deploymentId'),
          deployedAt: eb.ref('excluded.deployedAt'),
          settingsDigest: eb.ref('excluded.settingsDigest'),
          pending: eb.ref('excluded.pending'),
          updatedAt: sql<string>`now()`,
        }))
        .whereRef('org_source.runId', '=', 'excluded.runId'),
    )
    .execute();
}

/** The id of a report's run may be that of an engine elsewhere. */
const BY_OTHERS = sql<SqlBool>`not exists (select from org_step s where s.tenant_id = release_deployment.tenant_id
  and s.run_id = case when release_deployment.execution_id ~ '^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$' then release_deployment.execution_id::uuid end)`;

/**
 * Whether something else was deployed to an environment since, as was reported here; what the service itself deployed since
 * is known.
 */
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
    .where(BY_OTHERS)
    .select('id')
    .limit(1)
    .executeTakeFirst();
  return found !== undefined;
}
