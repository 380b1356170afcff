import { sql } from 'kysely';
import { batch } from '../../kernel/data/batches.ts';
import { json } from '../../kernel/data/columns.ts';
import type { Reads } from '../../kernel/data/fenced-reads.ts';
import type { Tx } from '../../unit-of-work.ts';
import type { ExplorerOrg } from './explorer-org.ts';
import type { TypeDescription } from './listing-rules.ts';

const typesOf = ({ db, tenantId }: Reads, org: ExplorerOrg) =>
  db
    .selectFrom('org_component_type')
    .where('tenantId', '=', tenantId)
    .where('orgId', '=', org.id)
    .where('platformOrgId', '=', org.platformOrgId);

/** Types of an org with their counts, by name. */
export const componentTypes = (reads: Reads, org: ExplorerOrg) =>
  typesOf(reads, org)
    .select(['metadataType', 'componentCount', 'syncedAt', 'error', 'description'])
    .orderBy('metadataType')
    .execute();

/** Types of an org as far as replies depend on them. @param metadataType only this one. */
export const keptTypesOf = (reads: Reads, org: ExplorerOrg, metadataType?: string) => {
  const types = typesOf(reads, org);
  return (metadataType === undefined ? types : types.where('metadataType', '=', metadataType))
    .select([
      'metadataType',
      'componentCount',
      'syncedAt',
      'error',
      sql<boolean>`description is not null`.as('isDescribed'),
    ])
    .orderBy('metadataType')
    .execute();
};

export const componentType = (reads: Reads, org: ExplorerOrg, metadataType: string) =>
  typesOf(reads, org)
    .where('metadataType', '=', metadataType)
    .select(['componentCount', 'syncedAt', 'error', 'description'])
    .executeTakeFirst();

/** Writes what the org says of its types; what is known of their components stays. */
export const describeTypes = async (
  { db, tenantId }: Tx,
  org: ExplorerOrg,
  types: readonly { metadataType: string; description: TypeDescription }[],
) =>
  sql`
    insert into org_component_type as t (tenant_id, org_id, platform_org_id, metadata_type, description)
    select ${tenantId}::uuid, ${org.id}::uuid, ${org.platformOrgId}, type->>'metadataType', type->'description'
      from jsonb_array_elements(${json(types)}::jsonb) type
    on conflict (tenant_id, org_id, platform_org_id, metadata_type) do update set description = excluded.description
    where t.description is distinct from excluded.description`.execute(db);

/** Forgets names that were asked for, and that the org does not have among its types. @param types all of the org's. */
export const forgetUnknownTypes = async (
  { db, tenantId }: Tx,
  org: ExplorerOrg,
  types: readonly { metadataType: string }[],
) =>
  db
    .deleteFrom('org_component_type')
    .where('tenantId', '=', tenantId)
    .where('orgId', '=', org.id)
    .where('platformOrgId', '=', org.platformOrgId)
    .where('description', 'is', null)
    .where('syncedAt', 'is', null)
    .where('componentCount', '=', 0)
    .where('metadataType', '<>', sql<string>`all (${types.map(({ metadataType }) => metadataType)}::text[])`)
    .execute();

/** The ones of some types whose components were read whole before. */
export async function syncedTypes(
  reads: Reads,
  org: ExplorerOrg,
  metadataTypes: readonly string[],
): Promise<ReadonlySet<string>> {
  const rows = await typesOf(reads, org)
    .where('metadataType', '=', sql<string>`any (${metadataTypes}::text[])`)
    .where('syncedAt', 'is not', null)
    .select('metadataType')
    .execute();
  return new Set(rows.map(({ metadataType }) => metadataType));
}

export const removeType = ({ db, tenantId }: Tx, org: ExplorerOrg, metadataType: string) =>
  db
    .deleteFrom('org_component_type')
    .where('tenantId', '=', tenantId)
    .where('orgId', '=', org.id)
    .where('platformOrgId', '=', org.platformOrgId)
    .where('metadataType', '=', metadataType)
    .execute();

/** The types were read whole: counts their components. @param isListed by the service itself. */
export const countTypes = async (
  { db, tenantId }: Tx,
  org: ExplorerOrg,
  metadataTypes: readonly string[],
  { syncedAt, isListed }: { syncedAt: Date; isListed: boolean },
) =>
  sql`
    insert into org_component_type as t (tenant_id, org_id, platform_org_id, metadata_type, component_count, synced_at,
      listed_at)
    select ${tenantId}::uuid, ${org.id}::uuid, ${org.platformOrgId}, type,
      (select count(*)::int from org_component c
        where c.tenant_id = ${tenantId}::uuid and c.org_id = ${org.id}::uuid
          and c.platform_org_id = ${org.platformOrgId} and c.metadata_type = type),
      ${syncedAt.toISOString()}::timestamptz, case when ${isListed} then now() end
    from unnest(${[...new Set(metadataTypes)].toSorted()}::text[]) type
    on conflict (tenant_id, org_id, platform_org_id, metadata_type) do update set
      component_count = excluded.component_count, synced_at = excluded.synced_at,
      listed_at = coalesce(excluded.listed_at, t.listed_at), error = null`.execute(db);

/** Components of types were added and removed: what each type has more than before. */
export const adjustCounts = async (
  { db, tenantId }: Tx,
  org: ExplorerOrg,
  differences: readonly { metadataType: string; more: number }[],
) =>
  sql`
    insert into org_component_type as t (tenant_id, org_id, platform_org_id, metadata_type, component_count)
    select ${tenantId}::uuid, ${org.id}::uuid, ${org.platformOrgId}, metadata_type, sum(more)::int
      from ${batch('rows', differences, { metadataType: 'text', more: 'int' })}
      group by metadata_type order by metadata_type
    on conflict (tenant_id, org_id, platform_org_id, metadata_type) do update set
      component_count = greatest(t.component_count + excluded.component_count, 0)`.execute(db);

/** Notes why types could not be read; their components stay. */
export const noteFailedTypes = async (
  { db, tenantId }: Tx,
  org: ExplorerOrg,
  failed: readonly { metadataType: string; error: string }[],
) =>
  sql`
    insert into org_component_type as t (tenant_id, org_id, platform_org_id, metadata_type, error)
    select ${tenantId}::uuid, ${org.id}::uuid, ${org.platformOrgId}, metadata_type, min(error)
      from ${batch('rows', failed, { metadataType: 'text', error: 'text' })} group by metadata_type
    on conflict (tenant_id, org_id, platform_org_id, metadata_type) do update set error = excluded.error`.execute(db);
