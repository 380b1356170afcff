import { sql } from 'kysely';
import { hashSecret } from '../../kernel/encryption/secrets.ts';
import type { Reads } from '../../kernel/data/fenced-reads.ts';
import type { Database } from '../../kernel/data/tables.ts';
import type { Actor, Role } from '../../kernel/shared/actor.ts';
import { tenantSlugOf } from '../../kernel/tenants/tenants.queries.ts';

/** Whom the link of an invitation was mailed to. */
export interface Invited {
  /** The person, in the tenant that invites. */
  actor: Actor;
  /** Has not accepted yet; undefined: a member who has no password. */
  invitationId?: string;
  /** Otherwise the link sets one. */
  hasPassword: boolean;
}

/** Finds whom a link was mailed to: not used, not expired, and still invited, or a member without a password. */
export type FindInvited = (token: string) => Promise<Invited | undefined>;

/** @param database with the application's role, outside any tenant. */
export const createFindInvited =
  (database: Database): FindInvited =>
  async (token) => {
    type Opened = {
      tenantId: string;
      userId: string;
      email: string;
      role: Role;
      invitationId: string | null;
      hasPassword: boolean;
    };
    const found = await database
      .selectFrom(sql<Opened>`open_invitation(${hashSecret(token)})`.as('i'))
      .select(['i.tenantId', tenantSlugOf('i.tenantId'), 'i.userId as id', 'i.email', 'i.role'])
      .select(['i.invitationId', 'i.hasPassword'])
      .executeTakeFirst();
    if (!found) return undefined;
    const { invitationId, hasPassword, ...person } = found;
    return { actor: { type: 'user', ...person }, ...(invitationId !== null && { invitationId }), hasPassword };
  };

/** Mails to an address in the last hour by the reader's tenant, also to somebody who was removed and added again. */
export async function countRecentMails({ db, tenantId }: Reads, email: string): Promise<number> {
  const { mails } = await db
    .selectFrom('invitation')
    .where('tenantId', '=', tenantId)
    .where('email', '=', email)
    .where('createdAt', '>', sql<string>`now() - interval '1 hour'`)
    .select(sql<number>`count(*)::int`.as('mails'))
    .executeTakeFirstOrThrow();
  return mails;
}

/**
 * Spends the link: accepts the invitation, and sets the password of somebody who has none. False when another request
 * was faster, or a password is missing.
 */
export async function useInvitation(db: Database, token: string, passwordHash: string | null): Promise<boolean> {
  const { isUsed } = await db
    .selectNoFrom(sql<boolean>`use_invitation(${hashSecret(token)}, ${passwordHash})`.as('isUsed'))
    .executeTakeFirstOrThrow();
  return isUsed;
}

interface OpenInvitation {
  id: string;
  tenantId: string;
  email: string;
  invitedBy: string;
  role: Role;
  teams: string[];
  createdAt: string;
}

/** The invitations to any address of a person, oldest first, of whichever tenants. */
export const invitationsOf = (database: Database, personId: string) =>
  database
    .selectFrom(sql<OpenInvitation>`invitations_of(${personId})`.as('i'))
    .select(['i.id', 'i.tenantId', tenantSlugOf('i.tenantId'), 'i.email', 'i.invitedBy', 'i.role', 'i.teams'])
    .select('i.createdAt')
    .execute();

/**
 * Makes an invited user a member: the account of the address, which is made when there is none.
 * @param personId the account, or the invitation's own id for an address without one. False: it is not theirs.
 */
export async function turnIntoMember(db: Database, invitationId: string, personId: string): Promise<boolean> {
  const { account } = await db
    .selectNoFrom(sql<string | null>`accept_invitation(${invitationId}, ${personId})`.as('account'))
    .executeTakeFirstOrThrow();
  return account !== null;
}

/** The invitation of an address to the reader's tenant, and the account that the address has. */
export const invitationOfAddress = ({ db, tenantId }: Reads, address: string) =>
  db
    .selectFrom('invited_user')
    .where('tenantId', '=', tenantId)
    .where('email', '=', address.toLowerCase())
    .select(['id', sql<string | null>`user_of_address(email)`.as('userId')])
    .executeTakeFirst();
