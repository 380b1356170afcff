import { sql, type Updateable } from 'kysely';
import { json } from '../../kernel/data/columns.ts';
import { secondsAgo } from '../../kernel/data/conditions.ts';
import type { Reads } from '../../kernel/data/fenced-reads.ts';
import type { Database, Tables } from '../../kernel/data/tables.ts';
import { newId } from '../../kernel/shared/ids.ts';
import { tenantSlugOf } from '../../kernel/tenants/tenants.queries.ts';
import type { Tx } from '../../unit-of-work.ts';
import type { ExplorerOrg } from './explorer-org.ts';
import type { FailedType } from './explorer-rules.ts';

const COLUMNS = [
  'id',
  'orgId',
  'platformOrgId',
  'source',
  'status',
  'metadataTypes',
  'requestedBy',
  'createdAt',
  'startedAt',
  'finishedAt',
  'step',
  'message',
  'typesCount',
  'componentsCount',
  'filesRetrieved',
  'failedTypes',
  'durationMs',
] as const;

export type SyncRow = Awaited<ReturnType<typeof openSyncs>>[number];

/** What is requested and what is running of an org: at most one of each. */
export const openSyncs = ({ db, tenantId }: Reads, orgId: string) =>
  db
    .selectFrom('org_sync')
    .where('tenantId', '=', tenantId)
    .where('orgId', '=', orgId)
    .where('status', 'in', sql<never>`('requested', 'running')`)
    .select(COLUMNS)
    .orderBy('status', 'desc')
    .execute();

/** The sync of the org that ended last; of a sandbox that was refreshed since, none counts. */
export const endedSync = ({ db, tenantId }: Reads, orgId: string, platformOrgId: string) =>
  db
    .selectFrom('org_sync')
    .where('tenantId', '=', tenantId)
    .where('orgId', '=', orgId)
    .where('status', 'in', sql<never>`('succeeded', 'failed')`)
    .where((eb) => eb.or([eb('platformOrgId', '=', platformOrgId), eb('platformOrgId', 'is', null)]))
    .select(COLUMNS)
    // Nothing changes one that ended. `finishedAt` is by the clock of whoever reported it.
    .orderBy('updatedAt', 'desc')
    .orderBy('id', 'desc')
    .limit(sql.lit(1))
    .executeTakeFirst();

/** Whether the service has once listed all types of the org; of a sandbox, since it was refreshed last. */
export async function wasReadWhole(
  { db, tenantId }: Reads,
  { id, platformOrgId }: Pick<ExplorerOrg, 'id' | 'platformOrgId'>,
): Promise<boolean> {
  const whole = await db
    .selectFrom('org_sync')
    .where('tenantId', '=', tenantId)
    .where('orgId', '=', id)
    .where('platformOrgId', '=', platformOrgId)
    .where('status', '=', sql<never>`'succeeded'`)
    .where('metadataTypes', 'is', null)
    .select('id')
    .limit(sql.lit(1))
    .executeTakeFirst();
  return whole !== undefined;
}

/** Asks for a refresh, or adds the types to the one that was asked for and has not begun. */
export async function requestSync(
  tx: Tx,
  orgId: string,
  metadataTypes: readonly string[] | null,
): Promise<{ id: string; isNew: boolean }> {
  const { db, tenantId, actor } = tx;
  const types = metadataTypes && json([...metadataTypes].toSorted());
  const { rows } = await sql<{ id: string; isNew: boolean }>`
    insert into org_sync as s (id, tenant_id, org_id, source, status, metadata_types, requested_by)
    values (${newId()}, ${tenantId}, ${orgId}, 'refresh', 'requested', ${types}::jsonb, ${actor.email})
    on conflict (tenant_id, org_id) where status = 'requested' do update set
      metadata_types = case when s.metadata_types is null or excluded.metadata_types is null then null
        else (select jsonb_agg(distinct t order by t)
          from jsonb_array_elements(s.metadata_types || excluded.metadata_types) t) end
    returning new.id, old.id is null as "isNew"`.execute(db);
  const [made] = rows;
  if (!made) throw new Error('a requested sync is always returned');
  tx.touch('org_sync', made.id);
  return made;
}

export async function insertIngest(
  tx: Tx,
  sync: {
    orgId: string;
    platformOrgId: string;
    metadataTypes: readonly string[];
    finishedAt: Date;
    startedAt: Date;
    durationMs: number;
    typesCount: number;
    componentsCount: number;
    filesRetrieved: number;
    failedTypes: readonly FailedType[];
  },
): Promise<{ id: string }> {
  const { db, tenantId, actor } = tx;
  const ingest = await db
    .insertInto('org_sync')
    .values({
      ...sync,
      id: newId(),
      tenantId,
      source: 'ingest',
      status: 'succeeded',
      requestedBy: actor.email,
      metadataTypes: json([...sync.metadataTypes]),
      failedTypes: json([...sync.failedTypes]),
    })
    .returning('id')
    .executeTakeFirstOrThrow();
  tx.touch('org_sync', ingest.id);
  return ingest;
}

/** Changes a sync that is open; undefined when it has ended, or went with its org. */
export async function changeOpenSync(tx: Tx, id: string, changes: Updateable<Tables['org_sync']>) {
  const { db, tenantId } = tx;
  const changed = await db
    .updateTable('org_sync')
    .set({ ...changes, updatedAt: sql<string>`now()` })
    .where('tenantId', '=', tenantId)
    .where('id', '=', id)
    .where('status', 'in', sql<never>`('requested', 'running')`)
    .returning(COLUMNS)
    .executeTakeFirst();
  if (changed) tx.touch('org_sync', id);
  return changed;
}

/** Adds to what a running sync has done so far. A type that has failed already keeps its first reason. */
export async function addProgress(
  tx: Tx,
  id: string,
  { files = 0, failedTypes = [] }: { files?: number; failedTypes?: readonly FailedType[] },
): Promise<void> {
  const { db, tenantId } = tx;
  const { numUpdatedRows } = await db
    .updateTable('org_sync')
    .set({
      filesRetrieved: sql<number>`files_retrieved + ${files}::int`,
      failedTypes: sql<never>`failed_types || (select coalesce(jsonb_agg(n), '[]')
        from jsonb_array_elements(${json([...failedTypes])}::jsonb) n
        where not exists (select from jsonb_array_elements(failed_types) f where f->'metadataType' = n->'metadataType'))`,
      updatedAt: sql<string>`now()`,
    })
    .where('tenantId', '=', tenantId)
    .where('id', '=', id)
    .where('status', '=', sql<never>`'running'`)
    .executeTakeFirstOrThrow();
  if (numUpdatedRows > 0n && (files > 0 || failedTypes.length > 0)) tx.touch('org_sync', id);
}

/** A refresh lists from the beginning, and so again what fails. */
export const restartListing = (tx: Tx, id: string) => changeOpenSync(tx, id, { failedTypes: json([]) });

/** Open refreshes of all tenants that nothing moved for so long; `system` has the role of the system. */
export const stalledSyncs = (
  system: Database,
  { requestedSeconds, runningSeconds, limit }: { requestedSeconds: number; runningSeconds: number; limit: number },
) =>
  system
    .selectFrom('org_sync as s')
    .innerJoin('crm_org as o', (join) => join.onRef('o.tenantId', '=', 's.tenantId').onRef('o.id', '=', 's.orgId'))
    .where('s.status', 'in', sql<never>`('requested', 'running')`)
    .where((eb) =>
      eb.or([
        eb('s.status', '=', 'requested').and('s.updatedAt', '<', secondsAgo(requestedSeconds)),
        eb('s.updatedAt', '<', secondsAgo(runningSeconds)),
      ]),
    )
    .orderBy('s.updatedAt')
    .limit(limit)
    .select((eb) => [
      's.tenantId',
      tenantSlugOf('s.tenantId'),
      's.orgId',
      'o.username',
      eb('s.status', '=', 'running').as('isRunning'),
    ])
    .execute();

/** Removes what is older than so many days of syncs that ended and of changes; `system` has the role of the system. */
export async function purgeHistory(system: Database, days: number): Promise<number> {
  const before = sql<string>`now() - make_interval(days => ${days}::int)`;
  const [syncs] = await system
    .deleteFrom('org_sync')
    .where('createdAt', '<', before)
    .where('status', 'in', sql<never>`('succeeded', 'failed')`)
    // The last one says what state the org is in.
    .where(sql<boolean>`exists (select from org_sync n where n.tenant_id = org_sync.tenant_id
      and n.org_id = org_sync.org_id and n.status in ('succeeded', 'failed') and n.updated_at > org_sync.updated_at)`)
    .execute();
  const [changes] = await system.deleteFrom('org_component_change').where('detectedAt', '<', before).execute();
  return Number(syncs?.numDeletedRows ?? 0) + Number(changes?.numDeletedRows ?? 0);
}
