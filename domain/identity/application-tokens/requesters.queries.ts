import { sql } from 'kysely';
import type { Reads } from '../../kernel/data/fenced-reads.ts';
import type { Actor } from '../../kernel/shared/actor.ts';

/**
 * Ids of the people who set in motion what an actor does: a person; those who know the secret of an application token;
 * and those on whose behalf it acts.
 */
export async function peopleBehind(reads: Reads, { type, id, onBehalfOf = [] }: Actor): Promise<string[]> {
  const own = type === 'user' ? [id] : [];
  const ofToken = type === 'application' ? await peopleOfToken(reads, id) : [];
  return [...new Set([...own, ...ofToken, ...onBehalfOf])];
}

/** By a function of the database, since a token that is limited to projects does not see tokens. */
async function peopleOfToken({ db }: Reads, id: string): Promise<string[]> {
  const { people } = await db
    .selectNoFrom(sql<string[] | null>`people_of_token(${id})`.as('people'))
    .executeTakeFirstOrThrow();
  return people ?? [];
}
