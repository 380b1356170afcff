import { sql, type SqlBool } from 'kysely';
import type { Database } from '../data/tables.ts';
import { tenantSlugOf } from '../tenants/tenants.queries.ts';

/** Tables whose rows are work of a workflow: `queued` until it begins, `running` until it ends. */
export type WorkTable = 'ai_report' | 'audit_export' | 'gc_check' | 'mock_drift';

/**
 * Work of all tenants that did not begin, or did not end, within the times; `db` has the role of the system. Chosen at
 * random: work that waits for a worker stays in the list, and must not keep other work out of it.
 */
export const stalledWork = (
  db: Database,
  table: WorkTable,
  { queuedSeconds, runningSeconds, limit }: { queuedSeconds: number; runningSeconds: number; limit: number },
) =>
  db
    .selectFrom(table as 'gc_check')
    .where(
      sql<SqlBool>`status in ('queued', 'running') and updated_at < now() - make_interval(secs => case status
        when 'queued' then ${queuedSeconds}::int else ${runningSeconds}::int end)`,
    )
    .orderBy(sql`random()`)
    .limit(limit)
    .select(['tenantId', tenantSlugOf('tenantId'), 'id'])
    .execute();
