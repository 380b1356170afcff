import { z } from 'zod';
import { isPasswordRight } from '../../domain/auth/secrets.ts';
import { acceptInvitation } from '../../domain/invitations/invitations.queries.ts';
import { changeOwnPassword, hashChosenPassword, ownPasswordHash } from '../../domain/passwords/passwords.ts';
import { DomainError, invalidField } from '../../domain/shared/errors.ts';
import { definePublicRoute, defineRoute } from '../http/define-route.ts';
import { NoContent } from '../http/parameters.ts';
import { PasswordChange, PasswordSetup } from './passwords.schemas.ts';

const spentLink = () => invalidField('#/body/token', 'The link is unknown, used or expired; ask an owner to invite you once more');

export const passwordsRoutes = [
  defineRoute({
    method: 'post',
    path: '/api/users/me/password',
    group: 'Users',
    summary: 'Change one’s own password',
    description: 'All sessions of the user end, but the one that the request comes from. Too many wrong passwords: 429.',
    roles: ['owner', 'member', 'application'],
    body: PasswordChange,
    status: 204,
    response: NoContent,
    audit: 'user.password_changed',
    async handle({ body: { currentPassword, newPassword } }, { actor, tx, adapters }) {
      if (actor.type !== 'user') throw new DomainError('forbidden', 'Forbidden - An application token has no password');
      const isRight = await adapters.guesses.attempt('change of the password', actor.email, async () => {
        const value = await isPasswordRight(await tx(ownPasswordHash), currentPassword);
        return { value, verdict: value ? 'right' : 'wrong' };
      });
      if (!isRight) throw invalidField('#/body/currentPassword', 'The current password is wrong');
      const passwordHash = await hashChosenPassword(newPassword, actor.email, '#/body/newPassword');
      await tx((work) => changeOwnPassword(work, passwordHash));
    },
  }),
  definePublicRoute({
    method: 'post',
    path: '/api/auth/password-setup',
    group: 'Authentication',
    summary: 'Set the first password by the link of an invitation',
    description: 'The link works once, for three days, for a user without a password.',
    body: PasswordSetup,
    status: 200,
    response: z.object({ success: z.literal(true), email: z.string() }),
    takesCredential: true,
    audit: 'user.password_set',
    async handle({ body: { token, newPassword } }, { adapters, actingAs }) {
      const invited = await adapters.openInvitation(token);
      if (!invited) throw spentLink();
      const passwordHash = await hashChosenPassword(newPassword, invited.email, '#/body/newPassword');
      const isAccepted = await actingAs(invited)((work) => acceptInvitation(work, token, passwordHash));
      if (!isAccepted) throw spentLink();
      return { success: true as const, email: invited.email };
    },
  }),
];
