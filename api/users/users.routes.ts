import { z } from 'zod';
import type { Reads } from '../../domain/data/fenced-reads.ts';
import type { Actor } from '../../domain/shared/actor.ts';
import { DomainError, notFound } from '../../domain/shared/errors.ts';
import { addUser, changeUser, removeUser } from '../../domain/users/users.mutations.ts';
import { isSelf, assertMayView } from '../../domain/users/user-rules.ts';
import {
  authDataOf,
  findUser,
  findUserByAddress,
  findUserByProviderName,
  listTeams,
  listUsers,
  TEAMS_MAX,
  type UserRow,
} from '../../domain/users/users.queries.ts';
import { inviteByMail } from '../../domain/invitations/invitations.mutations.ts';
import { ANY_ROLE, defineRoute } from '../http/define-route.ts';
import { pageReply, reply } from '../http/replies.ts';
import type { Scope } from '../http/scope.ts';
import {
  AddedUser,
  ChangedUser,
  emailParams,
  InviteResult,
  RemovedUser,
  Team,
  teamQuery,
  User,
  UserIn,
  UserPage,
  UserPatch,
  UserRemoval,
  UsersQuery,
} from './users.schemas.ts';

const GROUP = 'Users';

/** With authentication metadata for the user alone. */
const shownTo = async (actor: Actor, reads: Reads, user: UserRow) =>
  isSelf(actor, user) ? { ...user, authData: await authDataOf(reads, user.id) } : user;

const invite = (user: UserRow, { tx, adapters, publicUrl, log }: Scope): Promise<string | undefined> =>
  inviteByMail(
    {
      tx,
      mail: adapters.invitations.mail,
      publicUrl,
      onRefused: (reason) => log.warn({ reason }, 'an invitation was not sent'),
    },
    user,
  );

/** Errors of these routes have two more members, as the interface demands. */
async function orFailure<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof DomainError)) throw error;
    throw new DomainError(error.code, error.message, {
      ...error.extras,
      members: { ...error.extras.members, success: false, error: error.message },
    });
  }
}

export const usersRoutes = [
  defineRoute({
    operationId: 'listUsers',
    method: 'get',
    path: '/api/users',
    group: GROUP,
    summary: 'The users of the tenant, or one by a username or an e-mail',
    description:
      'A list by e-mail, of a team and of a role (the highest of the user’s memberships). With `lookup` and `id`: one user, 404 when the tenant has none of that name. Authentication metadata is shown of the caller alone.',
    roles: ANY_ROLE,
    query: UsersQuery,
    status: 200,
    response: z.union([UserPage, User]),
    async handle({ query: { lookup, id = '', team, role, limit, offset } }, { actor, reads, requestUrl }) {
      if (lookup !== undefined) {
        const user =
          lookup === 'email' ? await findUserByAddress(reads, id) : await findUserByProviderName(reads, 'host-a', id);
        if (!user) throw notFound('The user');
        return shownTo(actor, reads, user);
      }
      const { items, total } = await listUsers(reads, { team, role, limit, offset });
      const page = { limit, offset, total };
      return pageReply(requestUrl, page, { items, ...page });
    },
  }),
  defineRoute({
    operationId: 'addUser',
    method: 'post',
    path: '/api/users',
    group: GROUP,
    summary: 'Add somebody to a team',
    description:
      'A person whom the service knows by the e-mail, primary or alias, is added with the role: 200 and `isExistingUser`. Who is new in the tenant gets an invitation by mail; that it cannot be sent is a warning, never a failure.',
    roles: ['owner'],
    body: UserIn,
    status: 201,
    otherStatuses: [200],
    response: AddedUser,
    errors: ['last_owner'],
    audit: ['user.created', 'user.updated', 'user.invited'],
    async handle({ body }, scope) {
      const { user, teamAccountId, isExistingUser, isNewInTenant } = await orFailure(() =>
        scope.tx((work) => addUser(work, body)),
      );
      const notInvited = isNewInTenant ? await invite(user, scope) : undefined;
      const { id: userId, firstName, lastName, email } = user;
      const added = {
        success: true as const,
        userId,
        teamAccountId,
        firstName,
        lastName,
        email,
        team: body.team,
        role: body.role,
      };
      const inviteSent = isNewInTenant && notInvited === undefined;
      return reply(
        { ...added, isExistingUser, inviteSent, warnings: notInvited === undefined ? [] : [notInvited] },
        { status: isExistingUser ? 200 : 201 },
      );
    },
  }),
  defineRoute({
    operationId: 'removeUser',
    method: 'delete',
    path: '/api/users',
    group: GROUP,
    summary: 'Remove a user from a team, or from all teams of the tenant',
    description: 'Effective on the user’s next request; the account stays. Removing oneself: 403; the last owner: 409.',
    roles: ['owner'],
    body: UserRemoval,
    status: 200,
    response: RemovedUser,
    errors: ['last_owner'],
    audit: ['user.updated', 'user.removed'],
    handle: ({ body: { email, team } }, { tx }) =>
      orFailure(async () => {
        const removed = await tx((work) => removeUser(work, email, team));
        return { success: true as const, team: team ?? null, ...removed };
      }),
  }),
  defineRoute({
    operationId: 'getCurrentUser',
    method: 'get',
    path: '/api/users/me',
    group: GROUP,
    summary: 'The profile of the caller, with teams and authentication metadata',
    description: 'An application token is shown as a user of role `application` without teams.',
    roles: ANY_ROLE,
    status: 200,
    response: User,
    async handle(_, { actor, reads }) {
      if (actor.type === 'application') {
        const { id, email, role } = actor;
        return { id, firstName: '', lastName: '', email, role, teams: [], authData: {} };
      }
      const user = await findUser(reads, actor.id);
      if (!user) throw notFound('The user');
      return shownTo(actor, reads, user);
    },
  }),
  defineRoute({
    operationId: 'getUser',
    method: 'get',
    path: '/api/users/{email}',
    group: GROUP,
    summary: 'One user, by the primary e-mail or an alias',
    description:
      'Everyone sees their own full profile; owners and applications see others without authentication metadata. With `team`: 404 for who is not in it.',
    roles: ANY_ROLE,
    params: emailParams,
    query: teamQuery,
    status: 200,
    response: User,
    async handle({ params: { email }, query: { team } }, { actor, reads }) {
      const user = await findUserByAddress(reads, email);
      assertMayView(actor, user);
      if (!user || (team !== undefined && !user.teams.includes(team))) throw notFound('The user');
      return shownTo(actor, reads, user);
    },
  }),
  defineRoute({
    operationId: 'updateUser',
    method: 'put',
    path: '/api/users/{email}',
    group: GROUP,
    summary: 'Change names, role and teams of a user',
    description:
      'Names: oneself or an owner. Role and teams: an owner; nobody raises their own role. With `team`, the role is changed in that team alone, else in all. What is not given stays. Effective on the user’s next request. Names are the tenant’s own.',
    roles: ANY_ROLE,
    params: emailParams,
    query: teamQuery,
    body: UserPatch,
    status: 200,
    response: ChangedUser,
    errors: ['last_owner'],
    audit: 'user.updated',
    handle: ({ params: { email }, query: { team }, body }, { tx }) =>
      orFailure(() =>
        tx(async (work) => {
          const user = await changeUser(work, email, body, team);
          return { success: true as const, user: await shownTo(work.actor, work, user) };
        }),
      ),
  }),
  defineRoute({
    operationId: 'inviteUser',
    method: 'post',
    path: '/api/users/{email}/invite',
    group: GROUP,
    summary: 'Send the invitation by mail again',
    description:
      'Who has no password gets a link that sets one. `success` is false, with the reason, when no mail server is configured, the mail was refused, or the person was invited too often.',
    roles: ['owner'],
    params: emailParams,
    status: 200,
    response: InviteResult,
    audit: 'user.invited',
    async handle({ params: { email } }, scope) {
      const user = await findUserByAddress(scope.reads, email);
      if (!user) throw notFound('The user');
      const error = await invite(user, scope);
      return error === undefined ? { success: true, email: user.email } : { success: false, email: user.email, error };
    },
  }),
  defineRoute({
    operationId: 'listTeams',
    method: 'get',
    path: '/api/teams',
    group: GROUP,
    summary: 'The teams of the tenant by slug',
    description: `A team is created with its first user. At most ${TEAMS_MAX}.`,
    roles: ANY_ROLE,
    status: 200,
    response: z.array(Team),
    handle: (_, { reads }) => listTeams(reads),
  }),
];
