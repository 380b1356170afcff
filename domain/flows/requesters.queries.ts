import type { Reads } from '../data/fenced-reads.ts';
import type { Actor } from '../shared/actor.ts';

/**
 * Ids of the people who set in motion what an actor does: a person; those who know the secret of an application token;
 * and those on whose behalf it acts.
 */
export async function peopleBehind(reads: Reads, { type, id, onBehalfOf = [] }: Actor): Promise<string[]> {
  const own = type === 'user' ? [id] : [];
  const ofToken = type === 'application' ? await peopleOfToken(reads, id) : [];
  return [...new Set([...own, ...ofToken, ...onBehalfOf])];
}

async function peopleOfToken({ db, tenantId }: Reads, id: string): Promise<string[]> {
  const token = await db
    .selectFrom('application_token')
    .where('tenantId', '=', tenantId)
    .where('id', '=', id)
    .select('peopleIds')
    .executeTakeFirst();
  return token?.peopleIds ?? [];
}
