import { sql } from 'kysely';
import type { Reads } from '../data/fenced-reads.ts';
import { DELETIONS_MAX, type Deletion } from './gc-deletion-rules.ts';
import { EVIDENCE_DAYS } from './gc-ledger-rules.ts';
import type { GcBranch } from './gc-review.queries.ts';

/**
 * The detected components of a branch, each once, sorted by type and name; at most `DELETIONS_MAX`, and how many there are.
 * @param environmentId whose org does not have what valid evidence says is absent there.
 */
export async function detectedComponents(
  { db, tenantId }: Reads,
  { projectId, branch }: GcBranch,
  environmentId: string | undefined,
): Promise<{ components: Deletion[]; total: number }> {
  const rows = await db
    .selectFrom('gc_entry as e')
    .where('e.tenantId', '=', tenantId)
    .where('e.projectId', '=', projectId)
    .where('e.branch', '=', branch)
    .where('e.status', '=', 'detected')
    .$if(environmentId !== undefined, (query) =>
      query.where(({ not, exists, selectFrom }) =>
        not(
          exists(
            selectFrom('gc_presence as p')
              .whereRef('p.tenantId', '=', 'e.tenantId')
              .whereRef('p.entryId', '=', 'e.id')
              .where('p.environmentId', '=', environmentId ?? '')
              .where('p.presence', '=', 'absent')
              .where('p.checkedAt', '>', sql<string>`now() - make_interval(days => ${sql.lit(EVIDENCE_DAYS)})`)
              .select(sql.lit(1).as('one')),
          ),
        ),
      ),
    )
    .groupBy(['e.componentType', 'e.fullName'])
    .orderBy('e.componentType')
    .orderBy('e.fullName')
    .limit(sql.lit(DELETIONS_MAX))
    .select(['e.componentType', 'e.fullName', sql<number>`(count(*) over ())::int`.as('total')])
    .execute();
  return {
    components: rows.map(({ componentType, fullName }) => ({ componentType, fullName })),
    total: rows[0]?.total ?? 0,
  };
}
