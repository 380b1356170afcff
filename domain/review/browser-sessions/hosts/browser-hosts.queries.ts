import { sql } from 'kysely';
import { isOneOf } from '../../../kernel/data/conditions.ts';
import type { Reads } from '../../../kernel/data/fenced-reads.ts';
import type { NewRow } from '../../../kernel/data/statement.ts';
import type { Database } from '../../../kernel/data/tables.ts';
import { OPEN_STATUSES } from '../session-rules.ts';

/** A host that has sent no heartbeat for so long is not counted on. */
export const HOST_SILENT_SECONDS = 15;

/** What a host says of itself; see the entity. */
export type HostSaying = Pick<
  NewRow<'browser_host'>,
  'id' | 'name' | 'queue' | 'isolation' | 'records' | 'places' | 'startedAt'
> & { address: string | null; startUrlKey: string | null; trouble: string | null; placesUsed: number };

/** A heartbeat of a host, which is known from its first one on. */
export async function hostLives(db: Database, host: HostSaying): Promise<void> {
  const { placesUsed, places } = host;
  await db
    .insertInto('browser_host')
    .values({ ...host, seenAt: sql<string>`now()` })
    .onConflict((conflict) => conflict.column('id').doUpdateSet({ placesUsed, places, seenAt: sql<string>`now()` }))
    .execute();
}

/** Whether a host lives, whether it records, and where it is reached. */
export const hostById = ({ db }: Pick<Reads, 'db'>, id: string) =>
  db
    .selectFrom('browser_host')
    .where('id', '=', id)
    .select([
      'name',
      'records',
      'trouble',
      'address',
      'startUrlKey',
      sql<boolean>`seen_at > now() - make_interval(secs => ${HOST_SILENT_SECONDS})`.as('isAlive'),
    ])
    .executeTakeFirst();

/** The ones of some sessions that a host is to run: they are provisioning or live there. */
export const openSessionsOfHost = async (
  { db, tenantId }: Reads,
  hostId: string,
  sessionIds: readonly string[],
): Promise<string[]> => {
  const found = await db
    .selectFrom('browser_session')
    .where('tenantId', '=', tenantId)
    .where('hostId', '=', hostId)
    .where('id', '=', sql<string>`any (${sessionIds}::uuid[])`)
    .where((eb) => isOneOf(eb, 'status', OPEN_STATUSES))
    .select('id')
    .execute();
  return found.map(({ id }) => id);
};

/** Forgets a host that has stopped, and that nothing is asked of any more. */
export const forgetHost = async (db: Database, id: string): Promise<void> => {
  await db.deleteFrom('browser_host').where('id', '=', id).execute();
};
