import { sql, type SqlBool } from 'kysely';
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
