import { sql, type SqlBool } from 'kysely';
import { isOneOf } from '../../kernel/data/conditions.ts';
import type { Reads } from '../../kernel/data/fenced-reads.ts';

/** Whether an org, or the environment of a run, is one to which releases go. */
export async function isReleaseTarget(
  { db, tenantId }: Reads,
  { orgUsername, environmentId }: { orgUsername: string; environmentId: string | null },
): Promise<boolean> {
  const found = await db
    .selectFrom('environment')
    .where('tenantId', '=', tenantId)
    .where('category', '=', 'release')
    .where(sql<SqlBool>`(id = ${environmentId}::uuid or lower(org_username) = lower(${orgUsername}))`)
    .select('id')
    .limit(1)
    .executeTakeFirst();
  return found !== undefined;
}

/** Types of runs that hold the lock of an org's set-up while they are at work there. */
const CHANGING_TYPES = [
  'install-packages',
  'uninstall-packages',
  'install-artifacts',
  'install-changeset',
  'execute-release',
  'rollback-release',
];

/** What another run is doing in an org, for which this one waits; undefined: nothing. */
export async function otherChange(
  { db, tenantId }: Reads,
  { orgId, runId }: { orgId: string; runId: string },
): Promise<string | undefined> {
  const found = await db
    .selectFrom('org_step as s')
    .innerJoin('flow_run as r', (join) => join.onRef('r.tenantId', '=', 's.tenantId').onRef('r.id', '=', 's.runId'))
    .where('s.tenantId', '=', tenantId)
    .where('s.orgId', '=', orgId)
    .where('s.runId', '<>', runId)
    .where((eb) => isOneOf(eb, 's.state', ['asked', 'begun']))
    .where((eb) => isOneOf(eb, 'r.taskType', CHANGING_TYPES))
    .where('r.endedAt', 'is', null)
    .select('s.name')
    .limit(1)
    .executeTakeFirst();
  return found?.name;
}
