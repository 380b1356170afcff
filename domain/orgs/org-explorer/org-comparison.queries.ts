import { sql } from 'kysely';
import { CONTENTS_OF_FOLDERS } from '../crm/component-type-rules.ts';
import type { Reads } from '../../kernel/data/fenced-reads.ts';
import type { ComponentKey } from './component-files.queries.ts';
import type { ExplorerOrg } from './explorer-org.ts';
import { type Difference, folderTypeOf } from './explorer-rules.ts';

export interface ComparedComponent extends ComponentKey {
  difference: Difference;
  leftHash: string | null;
  rightHash: string | null;
  leftModifiedAt: string | null;
  rightModifiedAt: string | null;
}

export interface Comparison {
  left: ExplorerOrg;
  right: ExplorerOrg;
  metadataType?: string | undefined;
  difference?: Difference | undefined;
  /** Types of which one side does not know its components. */
  leftOut: readonly string[];
}

/**
 * A page of the components that differ between two orgs, by type and name: those of one org alone, those whose sources
 * differ, and those of both of which it is not known. Children are part of what their parents' sources say, and managed
 * components belong to their packages.
 */
export async function compareOrgs(
  { db, tenantId }: Reads,
  { left, right, metadataType, difference, leftOut }: Comparison,
  { cursor, limit }: { cursor?: ComponentKey | undefined; limit: number },
): Promise<ComparedComponent[]> {
  const sideOf = (org: ExplorerOrg) => sql`
    select metadata_type, member_name, content_hash, last_modified_at,
      content_hash is not null and not is_due and content_error is null
        and not (is_index_only and coalesce(last_modified_at > fetched_at, false)) as is_source_known from org_component
    where tenant_id = ${tenantId}::uuid and org_id = ${org.id}::uuid and platform_org_id = ${org.platformOrgId}
      and (${metadataType === undefined} or metadata_type = ${metadataType ?? ''})
      and (${cursor === undefined} or (metadata_type, member_name) > (${cursor?.metadataType ?? ''}, ${cursor?.memberName ?? ''}))
      and metadata_type <> all (${leftOut}::text[]) and namespace_prefix is null and parent_type is null`;
  const { rows } = await sql<ComparedComponent>`
    select metadata_type as "metadataType", member_name as "memberName", d.difference,
      l.content_hash as "leftHash", r.content_hash as "rightHash",
      l.last_modified_at as "leftModifiedAt", r.last_modified_at as "rightModifiedAt"
    from (select *, true as in_left from (${sideOf(left)}) s) l
      full join (select *, true as in_right from (${sideOf(right)}) s) r using (metadata_type, member_name)
      cross join lateral (select case when r.in_right is null then 'left_only' when l.in_left is null then 'right_only'
        when not (l.is_source_known and r.is_source_known) then 'unknown'
        when l.content_hash <> r.content_hash then 'different' end as difference) d
    where d.difference is not null and (${difference === undefined} or d.difference = ${difference ?? ''})
    order by metadata_type, member_name limit ${limit}`.execute(db);
  return rows;
}

/** The packages of a branch that have a manifest: how many, and whose manifest cannot be read. */
export async function manifestsOf({ db }: Reads, projectId: string, branch: string) {
  const { rows } = await sql<{ packages: number; unreadable: string[] }>`
    select count(distinct package_name)::int as packages,
      coalesce(array_agg(distinct package_name) filter (where kind = 'unreadable'), '{}') as unreadable
    from gc_manifests(${projectId}::uuid, ${branch})`.execute(db);
  return rows[0] ?? { packages: 0, unreadable: [] };
}

export interface Unpackaged {
  projectId: string;
  branch: string;
  metadataType?: string | undefined;
  /** Types whose components are not known. */
  leftOut: readonly string[];
}

/**
 * A page of the components of the org that no manifest of the branch has. Managed ones belong to their packages, and
 * standard objects and fields to the platform; `*` does not take the contents of folders. Names are compared as they are
 * read, and folders as manifests name them: among their contents.
 */
export async function listUnpackaged(
  { db, tenantId }: Reads,
  org: ExplorerOrg,
  { projectId, branch, metadataType, leftOut }: Unpackaged,
  { cursor, limit }: { cursor?: ComponentKey | undefined; limit: number },
): Promise<(ComponentKey & { lastModifiedAt: string | null; lastModifiedBy: string | null })[]> {
  const manifestTypes = Object.fromEntries(CONTENTS_OF_FOLDERS.map((content) => [folderTypeOf(content), content]));
  const { rows } = await sql<ComponentKey & { lastModifiedAt: string | null; lastModifiedBy: string | null }>`
    with packaged as materialized (
      select distinct component_type, full_name, component_name_key(full_name) as name
      from gc_manifests(${projectId}::uuid, ${branch}) where kind = 'has')
    select c.metadata_type as "metadataType", c.member_name as "memberName", c.last_modified_at as "lastModifiedAt",
      c.last_modified_by as "lastModifiedBy"
    from org_component c
    cross join lateral (
      select coalesce(${JSON.stringify(manifestTypes)}::jsonb ->> c.metadata_type, c.metadata_type) as manifest_type) m
    where c.tenant_id = ${tenantId}::uuid and c.org_id = ${org.id}::uuid
      and c.platform_org_id = ${org.platformOrgId} and c.namespace_prefix is null
      and (${metadataType === undefined} or c.metadata_type = ${metadataType ?? ''})
      and (${cursor === undefined} or (c.metadata_type, c.member_name) > (${cursor?.metadataType ?? ''}, ${cursor?.memberName ?? ''}))
      and c.metadata_type <> all (${leftOut}::text[])
      and not (c.metadata_type = 'CustomObject' and strpos(c.member_name, '__') = 0)
      and not (c.metadata_type = 'CustomField'
        and strpos(substr(c.member_name, strpos(c.member_name, '.') + 1), '__') = 0)
      and (m.manifest_type, component_name_key(c.member_name)) not in (select component_type, name from packaged)
      and (m.manifest_type not in (select component_type from packaged where full_name = '*')
        or m.manifest_type = any (${[...CONTENTS_OF_FOLDERS]}::text[]))
    order by c.metadata_type, c.member_name limit ${limit}`.execute(db);
  return rows;
}
