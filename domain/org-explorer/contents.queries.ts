import { sql } from 'kysely';
import { batch } from '../data/batches.ts';
import type { Database } from '../data/tables.ts';
import type { Tx } from '../unit-of-work.ts';

/** How long nobody may have used a content before it is removed, in hours. */
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

/** Those of the contents that are in the store, with their sizes; they stay there for a day. */
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

/** Begins to remove contents of all tenants that no file has and nobody used for a day; `system` has the role of the system. */
export const beginRemoval = async (system: Database, limit: number) => {
  const { rows } = await sql<{ tenantId: string; sha256: string; removingSince: string }>`
    with unused as (
      select c.tenant_id, c.sha256 from org_content c
      where c.used_at < now() - make_interval(hours => ${sql.lit(UNUSED_HOURS)})
        and (c.removing_since is null or c.removing_since < now() - make_interval(mins => ${sql.lit(REMOVAL_MINUTES)}))
        and not exists (select from org_component_file f where f.tenant_id = c.tenant_id and f.sha256 = c.sha256)
      order by c.used_at limit ${limit} for update skip locked)
    update org_content c set removing_since = now() from unused u
    where c.tenant_id = u.tenant_id and c.sha256 = u.sha256
    returning c.tenant_id as "tenantId", c.sha256, c.removing_since as "removingSince"`.execute(system);
  return rows;
};

/** The object is gone: so is its row, unless somebody claimed it anew. */
export const endRemoval = (system: Database, { tenantId, sha256 }: { tenantId: string; sha256: string }) =>
  system
    .deleteFrom('org_content')
    .where('tenantId', '=', tenantId)
    .where('sha256', '=', sha256)
    .where('removingSince', 'is not', null)
    .execute();
