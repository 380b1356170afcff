import type { ActingAs } from '../auth/sessions.ts';
import type { Database } from '../../kernel/data/tables.ts';
import type { Actor } from '../../kernel/shared/actor.ts';
import { notFound } from '../../kernel/shared/errors.ts';
import type { Tx } from '../../unit-of-work.ts';
import { lockMemberships, removeFromTenant } from '../users/memberships.queries.ts';
import { noteUser } from '../users/users.mutations.ts';
import { findUser } from '../users/users.queries.ts';
import { invitationsOf, turnIntoMember } from './invitations.queries.ts';

/**
 * Accepts an invitation to the tenant in which the unit of work acts, for the account of a person. Retrying is safe:
 * false only when the invitation is not open any more and the person is not a member.
 * @param personId see `turnIntoMember`.
 */
export async function acceptInvitation(tx: Tx, invitationId: string, personId: string): Promise<boolean> {
  await lockMemberships(tx);
  const before = await findUser(tx, invitationId);
  if (!before?.isInvited) return (await findUser(tx, personId))?.isInvited === false;
  if (!(await turnIntoMember(tx.db, invitationId, personId))) return false;
  noteUser(tx, 'user.updated', before, await findUser(tx, personId), 'user.invitation_accepted');
  return true;
}

/** Removes the invited user, who may be invited again. False when the invitation is not open any more. */
async function declineInvitation(tx: Tx, invitationId: string): Promise<boolean> {
  await lockMemberships(tx);
  const before = await findUser(tx, invitationId);
  if (!before?.isInvited) return false;
  await removeFromTenant(tx, before);
  noteUser(tx, 'user.removed', before, undefined, 'user.invitation_declined');
  return true;
}

export type OpenInvitation = Awaited<ReturnType<typeof invitationsOf>>[number];

/** What people do with their invitations, in tenants to which they do not belong yet. */
export interface OwnInvitations {
  list(person: Actor): Promise<OpenInvitation[]>;
  /** Throws `not_found` for an invitation of somebody else, or one that is not open any more. */
  accept(person: Actor, invitationId: string, requestId: string): Promise<OpenInvitation>;
  decline(person: Actor, invitationId: string, requestId: string): Promise<void>;
}

/** @param database with the application's role, outside any tenant. */
export function createOwnInvitations(database: Database, actingAs: ActingAs): OwnInvitations {
  const answer = async (
    person: Actor,
    invitationId: string,
    requestId: string,
    decide: (tx: Tx) => Promise<boolean>,
  ): Promise<OpenInvitation> => {
    const invitation = (await invitationsOf(database, person.id)).find(({ id }) => id === invitationId);
    if (!invitation) throw notFound('The invitation');
    const { tenantId, tenantSlug, role } = invitation;
    const { id, email } = person;
    const isDone = await actingAs({ type: 'user', id, email, tenantId, tenantSlug, role }, { requestId })(decide);
    if (!isDone) throw notFound('The invitation');
    return invitation;
  };
  return {
    list: (person) => invitationsOf(database, person.id),
    accept: (person, invitationId, requestId) =>
      answer(person, invitationId, requestId, (tx) => acceptInvitation(tx, invitationId, person.id)),
    async decline(person, invitationId, requestId) {
      await answer(person, invitationId, requestId, (tx) => declineInvitation(tx, invitationId));
    },
  };
}
