import { sql } from 'kysely';
import { isOneOf } from '../../kernel/data/conditions.ts';
import type { Role } from '../../kernel/shared/actor.ts';
import { newId } from '../../kernel/shared/ids.ts';
import type { Tx } from '../../unit-of-work.ts';
import type { UserRow } from './users.queries.ts';

/** Changes of a tenant's memberships wait for each other, so that what they find holds until they are committed. */
export async function lockMemberships({ db, tenantId }: Tx): Promise<void> {
  await sql`select pg_advisory_xact_lock(hashtextextended(${`memberships:${tenantId}`}, 0))`.execute(db);
}

/** A user of the tenant, whose memberships count once the invitation is accepted. */
type Placed = Pick<UserRow, 'id' | 'isInvited'>;

/** Both tables have the same columns. */
const tableOf = ({ isInvited }: Placed): 'membership' =>
  (isInvited ? 'invited_membership' : 'membership') as 'membership';

/** How many people own the tenant; somebody who is only invited does not. */
export async function countOwners({ db, tenantId }: Tx): Promise<number> {
  const { owners } = await db
    .selectFrom('membership')
    .where('tenantId', '=', tenantId)
    .where('role', '=', 'owner')
    .select(sql<number>`count(distinct user_id)::int`.as('owners'))
    .executeTakeFirstOrThrow();
  return owners;
}

/** What the tenant calls a user. */
export async function putName(
  { db, tenantId }: Tx,
  { id: userId, isInvited }: Placed,
  { firstName, lastName }: { firstName: string; lastName: string },
): Promise<void> {
  if (isInvited) {
    await db
      .updateTable('invited_user')
      .set({ firstName, lastName, updatedAt: sql`now()` })
      .where('tenantId', '=', tenantId)
      .where('id', '=', userId)
      .execute();
    return;
  }
  await db
    .insertInto('user_profile')
    .values({ tenantId, userId, firstName, lastName })
    .onConflict((conflict) =>
      conflict.columns(['tenantId', 'userId']).doUpdateSet({ firstName, lastName, updatedAt: sql`now()` }),
    )
    .execute();
}

/** The id of a team, which is made when it is missing. */
export async function putTeam({ db, tenantId }: Tx, slug: string): Promise<string> {
  await db
    .insertInto('team')
    .values({ id: newId(), tenantId, slug })
    .onConflict((conflict) => conflict.columns(['tenantId', 'slug']).doNothing())
    .execute();
  const { id } = await db
    .selectFrom('team')
    .where('tenantId', '=', tenantId)
    .where('slug', '=', slug)
    .select('id')
    .executeTakeFirstOrThrow();
  return id;
}

/** The tenant's teams of these slugs. */
export const findTeams = ({ db, tenantId }: Tx, slugs: readonly string[]) =>
  db
    .selectFrom('team')
    .where('tenantId', '=', tenantId)
    .where((eb) => isOneOf(eb, 'slug', slugs))
    .select(['id', 'slug'])
    .execute();

/** A membership in a team, made or given another role; answers its id. */
export async function putMembership({ db, tenantId }: Tx, user: Placed, teamId: string, role: Role): Promise<string> {
  const { id } = await db
    .insertInto(tableOf(user))
    .values({ id: newId(), tenantId, teamId, userId: user.id, role })
    .onConflict((conflict) =>
      conflict.columns(['tenantId', 'teamId', 'userId']).doUpdateSet({ role, updatedAt: sql`now()` }),
    )
    .returning('id')
    .executeTakeFirstOrThrow();
  return id;
}

/** Leaves a user in exactly these teams: with the role that they have there, or in new ones with the given one. */
export async function putMemberships(
  { db, tenantId }: Tx,
  user: Placed,
  teamIds: readonly string[],
  role: Role,
): Promise<void> {
  await db
    .deleteFrom(tableOf(user))
    .where('tenantId', '=', tenantId)
    .where('userId', '=', user.id)
    .where(sql<boolean>`team_id <> all (${teamIds}::uuid[])`)
    .execute();
  await db
    .insertInto(tableOf(user))
    .columns(['id', 'tenantId', 'teamId', 'userId', 'role'])
    .expression(
      sql`select uuidv7(), ${tenantId}::uuid, team_id, ${user.id}::uuid, ${role} from unnest(${teamIds}::uuid[]) as t (team_id)`,
    )
    .onConflict((conflict) => conflict.columns(['tenantId', 'teamId', 'userId']).doNothing())
    .execute();
}

const teamOf = (tenantId: string, slug: string) =>
  sql<string>`(select id from team where tenant_id = ${tenantId} and slug = ${slug})`;

/** Gives a user the role in one team, or in all of theirs. */
export async function setRole({ db, tenantId }: Tx, user: Placed, role: Role, team?: string): Promise<void> {
  let memberships = db
    .updateTable(tableOf(user))
    .set({ role, updatedAt: sql`now()` })
    .where('tenantId', '=', tenantId)
    .where('userId', '=', user.id)
    .where('role', '<>', role);
  if (team !== undefined) memberships = memberships.where('teamId', '=', teamOf(tenantId, team));
  await memberships.execute();
}

/** Removes a user from one team, or from all of the tenant's; answers the memberships that ended. */
export function removeMemberships({ db, tenantId }: Tx, user: Placed, team?: string): Promise<{ id: string }[]> {
  let memberships = db.deleteFrom(tableOf(user)).where('tenantId', '=', tenantId).where('userId', '=', user.id);
  if (team !== undefined) memberships = memberships.where('teamId', '=', teamOf(tenantId, team));
  return memberships.returning('id').execute();
}

/** Removes what the tenant keeps of a person who is in none of its teams any more, and ends their sessions there. */
export async function removeFromTenant({ db, tenantId }: Tx, { id: userId, isInvited }: Placed): Promise<void> {
  if (isInvited) {
    await db.deleteFrom('invited_user').where('tenantId', '=', tenantId).where('id', '=', userId).execute();
    return;
  }
  await db.deleteFrom('tenant_user').where('tenantId', '=', tenantId).where('userId', '=', userId).execute();
  await db.deleteFrom('user_profile').where('tenantId', '=', tenantId).where('userId', '=', userId).execute();
  await db.deleteFrom('invitation').where('tenantId', '=', tenantId).where('userId', '=', userId).execute();
  await db
    .updateTable('auth_session')
    .set({ revokedAt: sql`now()` })
    .where('tenantId', '=', tenantId)
    .where('userId', '=', userId)
    .where('revokedAt', 'is', null)
    .execute();
}

/** Somebody who is added by an address, whether or not there is an account of that address. */
export async function addInvited(
  { db, tenantId, actor }: Tx,
  { email, firstName, lastName }: { email: string; firstName: string; lastName: string },
): Promise<Placed> {
  const id = newId();
  await db
    .insertInto('invited_user')
    .values({ id, tenantId, email: email.toLowerCase(), firstName, lastName, invitedBy: actor.email })
    .execute();
  return { id, isInvited: true };
}
