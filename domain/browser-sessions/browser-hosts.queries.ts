import { sql } from 'kysely';
import type { NewRow } from '../data/statement.ts';
import type { Database } from '../data/tables.ts';

/** What a host says of itself; see the entity. */
export type HostSaying = Pick<
  NewRow<'browser_host'>,
  'id' | 'name' | 'queue' | 'isolation' | 'records' | 'places' | 'startedAt'
> & { address: string | null; trouble: string | null; placesUsed: number };

/** A sign of life of a host, which is known from its first one on. */
export async function hostLives(system: Database, host: HostSaying): Promise<void> {
  const { placesUsed, places } = host;
  await system
    .insertInto('browser_host')
    .values({ ...host, seenAt: sql<string>`now()` })
    .onConflict((conflict) => conflict.column('id').doUpdateSet({ placesUsed, places, seenAt: sql<string>`now()` }))
    .execute();
}

/** Forgets a host that has stopped, and that nothing is asked of any more. */
export const forgetHost = async (system: Database, id: string): Promise<void> => {
  await system.deleteFrom('browser_host').where('id', '=', id).execute();
};
