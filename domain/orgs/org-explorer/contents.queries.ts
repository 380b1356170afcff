import { sql } from 'kysely';
import { batch } from '../../kernel/data/batches.ts';
import type { Database } from '../../kernel/data/tables.ts';
import type { Tx } from '../../unit-of-work.ts';

/** How long nobody may have used a content, or found a file with it, before it is removed, in hours. */
const UNUSED_HOURS = 24;
/** A removal that began so long ago came to no end. */
const REMOVAL_MINUTES = 5;

interface ClaimedContent {
  sha256: string;
  sizeBytes: number;
  isText: boolean;
}

/**
 * Notes that these contents are about to be used. What `isStored` is in the store and stays there for a day; what
 * `isRemoving` can be claimed again in moments.
 */
export const claimContents = async ({ db, tenantId }: Tx, contents: readonly ClaimedContent[]) => {
  // In one order, so that two transactions never wait for each other.
  const rows = contents
    .map(({ sha256, sizeBytes, isText }) => ({ sha256, sizeBytes, isText }))
    .toSorted((left, right) => (left.sha256 < right.sha256 ? -1 : 1));
  const isOver = sql`c.removing_since < now() - make_interval(mins => ${sql.lit(REMOVAL_MINUTES)})`;
  const { rows: claimed } = await sql<{ sha256: string; isStored: boolean; isRemoving: boolean }>`
    insert into org_content as c (tenant_id, sha256, size_bytes, is_text)
    select ${tenantId}::uuid, sha256, size_bytes, is_text
      from ${batch('rows', rows, { sha256: 'text', sizeBytes: 'int', isText: 'boolean' })}
    on conflict (tenant_id, sha256) do update set used_at = now(),
      stored_at = case when ${isOver} then null else c.stored_at end,
      removing_since = case when ${isOver} then null else c.removing_since end
    returning c.sha256, c.stored_at is not null as "isStored", c.removing_since is not null as "isRemoving"`.execute(
    db,
  );
  return claimed;
};

export const markStored = ({ db, tenantId }: Tx, digests: readonly string[]) =>
  db
    .updateTable('org_content')
    .set({ storedAt: sql<string>`now()` })
    .where('tenantId', '=', tenantId)
    .where('sha256', '=', sql<string>`any (${[...digests].toSorted()}::text[])`)
    .execute();

/** The ones of some contents that are in the store, with their sizes; they stay there for a day. */
export const useStored = ({ db, tenantId }: Tx, digests: readonly string[]) =>
  db
    .updateTable('org_content')
    .set({ usedAt: sql<string>`now()` })
    .where('tenantId', '=', tenantId)
    .where('sha256', '=', sql<string>`any (${digests}::text[])`)
    .where('storedAt', 'is not', null)
    .where('removingSince', 'is', null)
    .returning(['sha256', 'sizeBytes'])
    .execute();

interface ContentKey {
  tenantId: string;
  sha256: string;
}

const IS_UNUSED = sql<boolean>`
  c.used_at < now() - make_interval(hours => ${sql.lit(UNUSED_HOURS)})
  and (c.removing_since is null or c.removing_since < now() - make_interval(mins => ${sql.lit(REMOVAL_MINUTES)}))`;
const HAS_FILE = sql<boolean>`
  exists (select from org_component_file f where f.tenant_id = c.tenant_id and f.sha256 = c.sha256)`;

/**
 * Contents of all tenants that no file has and nobody used for a day, of so many that nobody looked at for a day; those
 * with files are looked at again a day later. `system` has the role of the system.
 */
export const unusedContents = async (system: Database, limit: number): Promise<ContentKey[]> => {
  const { rows } = await sql<ContentKey>`
    with old as materialized (
      select c.tenant_id, c.sha256, ${HAS_FILE} as has_file from org_content c
      where ${IS_UNUSED} order by c.used_at limit ${limit} for update skip locked),
    kept as (
      update org_content c set used_at = now() from old
      where old.has_file and c.tenant_id = old.tenant_id and c.sha256 = old.sha256)
    select tenant_id as "tenantId", sha256 from old where not has_file`.execute(system);
  return rows;
};

/** Nobody can claim the content from now on, until its removal ends. Undefined when it came to be used meanwhile. */
export const beginRemoval = async (system: Database, { tenantId, sha256 }: ContentKey) => {
  const { rows } = await sql<{ removingSince: string }>`
    update org_content c set removing_since = now()
    where c.tenant_id = ${tenantId}::uuid and c.sha256 = ${sha256} and ${IS_UNUSED} and not ${HAS_FILE}
    returning c.removing_since as "removingSince"`.execute(system);
  return rows[0]?.removingSince;
};

/** The object is gone: so is its row, unless the removal took too long and somebody claimed it. */
export const endRemoval = (system: Database, { tenantId, sha256 }: ContentKey, removingSince: string) =>
  system
    .deleteFrom('org_content')
    .where('tenantId', '=', tenantId)
    .where('sha256', '=', sha256)
    .where('removingSince', '=', removingSince)
    .execute();
