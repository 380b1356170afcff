import { type RawBuilder, sql } from 'kysely';
import type { Reads } from '../../kernel/data/fenced-reads.ts';
import type { ComponentKey } from './component-files.queries.ts';
import type { ExplorerOrg } from './explorer-org.ts';

const componentsOf = ({ db, tenantId }: Reads, org: ExplorerOrg) =>
  db
    .selectFrom('org_component as c')
    .where('c.tenantId', '=', tenantId)
    .where('c.orgId', '=', org.id)
    .where('c.platformOrgId', '=', org.platformOrgId);

const after = (columns: RawBuilder<unknown>, { metadataType, memberName }: ComponentKey) =>
  sql<boolean>`${columns} > (${metadataType}, ${memberName})`;

export const findComponent = (reads: Reads, org: ExplorerOrg, { metadataType, memberName }: ComponentKey) =>
  componentsOf(reads, org)
    .where('c.metadataType', '=', metadataType)
    .where('c.memberName', '=', memberName)
    .select([
      'c.id',
      'c.metadataType',
      'c.memberName',
      'c.parentType',
      'c.lastModifiedAt',
      'c.lastModifiedBy',
      'c.manageableState',
      'c.isIndexOnly',
      'c.isDue',
      'c.contentError',
      'c.fetchedAt',
    ])
    .executeTakeFirst();

export const filesOfComponent = ({ db, tenantId }: Reads, componentId: string) =>
  db
    .selectFrom('org_component_file as f')
    .leftJoin('org_content as t', (join) =>
      join.onRef('t.tenantId', '=', 'f.tenantId').onRef('t.sha256', '=', 'f.sha256'),
    )
    .where('f.tenantId', '=', tenantId)
    .where('f.componentId', '=', componentId)
    .orderBy('f.fileName')
    .select(['f.fileName', 'f.fullName', 'f.type', 'f.state', 'f.sha256', 'f.sizeBytes', 'f.fetchedAt', 't.isText'])
    .execute();

export interface ComponentFilter {
  metadataType?: string | undefined;
  /** Beginning of the member's name, without regard to case. */
  search?: string | undefined;
}

/** The highest character of the collation, which ends the range of a prefix. */
const LAST = '\u{10FFFF}';

function filtered(reads: Reads, org: ExplorerOrg, { metadataType, search }: ComponentFilter) {
  let components = componentsOf(reads, org);
  if (metadataType !== undefined) components = components.where('c.metadataType', '=', metadataType);
  if (search !== undefined) {
    const name = sql<string>`lower(c.member_name) collate "C"`;
    const prefix = search.toLowerCase();
    components = components.where(name, '>=', prefix).where(name, '<', `${prefix}${LAST}`);
  }
  return components;
}

/** A page of components by type and name. */
export function listComponents(
  reads: Reads,
  org: ExplorerOrg,
  filter: ComponentFilter,
  { cursor, limit }: { cursor?: ComponentKey | undefined; limit: number },
) {
  let page = filtered(reads, org, filter);
  if (cursor) page = page.where(after(sql`(c.metadata_type, c.member_name)`, cursor));
  return page
    .orderBy('c.metadataType')
    .orderBy('c.memberName')
    .limit(sql.lit(limit))
    .select([
      'c.metadataType',
      'c.memberName',
      'c.fileName',
      'c.lastModifiedAt',
      'c.lastModifiedBy',
      'c.manageableState',
      'c.contentHash',
      'c.fetchedAt',
    ])
    .execute();
}

/** How many components a search finds. */
export async function countFound(
  reads: Reads,
  org: ExplorerOrg,
  filter: ComponentFilter & { search: string },
): Promise<number> {
  const { total } = await filtered(reads, org, filter)
    .select(sql<number>`count(*)::int`.as('total'))
    .executeTakeFirstOrThrow();
  return total;
}

/** How many components are kept of the org. */
export async function countComponents({ db, tenantId }: Reads, org: ExplorerOrg): Promise<number> {
  const { total } = await db
    .selectFrom('org_component_type')
    .where('tenantId', '=', tenantId)
    .where('orgId', '=', org.id)
    .where('platformOrgId', '=', org.platformOrgId)
    .select(sql<number>`coalesce(sum(component_count), 0)::int`.as('total'))
    .executeTakeFirstOrThrow();
  return total;
}

export interface ChangeCursor {
  detectedAt: string;
  id: string;
}

/** What syncs found changed since a time, the newest first. */
export function listChanges(
  { db, tenantId }: Reads,
  org: ExplorerOrg,
  { since, metadataType }: { since?: Date | undefined; metadataType?: string | undefined },
  { cursor, limit }: { cursor?: ChangeCursor | undefined; limit: number },
) {
  let changes = db
    .selectFrom('org_component_change')
    .where('tenantId', '=', tenantId)
    .where('orgId', '=', org.id)
    .where('platformOrgId', '=', org.platformOrgId);
  if (since) changes = changes.where('detectedAt', '>=', since.toISOString());
  if (metadataType !== undefined) changes = changes.where('metadataType', '=', metadataType);
  if (cursor)
    changes = changes.where(sql<boolean>`(detected_at, id) < (${cursor.detectedAt}::timestamptz, ${cursor.id}::uuid)`);
  return changes
    .orderBy('detectedAt', 'desc')
    .orderBy('id', 'desc')
    .limit(sql.lit(limit))
    .select([
      'id',
      'metadataType',
      'memberName',
      'change',
      'modifiedAt',
      'modifiedBy',
      'beforeHash',
      'afterHash',
      'detectedAt',
      'syncId',
    ])
    .execute();
}

/** Changes that a sync found, counted. */
export async function countChanges({ db, tenantId }: Reads, orgId: string, syncId: string) {
  const rows = await db
    .selectFrom('org_component_change')
    .where('tenantId', '=', tenantId)
    .where('orgId', '=', orgId)
    .where('syncId', '=', syncId)
    .groupBy('change')
    .select(['change', sql<number>`count(*)::int`.as('count')])
    .execute();
  const counts = Object.fromEntries(rows.map(({ change, count }) => [change, count]));
  return { created: counts.created ?? 0, changed: counts.changed ?? 0, deleted: counts.deleted ?? 0 };
}
