import { sql } from 'kysely';
import type { Database } from '../data/tables.ts';
import type { Actor, Role } from '../shared/actor.ts';
import { tenantSlugOf } from '../tenants/tenants.queries.ts';
import { hashSecret } from '../auth/secrets.ts';

/** Finds the person whom an open invitation lets set a password: not used, not expired, still a member, no password yet. */
export type FindInvited = (token: string) => Promise<Actor | undefined>;

/** @param database with the application's role, outside any tenant. */
export const createFindInvited =
  (database: Database): FindInvited =>
  async (token) => {
    type Invited = { tenantId: string; userId: string; email: string; role: Role };
    const found = await database
      .selectFrom(sql<Invited>`open_invitation(${hashSecret(token)})`.as('i'))
      .select(['i.tenantId', tenantSlugOf('i.tenantId'), 'i.userId as id', 'i.email', 'i.role'])
      .executeTakeFirst();
    return found && { type: 'user', ...found };
  };

/** Invitations of a person in the last hour, of whichever tenants; counted while nobody else invites the person. */
export async function countRecentInvitations(db: Database, userId: string): Promise<number> {
  const { invitations } = await db
    .selectNoFrom(sql<number>`count_invitations(${userId}, interval '1 hour')`.as('invitations'))
    .executeTakeFirstOrThrow();
  return invitations;
}

/** Spends the invitation and sets the first password; false when another request was faster. */
export async function useInvitation(db: Database, token: string, passwordHash: string): Promise<boolean> {
  const { isUsed } = await db
    .selectNoFrom(sql<boolean>`use_invitation(${hashSecret(token)}, ${passwordHash})`.as('isUsed'))
    .executeTakeFirstOrThrow();
  return isUsed;
}
