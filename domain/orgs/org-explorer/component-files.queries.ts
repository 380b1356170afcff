import { sql } from 'kysely';
import { batch, insertBatch } from '../../kernel/data/batches.ts';
import type { Reads } from '../../kernel/data/fenced-reads.ts';
import { newId } from '../../kernel/shared/ids.ts';
import type { Tx } from '../../unit-of-work.ts';
import type { FileState } from './explorer-rules.ts';
import type { ExplorerOrg } from './explorer-org.ts';

export interface ComponentKey {
  metadataType: string;
  memberName: string;
}

const inOrg = ({ db, tenantId }: Reads, org: ExplorerOrg) =>
  db
    .selectFrom('org_component as c')
    .where('c.tenantId', '=', tenantId)
    .where('c.orgId', '=', org.id)
    .where('c.platformOrgId', '=', org.platformOrgId);

const dueIn = (reads: Reads, org: ExplorerOrg, metadataTypes: readonly string[] | null) =>
  inOrg(reads, org)
    .where('c.isDue', '=', true)
    .where(sql<boolean>`(${metadataTypes === null} or c.metadata_type = any (${metadataTypes ?? []}::text[]))`);

/** The next components whose source has to be retrieved; those that could not be retrieved before come last, alone. */
export async function dueComponents(
  reads: Reads,
  org: ExplorerOrg,
  { metadataTypes, limit }: { metadataTypes: readonly string[] | null; limit: number },
) {
  const due = (failedBefore: boolean) =>
    dueIn(reads, org, metadataTypes)
      .where('c.contentError', failedBefore ? 'is not' : 'is', null)
      .orderBy('c.metadataType')
      .orderBy('c.memberName')
      .limit(limit)
      .select(['c.id', 'c.metadataType', 'c.memberName', 'c.contentError'])
      .execute();
  const next = await due(false);
  return next.length > 0 ? next : due(true);
}

/** How many components wait for their source. @param metadataTypes null: of all types. */
export async function countDue(reads: Reads, org: ExplorerOrg, metadataTypes: readonly string[] | null) {
  const { due } = await dueIn(reads, org, metadataTypes)
    .select(sql<number>`count(*)::int`.as('due'))
    .executeTakeFirstOrThrow();
  return due;
}

/** Whether any component waits for its source. @param metadataTypes null: of all types. */
export const hasDue = async (reads: Reads, org: ExplorerOrg, metadataTypes: readonly string[] | null) =>
  (await dueIn(reads, org, metadataTypes).select('c.id').limit(sql.lit(1)).executeTakeFirst()) !== undefined;

/** Notes which retrieve is to bring the source of components. */
export const markRetrieved = ({ db, tenantId }: Tx, ids: readonly string[], retrieveId: string) =>
  db
    .updateTable('org_component')
    .set({ retrieveId })
    .where('tenantId', '=', tenantId)
    .where('id', '=', sql<string>`any (${ids}::uuid[])`)
    .execute();

/** The components that a retrieve was to bring and that are still due. */
export const componentsOfRetrieve = ({ db, tenantId }: Reads, orgId: string, retrieveId: string) =>
  db
    .selectFrom('org_component')
    .where('tenantId', '=', tenantId)
    .where('orgId', '=', orgId)
    .where('retrieveId', '=', retrieveId)
    .where('isDue', '=', true)
    .select(['id', 'metadataType', 'memberName', 'fileName'])
    .execute();

/**
 * Components whose source cannot be retrieved are not asked for again by this refresh; repeating it changes nothing.
 * @returns those that were due.
 */
export const leaveOut = ({ db, tenantId }: Tx, ids: readonly string[], contentError: string) =>
  db
    .updateTable('org_component')
    .set({ isDue: false, retrieveId: null, contentError })
    .where('tenantId', '=', tenantId)
    .where('id', '=', sql<string>`any (${ids}::uuid[])`)
    .where('isDue', '=', true)
    .returning(['metadataType', 'memberName'])
    .execute();

/** Makes the components due that earlier refreshes left out. @param metadataTypes null: of all types. */
export const retryLeftOut = ({ db, tenantId }: Tx, org: ExplorerOrg, metadataTypes: readonly string[] | null) =>
  db
    .updateTable('org_component')
    .set({ isDue: true })
    .where('tenantId', '=', tenantId)
    .where('orgId', '=', org.id)
    .where('platformOrgId', '=', org.platformOrgId)
    .where('contentError', 'is not', null)
    .where('isDue', '=', false)
    .where(sql<boolean>`(${metadataTypes === null} or metadata_type = any (${metadataTypes ?? []}::text[]))`)
    .execute();

/** Components with what is kept of their files, locked until the transaction ends. */
export const componentsToChange = async ({ db, tenantId }: Tx, org: ExplorerOrg, ids: readonly string[]) => {
  const components = await db
    .selectFrom('org_component as c')
    .where('c.tenantId', '=', tenantId)
    .where('c.orgId', '=', org.id)
    .where('c.id', '=', sql<string>`any (${ids}::uuid[])`)
    .select([
      'c.id',
      'c.metadataType',
      'c.memberName',
      'c.lastModifiedAt',
      'c.lastModifiedBy',
      'c.contentHash',
      'c.fetchedAt',
      'c.isIndexOnly',
    ])
    .orderBy('c.id')
    .forUpdate('c')
    .execute();
  const files = await db
    .selectFrom('org_component_file')
    .where('tenantId', '=', tenantId)
    .where('componentId', '=', sql<string>`any (${components.map(({ id }) => id)}::uuid[])`)
    .select(['componentId', 'fileName', 'sha256', 'sizeBytes'])
    .execute();
  const byComponent = Map.groupBy(files, ({ componentId }) => componentId);
  return components.map((component) => ({ ...component, files: byComponent.get(component.id) ?? [] }));
};

/** Adds components that are not there, and notes that all of them were seen. @returns them with their ids. */
export async function seeComponents(
  { db, tenantId }: Tx,
  org: ExplorerOrg,
  keys: readonly ComponentKey[],
): Promise<(ComponentKey & { id: string; isNew: boolean })[]> {
  const rows = keys
    .map((key) => ({ ...key, id: newId() }))
    .toSorted((left, right) =>
      `${left.metadataType} ${left.memberName}` < `${right.metadataType} ${right.memberName}` ? -1 : 1,
    );
  const { rows: seen } = await sql<ComponentKey & { id: string; isNew: boolean }>`
    insert into org_component as c (id, tenant_id, org_id, platform_org_id, metadata_type, member_name)
    select id, ${tenantId}::uuid, ${org.id}::uuid, ${org.platformOrgId}, metadata_type, member_name
      from ${batch('rows', rows, { id: 'uuid', metadataType: 'text', memberName: 'text' })}
    on conflict (tenant_id, org_id, platform_org_id, metadata_type, member_name) do update set seen_at = now()
    returning new.id, new.metadata_type as "metadataType", new.member_name as "memberName", old.id is null as "isNew"`.execute(
    db,
  );
  return seen;
}

/** The ones of some components that are in the index, with their ids. */
export const knownComponents = (reads: Reads, org: ExplorerOrg, keys: readonly ComponentKey[]) =>
  inOrg(reads, org)
    .innerJoin(batch('k', keys, { metadataType: 'text', memberName: 'text' }), (join) =>
      join.onRef('k.metadataType', '=', 'c.metadataType').onRef('k.memberName', '=', 'c.memberName'),
    )
    .select(['c.id', 'c.metadataType', 'c.memberName'])
    .execute();

export interface FileToKeep {
  componentId: string;
  fileName: string;
  fullName: string;
  type: string;
  state: FileState;
  sha256: string | null;
  sizeBytes: number | null;
  fetchedAt: string;
}

/** Replaces all files of the components. */
export async function replaceFiles(
  { db, tenantId }: Tx,
  componentIds: readonly string[],
  files: readonly FileToKeep[],
): Promise<void> {
  await db
    .deleteFrom('org_component_file')
    .where('tenantId', '=', tenantId)
    .where('componentId', '=', sql<string>`any (${componentIds}::uuid[])`)
    .execute();
  if (files.length === 0) return;
  await insertBatch(db, 'org_component_file', { tenantId }, files, {
    componentId: 'uuid',
    fileName: 'text',
    fullName: 'text',
    type: 'text',
    state: 'text',
    sha256: 'text',
    sizeBytes: 'int',
    fetchedAt: 'timestamptz(3)',
  }).execute();
}

/** The source of components is there. */
export const setContents = async (
  { db, tenantId }: Tx,
  components: readonly { id: string; contentHash: string | null; fetchedAt: string }[],
) =>
  sql`
    update org_component c set content_hash = n.content_hash, fetched_at = n.fetched_at, is_due = false,
      retrieve_id = null, content_error = null
    from ${batch('n', components, { id: 'uuid', contentHash: 'text', fetchedAt: 'timestamptz(3)' })}
    where c.tenant_id = ${tenantId}::uuid and c.id = n.id and c.id = any (${components.map(({ id }) => id)}::uuid[])`.execute(
    db,
  );

export const removeComponents = ({ db, tenantId }: Tx, ids: readonly string[]) =>
  db
    .deleteFrom('org_component')
    .where('tenantId', '=', tenantId)
    .where('id', '=', sql<string>`any (${ids}::uuid[])`)
    .execute();

/** Somebody asks for the source of a component. False when there is no such component. */
export async function wantSource({ db, tenantId }: Tx, org: ExplorerOrg, key: ComponentKey): Promise<boolean> {
  const wanted = await db
    .updateTable('org_component')
    .set({ isDue: true })
    .where('tenantId', '=', tenantId)
    .where('orgId', '=', org.id)
    .where('platformOrgId', '=', org.platformOrgId)
    .where('metadataType', '=', key.metadataType)
    .where('memberName', '=', key.memberName)
    .returning('id')
    .executeTakeFirst();
  return wanted !== undefined;
}
