import { z } from 'zod';
import type { OpenInvitation } from '../../../domain/identity/invitations/acceptance.mutations.ts';
import type { Actor } from '../../../domain/kernel/shared/actor.ts';
import { ROLES } from '../../../domain/kernel/shared/actor.ts';
import { DomainError } from '../../../domain/kernel/shared/errors.ts';
import { ANY_ROLE, defineRoute } from '../../http/define-route.ts';
import { byId, NoContent, Timestamp } from '../../http/parameters.ts';

const GROUP = 'Users';

const Invitation = z
  .object({
    id: z.uuid(),
    tenant: z.string().meta({ description: 'Slug of the tenant that invites' }),
    email: z.string().meta({ description: 'The address to which the invitation was sent' }),
    invitedBy: z.string(),
    role: z.enum(ROLES),
    teams: z.array(z.string()),
    createdAt: Timestamp,
  })
  .meta({ id: 'Invitation' });

const view = ({ tenantSlug: tenant, ...invitation }: OpenInvitation) => ({ ...invitation, tenant });

/** Throws `forbidden`: only people are invited. */
function personOf(actor: Actor): Actor {
  if (actor.type !== 'user') throw new DomainError('forbidden', 'Forbidden - Only people have invitations');
  return actor;
}

export const invitationsRoutes = [
  defineRoute({
    operationId: 'listOwnInvitations',
    method: 'get',
    path: '/api/users/me/invitations',
    group: GROUP,
    summary: 'List your open invitations to tenants, oldest first',
    roles: ANY_ROLE,
    projectScope: 'refused',
    status: 200,
    response: z.array(Invitation),
    handle: async (_, { actor, adapters }) => (await adapters.invitations.own.list(personOf(actor))).map(view),
  }),
  defineRoute({
    operationId: 'acceptInvitation',
    method: 'post',
    path: '/api/users/me/invitations/{id}/accept',
    group: GROUP,
    summary: 'Accept an invitation',
    description:
      'You are a member of the tenant from then on. The credential of the request still acts in its own tenant: sign in with `tenant` to act in the other one.',
    roles: ANY_ROLE,
    projectScope: 'refused',
    params: byId,
    status: 200,
    response: Invitation,
    audit: 'user.invitation_accepted',
    handle: async ({ params: { id } }, { actor, adapters, requestId }) =>
      view(await adapters.invitations.own.accept(personOf(actor), id, requestId)),
  }),
  defineRoute({
    operationId: 'declineInvitation',
    method: 'post',
    path: '/api/users/me/invitations/{id}/decline',
    group: GROUP,
    summary: 'Decline an invitation',
    description: 'You are removed from the users of the tenant, which can invite you again.',
    roles: ANY_ROLE,
    projectScope: 'refused',
    params: byId,
    status: 204,
    response: NoContent,
    audit: 'user.invitation_declined',
    async handle({ params: { id } }, { actor, adapters, requestId }) {
      await adapters.invitations.own.decline(personOf(actor), id, requestId);
    },
  }),
];
