import { sql } from 'kysely';
import { isoOf } from '../../kernel/text/date-time-rules.ts';
import type { Reads } from '../../kernel/data/fenced-reads.ts';
import type { ExplorerOrg } from './explorer-org.ts';

/** What the index of an org shows of changes that were made in the org itself. */
export interface ChangesInOrg {
  /** Components of no package that were changed in it. */
  components: number;
  /** When the org was last listed; ISO 8601. */
  indexedAt: string;
}

/** What was changed in an org since a time, as far as its index knows; null: it has none. */
export async function changesInOrg(
  { db, tenantId }: Reads,
  { id, platformOrgId }: ExplorerOrg,
  since: string,
): Promise<ChangesInOrg | null> {
  const { rows } = await sql<ChangesInOrg | { components: number; indexedAt: null }>`
    select max(t.synced_at) as "indexedAt", (
      select count(*)::int from org_component c
      where c.tenant_id = ${tenantId}::uuid and c.org_id = ${id}::uuid and c.platform_org_id = ${platformOrgId}
        and c.last_modified_at > ${since}::timestamptz
        and coalesce(c.manageable_state, 'unmanaged') = 'unmanaged') as components
    from org_component_type t
    where t.tenant_id = ${tenantId}::uuid and t.org_id = ${id}::uuid and t.platform_org_id = ${platformOrgId}`.execute(
    db,
  );
  const [found] = rows;
  return found?.indexedAt ? { ...found, indexedAt: isoOf(found.indexedAt) } : null;
}
