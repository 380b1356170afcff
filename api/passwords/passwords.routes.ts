import { isPasswordRight } from '../../domain/auth/secrets.ts';
import { changeOwnPassword, hashChosenPassword, ownPasswordHash } from '../../domain/passwords/passwords.ts';
import { DomainError, invalidField } from '../../domain/shared/errors.ts';
import { ANY_ROLE, defineRoute } from '../http/define-route.ts';
import { NoContent } from '../http/parameters.ts';
import { PasswordChange } from './passwords.schemas.ts';

export const passwordsRoutes = [
  defineRoute({
    operationId: 'changePassword',
    method: 'post',
    path: '/api/users/me/password',
    group: 'Users',
    summary: 'Change one’s own password',
    description:
      'All sessions of the user end, but the one that the request comes from. Too many wrong passwords: 429.',
    roles: ANY_ROLE,
    body: PasswordChange,
    status: 204,
    response: NoContent,
    audit: 'user.password_changed',
    async handle({ body: { currentPassword, newPassword } }, { actor, tx, adapters }) {
      if (actor.type !== 'user') throw new DomainError('forbidden', 'Forbidden - An application token has no password');
      const isRight = await adapters.auth.signInThrottle.attempt('change of the password', actor.email, async () => {
        const value = await isPasswordRight(await tx(ownPasswordHash), currentPassword);
        return { value, verdict: value ? 'right' : 'wrong' };
      });
      if (!isRight) throw invalidField('currentPassword', 'The current password is wrong');
      const passwordHash = await hashChosenPassword(newPassword, actor.email, '#/body/newPassword');
      await tx((work) => changeOwnPassword(work, passwordHash));
    },
  }),
];
