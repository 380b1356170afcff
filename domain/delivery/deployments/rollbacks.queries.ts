import { sql, type SqlBool } from 'kysely';
import { json } from '../../kernel/data/columns.ts';
import type { Reads } from '../../kernel/data/fenced-reads.ts';
import type { Rollback } from '../releases/rollbacks/rollback-rules.ts';
import type { Tx } from '../../unit-of-work.ts';
import { INSTALLING_STATUSES } from './deployments.queries.ts';

/** The last report by which a release installed something in an environment. */
export type LastInstallation = Awaited<ReturnType<typeof lastInstallations>>[number];

/** The last report by which a release installed something in an environment, in each domain, or in one. */
export function lastInstallations(
  { db, tenantId }: Reads,
  environmentId: string,
  { releaseName, domain }: { releaseName: string; domain: string | undefined },
) {
  const installations = db
    .selectFrom('release_deployment')
    .where('tenantId', '=', tenantId)
    .where('environmentId', '=', environmentId)
    .where('releaseName', '=', releaseName)
    .where('status', 'in', INSTALLING_STATUSES);
  return (domain === undefined ? installations : installations.where('domain', '=', domain))
    .distinctOn('domain')
    .orderBy('domain')
    .orderBy('deployedAt', 'desc')
    .orderBy('createdAt', 'desc')
    .orderBy('id', 'desc')
    .select([
      'id',
      'environmentId',
      'domain',
      'releaseName',
      'deployedAt',
      'createdAt',
      'rolledBackAt',
      'candidateId',
      'packages',
      'installed',
      'rollback',
    ])
    .execute();
}

/**
 * Makes a deployment the result of a rollback. What was taken back of its release when it was taken back itself counts
 * as deployed again.
 */
export async function storeRollback(
  { db, tenantId }: Tx,
  { id, environmentId, domain, releaseName, rolledBackAt }: LastInstallation,
  rollback: Rollback,
): Promise<void> {
  await db
    .updateTable('release_deployment')
    .where('tenantId', '=', tenantId)
    .where('id', '=', id)
    .set({ rollback: json(rollback), updatedAt: sql<string>`now()` })
    .execute();
  if (rolledBackAt === null) return;
  await db
    .updateTable('release_deployment')
    .where('tenantId', '=', tenantId)
    .where('environmentId', '=', environmentId)
    .where('domain', '=', domain)
    .where('releaseName', '=', releaseName)
    .where('rolledBackAt', '=', rolledBackAt)
    .set({ rolledBackAt: null, rolledBackBy: null, updatedAt: sql<string>`now()` })
    .execute();
}

/** When what a deployment installed was replaced as a whole by another release that is installed still. */
export async function replacedAt({ db, tenantId }: Tx, source: LastInstallation): Promise<Date | undefined> {
  const { id, environmentId, domain, releaseName, deployedAt, createdAt, installed } = source;
  const replacement = await db
    .selectFrom('release_deployment')
    .where('tenantId', '=', tenantId)
    .where('environmentId', '=', environmentId)
    .where('domain', '=', domain)
    .where('releaseName', '<>', releaseName)
    .where('status', 'in', INSTALLING_STATUSES)
    .where('rolledBackAt', 'is', null)
    .where(
      sql<SqlBool>`(deployed_at, created_at, id) > (${deployedAt}::timestamptz, ${createdAt}::timestamptz, ${id}::uuid)`,
    )
    .where(sql<SqlBool>`jsonb_exists_all(installed, ${Object.keys(installed)}::text[])`)
    .orderBy('deployedAt')
    .orderBy('createdAt')
    .orderBy('id')
    .limit(1)
    .select('deployedAt')
    .executeTakeFirst();
  return replacement && new Date(replacement.deployedAt);
}

export interface TakenBack {
  /** Name of the release that runs again. */
  target: string;
  source: LastInstallation;
  rolledBackAt: Date;
  rolledBackBy: string;
}

/**
 * Marks as taken back what was installed after the target, up to the source. A target that was installed only after the
 * source: that of the source's release.
 */
export async function markRolledBack(
  { db, tenantId }: Tx,
  { target, source, rolledBackAt, rolledBackBy }: TakenBack,
): Promise<void> {
  const { id, environmentId, domain, releaseName, deployedAt, createdAt } = source;
  const reports = sql`tenant_id = ${tenantId} and environment_id = ${environmentId} and domain = ${domain} and status in ${INSTALLING_STATUSES}`;
  await sql`
    with target as (
      select deployed_at, created_at, id from release_deployment
      where ${reports} and release_name = ${target} and (deployed_at, created_at, id) < (${deployedAt}::timestamptz, ${createdAt}::timestamptz, ${id}::uuid)
      order by deployed_at desc, created_at desc, id desc limit 1)
    update release_deployment set rolled_back_at = ${rolledBackAt}, rolled_back_by = ${rolledBackBy}, updated_at = now()
    where ${reports} and release_name <> ${target} and rolled_back_at is null
      and (deployed_at, created_at, id) <= (${deployedAt}::timestamptz, ${createdAt}::timestamptz, ${id}::uuid)
      and case when exists (select from target)
        then (deployed_at, created_at, id) > (select deployed_at, created_at, id from target)
        else release_name = ${releaseName} end`.execute(db);
}
