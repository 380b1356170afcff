import { findUser } from '../../domain/users/users.queries.ts';
import { notFound } from '../../domain/shared/errors.ts';
import { defineRoute } from '../http/define-route.ts';
import { User } from './users.schemas.ts';

export const usersRoutes = [
  defineRoute({
    method: 'get',
    path: '/api/users/me',
    group: 'Users',
    summary: 'The profile of the caller, with teams and authentication metadata',
    description: 'An application token is shown as a user of role `application` without teams.',
    roles: ['owner', 'member', 'application'],
    status: 200,
    response: User,
    async handle(_, { actor, tx }) {
      if (actor.type === 'application') {
        const { id, email, role } = actor;
        return { id, firstName: '', lastName: '', email, role, teams: [], authData: {} };
      }
      const user = await tx((work) => findUser(work, actor.id));
      if (!user) throw notFound('The user');
      return user;
    },
  }),
];
