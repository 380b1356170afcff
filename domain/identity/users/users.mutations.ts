import type { Role } from '../../kernel/shared/actor.ts';
import { invalidField, notFound } from '../../kernel/shared/errors.ts';
import type { Tx } from '../../unit-of-work.ts';
import { emitEvent } from '../../events/webhooks/event-catalog.ts';
import {
  addInvited,
  countOwners,
  findTeams,
  lockMemberships,
  putMembership,
  putMemberships,
  putName,
  putTeam,
  removeFromTenant,
  removeMemberships,
  setRole,
} from './memberships.queries.ts';
import { assertHasOwner, assertMayChange, assertMayRemove, type UserChange } from './user-rules.ts';
import { findUser, findUserByAddress, invitedByOtherAddresses, type UserRow } from './users.queries.ts';

export interface AddedUser {
  user: UserRow;
  teamAccountId: string;
  /** A user of this tenant, or invited to it, before. */
  isExistingUser: boolean;
}

/**
 * Adds somebody to a team, which is made when nobody is in it yet. A user of the tenant gets the role in the team; anybody
 * else is invited, with the names, and nothing depends on whether the address has an account. Throws `last_owner`.
 */
export async function addUser(
  tx: Tx,
  input: { email: string; firstName: string; lastName: string; team: string; role: Role },
): Promise<AddedUser> {
  await lockMemberships(tx);
  const before = await findUserByAddress(tx, input.email);
  const placed = before ?? (await addInvited(tx, input));
  const teamAccountId = await putMembership(tx, placed, await putTeam(tx, input.team), input.role);
  const user = await userAfter(tx, placed.id);
  assertHasOwner(await countOwners(tx));
  noteUser(tx, before ? 'user.updated' : 'user.created', before, user);
  return { user, teamAccountId, isExistingUser: before !== undefined };
}

/**
 * Changes names, role and teams of a user of the tenant.
 * @param team the one team in which the role is changed; absent: it is changed in all of the user's teams.
 * Throws `not_found`, `forbidden`, `last_owner`, and `invalid_request` for an unknown team.
 */
export async function changeUser(tx: Tx, address: string, change: UserChange, team?: string): Promise<UserRow> {
  await lockMemberships(tx);
  const before = await findUserByAddress(tx, address);
  assertMayChange(tx.actor, before, change);
  if (!before || (team !== undefined && !before.teams.includes(team))) throw notFound('The user');
  const { firstName = before.firstName, lastName = before.lastName, role, teams } = change;
  if (firstName !== before.firstName || lastName !== before.lastName)
    await putName(tx, before, { firstName, lastName });
  if (teams) await putMemberships(tx, before, await idsOfTeams(tx, teams), role ?? before.role);
  if (role) await setRole(tx, before, role, team);
  const after = await userAfter(tx, before.id);
  assertHasOwner(await countOwners(tx));
  if (JSON.stringify(before) !== JSON.stringify(after)) noteUser(tx, 'user.updated', before, after);
  return after;
}

async function idsOfTeams(tx: Tx, slugs: readonly string[]): Promise<string[]> {
  const teams = await findTeams(tx, slugs);
  const unknown = slugs.find((team) => !teams.some(({ slug }) => slug === team));
  if (unknown !== undefined) throw invalidField('teams', `there is no team ${unknown}; adding somebody to it makes it`);
  return teams.map(({ id }) => id);
}

/**
 * Removes a user from a team, or from all teams of the tenant; the account stays. With the last membership, the user's
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
  const removed = await removeMemberships(tx, before, team);
  if (removed.length === 0) throw notFound('The user');
  const after = await findUser(tx, before.id);
  if (!after) {
    await removeFromTenant(tx, before);
    await withdrawInvitations(tx, before.id);
  }
  assertHasOwner(await countOwners(tx));
  noteUser(tx, after ? 'user.updated' : 'user.removed', before, after);
  const [only, ...more] = removed;
  return { userId: before.id, email: before.email, teamAccountId: more.length === 0 ? (only?.id ?? null) : null };
}

/** A person who is removed does not come back by an invitation to another of their addresses. */
async function withdrawInvitations(tx: Tx, personId: string): Promise<void> {
  for (const invited of await invitedByOtherAddresses(tx, personId)) {
    await removeFromTenant(tx, invited);
    noteUser(tx, 'user.removed', invited, undefined);
  }
}

async function userAfter(tx: Tx, userId: string): Promise<UserRow> {
  const user = await findUser(tx, userId);
  if (!user) throw new Error('a user with a membership is visible');
  return user;
}

/** Writes a change of a user to the audit trail and announces it. */
export function noteUser(
  tx: Tx,
  event: 'user.created' | 'user.updated' | 'user.removed',
  before: UserRow | undefined,
  after: UserRow | undefined,
  action: string = event,
): void {
  const user = after ?? before;
  if (!user) return;
  tx.audit({
    source: 'user',
    action,
    entityType: 'user',
    entityId: user.id,
    summary: `User ${user.email} ${(action.split('.')[1] ?? '').replaceAll('_', ' ')}`,
    before,
    after,
  });
  const { id, email, firstName, lastName, role, teams } = user;
  emitEvent(tx, event, { id, email, firstName, lastName, role, teams, changedBy: tx.actor.email });
}
