import { sql } from 'kysely';
import { LRUCache } from 'lru-cache';
import { statement } from '../data/statement.ts';
import type { Database } from '../data/tables.ts';

/** The slug of the tenant that a column names, as `tenantSlug`; also where the tenant itself cannot be read. */
export const tenantSlugOf = (column: string) => sql<string>`tenant_slug(${sql.ref(column)})`.as('tenantSlug');

const SLUGS = statement<{ ids: string[] }>()((db, { ids }) =>
  db
    .selectFrom(sql<{ id: string }>`unnest(${ids}::uuid[])`.as<'t'>(sql`t (id)`))
    .select(['t.id', tenantSlugOf('t.id')]),
);

const KNOWN_MAX = 10_000;
const known = new WeakMap<Database, LRUCache<string, string>>();

/** Rows with the slugs of their tenants. A slug never changes, so each is read once over a database's connections. */
export async function withTenantSlugs<Row extends { tenantId: string | null }>(
  database: Database,
  rows: readonly Row[],
): Promise<(Row & { tenantSlug: string })[]> {
  const slugs = known.get(database) ?? new LRUCache<string, string>({ max: KNOWN_MAX });
  known.set(database, slugs);
  const unknown = rows.flatMap(({ tenantId }) => (tenantId === null || slugs.has(tenantId) ? [] : [tenantId]));
  if (unknown.length > 0) {
    if (slugs.size > KNOWN_MAX) slugs.clear();
    for (const { id, tenantSlug } of await SLUGS(database, { ids: unknown })) slugs.set(id, tenantSlug);
  }
  return rows.map((row) => ({ ...row, tenantSlug: (row.tenantId !== null && slugs.get(row.tenantId)) || '' }));
}
