import { sql } from 'kysely';
import type { Reads } from '../data/fenced-reads.ts';
import { statement } from '../data/statement.ts';

const DEPLOYED = statement<{ tenantId: string; ids: readonly string[] }>()(
  (_, { tenantId, ids }) => sql<{ id: string }>`
  select given.id from unnest(${ids}::uuid[]) as given (id)
  where exists (
    select from (
      select distinct on (d.environment_id) d.environment_id, d.status, d.rolled_back_at
      from release_deployment d
      where d.tenant_id = ${tenantId} and d.candidate_id = given.id and d.status <> 'Cancelled'
      order by d.environment_id, d.deployed_at desc, d.id desc) latest
    join environment e on e.tenant_id = ${tenantId} and e.id = latest.environment_id
      and e.category = 'release' and e.is_active
    where latest.status = 'Success' and latest.rolled_back_at is null)`,
);

/** Those of the candidates that are deployed in at least one active environment of category `release`. */
export async function deployedCandidates(
  { db, tenantId }: Reads,
  candidateIds: readonly string[],
): Promise<Set<string>> {
  if (candidateIds.length === 0) return new Set();
  const rows = await DEPLOYED(db, { tenantId, ids: candidateIds });
  return new Set(rows.map(({ id }) => id));
}
