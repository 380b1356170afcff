import { sql } from 'kysely';
import { batch } from '../../kernel/data/batches.ts';
import { newId } from '../../kernel/shared/ids.ts';
import type { Tx } from '../../unit-of-work.ts';
import type { ExplorerOrg } from './explorer-org.ts';
import type { IndexedComponent } from './listing-rules.ts';

const LISTED_COLUMNS = {
  id: 'uuid',
  memberName: 'text',
  fileName: 'text',
  parentType: 'text',
  lastModifiedAt: 'timestamptz(3)',
  lastModifiedBy: 'text',
  manageableState: 'text',
  namespacePrefix: 'text',
  isIndexOnly: 'boolean',
} as const;

export interface IndexScope {
  org: ExplorerOrg;
  syncId: string;
  metadataType: string;
  /** Whether differences are changes of the org: the type was listed before. */
  isCompared: boolean;
}

/**
 * Adds and changes rows of listed components. What is new or was modified is due, and so is what the org gives no date
 * of. Differences are noted: new components, and changes of those whose source is not retrieved.
 * @returns names of the components that were added or modified.
 */
export async function indexComponents(
  { db, tenantId }: Tx,
  { org, syncId, metadataType, isCompared }: IndexScope,
  listed: readonly IndexedComponent[],
): Promise<string[]> {
  const rows = listed.map((component) => ({ ...component, id: newId() }));
  const { rows: written } = await sql<{ memberName: string }>`
    with written as (
      insert into org_component as c (id, tenant_id, org_id, platform_org_id, metadata_type, member_name, file_name,
        parent_type, last_modified_at, last_modified_by, manageable_state, namespace_prefix, is_index_only, is_due)
      select id, ${tenantId}::uuid, ${org.id}::uuid, ${org.platformOrgId}, ${metadataType}, member_name, file_name,
        parent_type, last_modified_at, last_modified_by, manageable_state, namespace_prefix, is_index_only,
        not is_index_only from ${batch('rows', rows, LISTED_COLUMNS)}
      on conflict (tenant_id, org_id, platform_org_id, metadata_type, member_name) do update set
        file_name = excluded.file_name, parent_type = excluded.parent_type,
        last_modified_at = excluded.last_modified_at, last_modified_by = excluded.last_modified_by,
        manageable_state = excluded.manageable_state, namespace_prefix = excluded.namespace_prefix,
        is_index_only = excluded.is_index_only, seen_at = now(),
        is_due = c.is_due or (not excluded.is_index_only and (c.is_index_only or excluded.last_modified_at is null
          or excluded.last_modified_at is distinct from c.last_modified_at))
      where (c.file_name, c.parent_type, c.last_modified_at, c.last_modified_by, c.manageable_state,
          c.namespace_prefix, c.is_index_only)
        is distinct from (excluded.file_name, excluded.parent_type, excluded.last_modified_at,
          excluded.last_modified_by, excluded.manageable_state, excluded.namespace_prefix, excluded.is_index_only)
        or (excluded.last_modified_at is null and not excluded.is_index_only)
      returning new.member_name, new.last_modified_at, new.last_modified_by, new.is_index_only, old.id is null as is_new,
        old.last_modified_at is not null and old.last_modified_at is distinct from new.last_modified_at as is_modified),
    noted as (
      insert into org_component_change (id, tenant_id, org_id, platform_org_id, sync_id, metadata_type, member_name,
        change, modified_at, modified_by)
      select gen_random_uuid(), ${tenantId}::uuid, ${org.id}::uuid, ${org.platformOrgId}, ${syncId}::uuid,
        ${metadataType}, member_name, case when is_new then 'created' else 'changed' end, last_modified_at, last_modified_by
      from written where ${isCompared} and (is_new or (is_index_only and is_modified)))
    select member_name as "memberName" from written where is_new or is_modified`.execute(db);
  return written.map(({ memberName }) => memberName);
}

/** Removes the components of the type that are not among those that the org has. @returns their names. */
export async function removeUnlisted(
  { db, tenantId }: Tx,
  { org, syncId, metadataType }: IndexScope,
  memberNames: readonly string[],
): Promise<string[]> {
  const { rows } = await sql<{ memberName: string }>`
    with gone as (
      delete from org_component c
      where c.tenant_id = ${tenantId}::uuid and c.org_id = ${org.id}::uuid
        and c.platform_org_id = ${org.platformOrgId} and c.metadata_type = ${metadataType}
        and c.member_name not in (select unnest(${memberNames}::text[]))
      returning c.metadata_type, c.member_name, c.last_modified_at, c.last_modified_by, c.content_hash),
    noted as (insert into org_component_change ${noteOfDeletion(tenantId, org, syncId)} from gone)
    select member_name as "memberName" from gone`.execute(db);
  return rows.map(({ memberName }) => memberName);
}

/** The beginning of an insert of changes from rows `gone`. */
const noteOfDeletion = (tenantId: string, org: ExplorerOrg, syncId: string) => sql`
  (id, tenant_id, org_id, platform_org_id, sync_id, metadata_type, member_name, change, modified_at, modified_by,
    before_hash)
  select gen_random_uuid(), ${tenantId}::uuid, ${org.id}::uuid, ${org.platformOrgId}, ${syncId}::uuid, metadata_type,
    member_name, 'deleted', last_modified_at, last_modified_by, content_hash`;

/** Removes the components of the types that nobody saw since a time, in which the service did not list their types either. */
export async function removeUnseen(
  { db, tenantId }: Tx,
  { org, syncId }: { org: ExplorerOrg; syncId: string },
  { metadataTypes, before }: { metadataTypes: readonly string[]; before: Date },
): Promise<void> {
  await sql`
    with gone as (
      delete from org_component c
      where c.tenant_id = ${tenantId}::uuid and c.org_id = ${org.id}::uuid and c.platform_org_id = ${org.platformOrgId}
        and c.metadata_type = any (${metadataTypes}::text[]) and c.seen_at < ${before.toISOString()}::timestamptz
        and c.metadata_type not in (select t.metadata_type from org_component_type t
          where t.tenant_id = ${tenantId}::uuid and t.org_id = ${org.id}::uuid
            and t.platform_org_id = ${org.platformOrgId} and t.listed_at >= ${before.toISOString()}::timestamptz)
      returning c.metadata_type, c.member_name, c.last_modified_at, c.last_modified_by, c.content_hash)
    insert into org_component_change ${noteOfDeletion(tenantId, org, syncId)} from gone`.execute(db);
}

/** Makes components due because parts of them changed. @param memberNames null: all of the type. */
export const makeDue = (
  { db, tenantId }: Tx,
  org: ExplorerOrg,
  metadataType: string,
  memberNames: readonly string[] | null,
) =>
  db
    .updateTable('org_component')
    .set({ isDue: true })
    .where('tenantId', '=', tenantId)
    .where('orgId', '=', org.id)
    .where('platformOrgId', '=', org.platformOrgId)
    .where('metadataType', '=', metadataType)
    .where(sql<boolean>`(${memberNames === null} or member_name = any (${memberNames ?? []}::text[]))`)
    .where('isIndexOnly', '=', false)
    .execute();

/** Removes what is kept of the sandbox that this org was before it was refreshed. */
export async function forgetFormerOrg({ db, tenantId }: Tx, org: ExplorerOrg): Promise<void> {
  for (const table of ['org_component', 'org_component_type', 'org_component_change'] as const)
    await db
      .deleteFrom(table)
      .where('tenantId', '=', tenantId)
      .where('orgId', '=', org.id)
      .where('platformOrgId', '!=', org.platformOrgId)
      .execute();
}
