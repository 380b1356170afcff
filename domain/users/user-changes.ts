import type { Role } from '../shared/actor.ts';
import { invalidField, notFound } from '../shared/errors.ts';
import { newId } from '../shared/ids.ts';
import type { Tx } from '../unit-of-work.ts';
import { emitEvent } from '../webhooks/emit.queries.ts';
import { assertMayChange, assertMayRemove, assertHasOwner, type UserChange } from './user-rules.ts';
import { findUser, findUserByAddress, type UserRow } from './users.queries.ts';

interface Membership {
  id: string;
  team: string;
  role: Role;
}

/** Changes of a tenant's memberships wait for each other, so that what they find holds until they are committed. */
const lockMemberships = ({ sql, tenantId }: Tx) =>
  sql('select pg_advisory_xact_lock(hashtextextended(?, 0))', [`memberships:${tenantId}`]);

async function assertOwnersRemain({ sql, tenantId }: Tx): Promise<void> {
  const [row] = await sql<{ owners: number }>(
    `select count(distinct user_id)::int as owners from membership where tenant_id = ? and role = 'owner'`,
    [tenantId],
  );
  assertHasOwner(row?.owners ?? 0);
}

const putName = ({ sql, tenantId }: Tx, userId: string, firstName: string, lastName: string) =>
  sql(
    `insert into user_profile (tenant_id, user_id, first_name, last_name) values (?, ?, ?, ?)
     on conflict (tenant_id, user_id) do update
       set first_name = excluded.first_name, last_name = excluded.last_name, updated_at = now()`,
    [tenantId, userId, firstName, lastName],
  );

/** A membership in a team, made or given another role. */
async function putMembership(
  { sql, tenantId }: Tx,
  userId: string,
  teamId: string | undefined,
  role: Role,
): Promise<string> {
  const [row] = await sql<{ id: string }>(
    `insert into membership (id, tenant_id, team_id, user_id, role) values (?, ?, ?, ?, ?)
     on conflict (tenant_id, team_id, user_id) do update set role = excluded.role, updated_at = now() returning id`,
    [newId(), tenantId, teamId, userId, role],
  );
  return row?.id ?? '';
}

export interface AddedUser {
  user: UserRow;
  teamAccountId: string;
  /** Somebody with this address was known to the service before. */
  isExistingUser: boolean;
  isNewInTenant: boolean;
}

/**
 * Adds somebody to a team, which is made when it is the first one there. A person whom the service knows by the address
 * keeps the account and gets the role in the team; names are taken for people who are new in the tenant.
 * Throws `last_owner`.
 */
export async function addUser(
  tx: Tx,
  input: { email: string; firstName: string; lastName: string; team: string; role: Role },
): Promise<AddedUser> {
  await lockMemberships(tx);
  const [person] = await tx.sql<{ user_id: string; is_new: boolean }>('select * from person_of_address(?, ?)', [
    input.email,
    newId(),
  ]);
  if (!person) throw new Error('an address has a person once asked for');
  const before = await findUser(tx, person.user_id);
  await tx.sql('insert into team (id, tenant_id, slug) values (?, ?, ?) on conflict (tenant_id, slug) do nothing', [
    newId(),
    tx.tenantId,
    input.team,
  ]);
  const [team] = await tx.sql<{ id: string }>('select id from team where tenant_id = ? and slug = ?', [
    tx.tenantId,
    input.team,
  ]);
  const teamAccountId = await putMembership(tx, person.user_id, team?.id, input.role);
  if (!before) await putName(tx, person.user_id, input.firstName, input.lastName);
  const user = await userAfter(tx, person.user_id);
  await assertOwnersRemain(tx);
  note(tx, before ? 'user.updated' : 'user.created', before, user);
  return { user, teamAccountId, isExistingUser: !person.is_new, isNewInTenant: before === undefined };
}

/**
 * Changes names, role and teams of a user of the tenant.
 * @param team the one team whose role is changed; absent: the role is given in all of the user's teams.
 * Throws `not_found`, `forbidden`, `last_owner`, and `invalid_request` for an unknown team.
 */
export async function changeUser(tx: Tx, address: string, change: UserChange, team?: string): Promise<UserRow> {
  await lockMemberships(tx);
  const before = await findUserByAddress(tx, address);
  assertMayChange(tx.actor, before, change);
  if (!before || (team !== undefined && !before.teams.includes(team))) throw notFound('The user');
  const { firstName = before.firstName, lastName = before.lastName, role, teams } = change;
  if (firstName !== before.firstName || lastName !== before.lastName) await putName(tx, before.id, firstName, lastName);
  if (teams) await putTeams(tx, before, teams, role);
  if (role) {
    await tx.sql(
      `update membership m set role = ?, updated_at = now() from team t
       where m.tenant_id = ? and m.user_id = ? and t.id = m.team_id and (?::text is null or t.slug = ?) and m.role <> ?`,
      [role, tx.tenantId, before.id, team ?? null, team ?? null, role],
    );
  }
  const after = await userAfter(tx, before.id);
  await assertOwnersRemain(tx);
  if (JSON.stringify(before) !== JSON.stringify(after)) note(tx, 'user.updated', before, after);
  return after;
}

/** Puts a user into exactly these teams; into new ones with the role that is given, else the one in the tenant. */
async function putTeams(
  tx: Tx,
  { id, role }: UserRow,
  teams: readonly string[],
  given: Role | undefined,
): Promise<void> {
  const slugs = JSON.stringify(teams);
  const known = await tx.sql<{ slug: string }>(
    'select slug from team where tenant_id = ? and slug in (select jsonb_array_elements_text(?::jsonb))',
    [tx.tenantId, slugs],
  );
  const unknown = teams.find((team) => !known.some(({ slug }) => slug === team));
  if (unknown !== undefined) throw invalidField('teams', `there is no team ${unknown}; adding somebody to it makes it`);
  await tx.sql(
    `delete from membership m using team t where m.tenant_id = ? and m.user_id = ? and t.id = m.team_id
       and t.slug not in (select jsonb_array_elements_text(?::jsonb))`,
    [tx.tenantId, id, slugs],
  );
  await tx.sql(
    `insert into membership (id, tenant_id, team_id, user_id, role)
     select uuidv7(), t.tenant_id, t.id, ?, ? from team t
     where t.tenant_id = ? and t.slug in (select jsonb_array_elements_text(?::jsonb))
     on conflict (tenant_id, team_id, user_id) do nothing`,
    [id, given ?? role, tx.tenantId, slugs],
  );
}

/**
 * Takes a user out of a team, or out of all teams of the tenant; the account stays. Out of the last one, the user's
 * sessions in the tenant end. Throws `not_found`, `forbidden` for oneself, `last_owner`.
 */
export async function removeUser(
  tx: Tx,
  address: string,
  team?: string,
): Promise<{ userId: string; email: string; teamAccountId: string | null }> {
  await lockMemberships(tx);
  const before = await findUserByAddress(tx, address);
  if (!before) throw notFound('The user');
  assertMayRemove(tx.actor, before);
  const removed = await tx.sql<Membership>(
    `delete from membership m using team t
     where m.tenant_id = ? and m.user_id = ? and t.id = m.team_id and (?::text is null or t.slug = ?)
     returning m.id, t.slug as team, m.role`,
    [tx.tenantId, before.id, team ?? null, team ?? null],
  );
  if (removed.length === 0) throw notFound('The user');
  const after = await findUser(tx, before.id);
  if (!after) {
    await tx.sql('delete from user_profile where tenant_id = ? and user_id = ?', [tx.tenantId, before.id]);
    await tx.sql('delete from invitation where tenant_id = ? and user_id = ?', [tx.tenantId, before.id]);
    await tx.sql(
      'update auth_session set revoked_at = now() where tenant_id = ? and user_id = ? and revoked_at is null',
      [tx.tenantId, before.id],
    );
  }
  await assertOwnersRemain(tx);
  note(tx, after ? 'user.updated' : 'user.removed', before, after);
  const [only, ...more] = removed;
  return { userId: before.id, email: before.email, teamAccountId: more.length === 0 ? (only?.id ?? null) : null };
}

async function userAfter(tx: Tx, userId: string): Promise<UserRow> {
  const user = await findUser(tx, userId);
  if (!user) throw new Error('a user with a membership is visible');
  return user;
}

function note(
  tx: Tx,
  action: 'user.created' | 'user.updated' | 'user.removed',
  before: UserRow | undefined,
  after: UserRow | undefined,
): void {
  const user = after ?? before;
  if (!user) return;
  tx.audit({
    source: 'user',
    action,
    entityType: 'user',
    entityId: user.id,
    summary: `User ${user.email} ${action.split('.')[1]}`,
    before,
    after,
  });
  const { id, email, firstName, lastName, role, teams } = user;
  emitEvent(tx, action, { id, email, firstName, lastName, role, teams, changedBy: tx.actor.email });
}
