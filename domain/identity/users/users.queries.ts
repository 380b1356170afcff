import { sql } from 'kysely';
import type { Reads } from '../../kernel/data/fenced-reads.ts';
import type { Database } from '../../kernel/data/tables.ts';
import type { Role } from '../../kernel/shared/actor.ts';
import { newId } from '../../kernel/shared/ids.ts';

/** A user as the tenant sees it. */
export interface UserRow {
  id: string;
  firstName: string;
  lastName: string;
  email: string;
  /** The highest of the user's memberships in the tenant. */
  role: Role;
  /** Slugs, sorted. */
  teams: string[];
  /** Added, but not accepted: without any rights. The id then is the invitation's. */
  isInvited: boolean;
}

/** Each user's highest role and teams. Invited users have memberships of the same shape in a table of their own. */
const placesOf = ({ db, tenantId }: Reads, table: 'membership' | 'invited_membership') =>
  db
    .selectFrom(`${table as 'membership'} as m`)
    .innerJoin('team as t', (join) => join.onRef('t.tenantId', '=', 'm.tenantId').onRef('t.id', '=', 'm.teamId'))
    .where('m.tenantId', '=', tenantId)
    .groupBy('m.userId')
    .select([
      'm.userId',
      sql<Role>`(array_agg(m.role order by role_rank(m.role) desc))[1]`.as('role'),
      sql<string[]>`array_agg(t.slug order by t.slug)`.as('teams'),
    ]);

const membersOf = ({ db, tenantId }: Reads) =>
  db
    .selectFrom(placesOf({ db, tenantId }, 'membership').as('s'))
    .innerJoin('user_account as u', 'u.id', 's.userId')
    .leftJoin('user_profile as p', (join) => join.on('p.tenantId', '=', tenantId).onRef('p.userId', '=', 's.userId'))
    .select((eb) => [
      'u.id',
      eb.fn.coalesce('p.firstName', sql.lit('')).as('firstName'),
      eb.fn.coalesce('p.lastName', sql.lit('')).as('lastName'),
      'u.email',
      's.role',
      's.teams',
      sql<boolean>`false`.as('isInvited'),
    ]);

const invitedTo = ({ db, tenantId }: Reads) =>
  db
    .selectFrom(placesOf({ db, tenantId }, 'invited_membership').as('s'))
    .innerJoin('invited_user as u', 'u.id', 's.userId')
    .select(['u.id', 'u.firstName', 'u.lastName', 'u.email', 's.role', 's.teams', sql<boolean>`true`.as('isInvited')]);

/** By the id of the account or of the invitation. */
export const findUser = async (reads: Reads, userId: string): Promise<UserRow | undefined> =>
  (await membersOf(reads).where('u.id', '=', userId).executeTakeFirst()) ??
  invitedTo(reads).where('u.id', '=', userId).executeTakeFirst();

/**
 * By the primary address or by any other of the user's; invited users by the address alone to which they were invited,
 * so that nothing shows of the accounts that they may have.
 */
export const findUserByAddress = async (reads: Reads, address: string): Promise<UserRow | undefined> =>
  (await memberByAddress(reads, address)) ??
  invitedTo(reads).where('u.email', '=', sql<string>`lower(${address})`).executeTakeFirst();

const memberByAddress = (reads: Reads, address: string): Promise<UserRow | undefined> =>
  membersOf(reads)
    .where('u.id', '=', (eb) =>
      eb.selectFrom('user_alias as a').where('a.email', '=', sql<string>`lower(${address})`).select('a.userId'),
    )
    .executeTakeFirst();

/** The open invitations of the tenant to addresses of a person. */
export const invitedByOtherAddresses = (reads: Reads, personId: string): Promise<UserRow[]> =>
  invitedTo(reads).where(sql<string>`user_of_address(u.email)`, '=', personId).execute();

/** By the name that the user has at a git host. */
export const findUserByProviderName = (
  reads: Reads,
  provider: string,
  username: string,
): Promise<UserRow | undefined> =>
  membersOf(reads)
    .where('u.id', '=', (eb) =>
      eb
        .selectFrom('user_identity as i')
        .where('i.provider', '=', provider)
        .where('i.username', '=', sql<string>`lower(${username})`)
        .select('i.userId'),
    )
    .executeTakeFirst();

export interface UserFilter {
  /** This user alone. */
  id?: string | undefined;
  team?: string | undefined;
  role?: Role | undefined;
  limit: number;
  offset: number;
}

/** The tenant's users by address, invited ones included, those of a team or a role, and how many there are in all. */
export async function listUsers(
  reads: Reads,
  { id, team, role, limit, offset }: UserFilter,
): Promise<{ items: UserRow[]; total: number }> {
  let users = reads.db.selectFrom(membersOf(reads).unionAll(invitedTo(reads)).as('u'));
  if (id !== undefined) users = users.where('u.id', '=', id);
  if (team !== undefined) users = users.where(sql<boolean>`${team} = any (u.teams)`);
  if (role !== undefined) users = users.where('u.role', '=', role);
  const items = await users
    .orderBy('u.email')
    .orderBy('u.id')
    .limit(limit)
    .offset(offset)
    .select(['u.id', 'u.firstName', 'u.lastName', 'u.email', 'u.role', 'u.teams', 'u.isInvited'])
    .execute();
  const { total } = await users.select(sql<number>`count(*)::int`.as('total')).executeTakeFirstOrThrow();
  return { items, total };
}

/** The person of an address, who is made when the service knows nobody by it. */
export async function personOfAddress(db: Database, address: string): Promise<{ userId: string; isNew: boolean }> {
  return db
    .selectFrom(sql<{ userId: string; isNew: boolean }>`person_of_address(${address}, ${newId()})`.as('p'))
    .select(['p.userId', 'p.isNew'])
    .executeTakeFirstOrThrow();
}

/** How a user signs in and is found: for that user alone. */
export async function authDataOf({ db }: Reads, userId: string): Promise<Record<string, unknown>> {
  const aliases = sql`(select coalesce(jsonb_agg(jsonb_build_object('email', a.email, 'provider', a.provider) order by a.email), '[]')
    from user_alias a where a.user_id = u.id and a.email <> u.email)`;
  const identities = sql`(select coalesce(jsonb_agg(jsonb_build_object('provider', i.provider, 'username', i.username) order by i.provider, i.username), '[]')
    from user_identity i where i.user_id = u.id)`;
  const user = await db
    .selectFrom('user_account as u')
    .where('u.id', '=', userId)
    .select(
      sql<Record<string, unknown>>`u.auth_data || jsonb_build_object(
        'hasPassword', u.password_hash is not null, 'aliases', ${aliases}, 'identities', ${identities})`.as('authData'),
    )
    .executeTakeFirst();
  return user?.authData ?? {};
}

/** Most teams of a list. */
export const TEAMS_MAX = 1_000;

/** The tenant's teams by slug, at most `TEAMS_MAX`. */
export const listTeams = ({ db, tenantId }: Reads) =>
  db
    .selectFrom('team as t')
    .where('t.tenantId', '=', tenantId)
    .orderBy('t.slug')
    .limit(sql.lit(TEAMS_MAX))
    .select([
      't.id',
      't.slug',
      't.createdAt',
      // People who are invited included.
      sql<number>`(select count(*)::int from membership m where m.tenant_id = t.tenant_id and m.team_id = t.id)
        + (select count(*)::int from invited_membership m where m.tenant_id = t.tenant_id and m.team_id = t.id)`.as(
        'members',
      ),
    ])
    .execute();
