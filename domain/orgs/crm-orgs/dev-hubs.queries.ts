import { sql } from 'kysely';
import type { Reads } from '../../kernel/data/fenced-reads.ts';
import { ORGS_MAX, orgsOf } from './crm-orgs.queries.ts';

/** Dev hubs, the default first. */
export const devHubs = ({ db, tenantId }: Reads) =>
  orgsOf(db)
    .where('o.tenantId', '=', tenantId)
    .where('o.isDevHub', '=', true)
    .orderBy('o.isDefault', 'desc')
    .orderBy('o.username')
    .limit(sql.lit(ORGS_MAX))
    .execute();

/** The first of these dev hubs that is registered. */
export const firstDevHub = ({ db, tenantId }: Reads, usernames: readonly string[]) =>
  orgsOf(db)
    .innerJoin(
      sql<{ username: string; place: string }>`unnest(${usernames}::text[]) with ordinality`.as<'named'>(
        sql`named (username, place)`,
      ),
      (join) => join.on(sql`lower(named.username)`, '=', sql`lower(o.username)`),
    )
    .where('o.tenantId', '=', tenantId)
    .where('o.isDevHub', '=', true)
    .orderBy('named.place')
    .limit(sql.lit(1))
    .executeTakeFirst();

/** A registered org, by its id. */
export const orgWithId = ({ db, tenantId }: Reads, id: string) =>
  orgsOf(db).where('o.tenantId', '=', tenantId).where('o.id', '=', id).executeTakeFirst();

export const defaultDevHub = ({ db, tenantId }: Reads) =>
  orgsOf(db).where('o.tenantId', '=', tenantId).where('o.isDefault', '=', true).executeTakeFirst();

/** The dev hubs that environments name for a scratch org. */
export async function namedDevHubs({ db, tenantId }: Reads, orgUsername: string): Promise<string[]> {
  const rows = await db
    .selectFrom('environment as e')
    .where('e.tenantId', '=', tenantId)
    .where(sql`lower(e.org_username)`, '=', sql`lower(${orgUsername})`)
    .where('e.devHubUsername', 'is not', null)
    .select('e.devHubUsername')
    .distinct()
    .execute();
  return rows.flatMap(({ devHubUsername }) => devHubUsername ?? []);
}
