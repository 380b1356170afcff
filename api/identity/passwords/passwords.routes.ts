import { changeOwnPassword } from '../../../domain/identity/passwords/passwords.mutations.ts';
import { ANY_ROLE, defineRoute } from '../../http/define-route.ts';
import { NoContent } from '../../http/parameters.ts';
import { PasswordChange } from './passwords.schemas.ts';

export const passwordsRoutes = [
  defineRoute({
    operationId: 'changePassword',
    method: 'post',
    path: '/api/users/me/password',
    group: 'Users',
    summary: 'Change your own password',
    description: 'Ends all other sessions of the user. Too many wrong passwords get 429.',
    roles: ANY_ROLE,
    projectScope: 'refused',
    body: PasswordChange,
    status: 204,
    response: NoContent,
    audit: 'user.password_changed',
    handle: ({ body }, { actor, tx, adapters }) =>
      changeOwnPassword({ actor, tx, throttle: adapters.auth.signInThrottle }, body),
  }),
];
