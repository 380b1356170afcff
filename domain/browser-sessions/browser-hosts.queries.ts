import { sql } from 'kysely';
import { isOneOf } from '../data/conditions.ts';
import type { NewRow } from '../data/statement.ts';
import type { Database } from '../data/tables.ts';
import { OPEN_STATUSES } from './session-rules.ts';

/** What a host says of itself; see the entity. */
export type HostSaying = Pick<
  NewRow<'browser_host'>,
  'id' | 'name' | 'queue' | 'isolation' | 'records' | 'places' | 'startedAt'
> & { address: string | null; startUrlKey: string | null; trouble: string | null; placesUsed: number };

/** A sign of life of a host, which is known from its first one on. */
export async function hostLives(system: Database, host: HostSaying): Promise<void> {
  const { placesUsed, places } = host;
  await system
    .insertInto('browser_host')
    .values({ ...host, seenAt: sql<string>`now()` })
    .onConflict((conflict) => conflict.column('id').doUpdateSet({ placesUsed, places, seenAt: sql<string>`now()` }))
    .execute();
}

/** Those of these sessions that a host is to run: they are provisioning or live there. */
export const openSessionsOfHost = async (
  system: Database,
  hostId: string,
  sessionIds: readonly string[],
): Promise<string[]> => {
  const found = await system
    .selectFrom('browser_session')
    .where('hostId', '=', hostId)
    .where('id', '=', sql<string>`any (${sessionIds}::uuid[])`)
    .where((eb) => isOneOf(eb, 'status', OPEN_STATUSES))
    .select('id')
    .execute();
  return found.map(({ id }) => id);
};

/** Forgets a host that has stopped, and that nothing is asked of any more. */
export const forgetHost = async (system: Database, id: string): Promise<void> => {
  await system.deleteFrom('browser_host').where('id', '=', id).execute();
};
