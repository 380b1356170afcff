import { z } from 'zod';
import type { Reads } from '../../../domain/kernel/data/fenced-reads.ts';
import type { Actor } from '../../../domain/kernel/shared/actor.ts';
import { notFound } from '../../../domain/kernel/shared/errors.ts';
import { addUser, changeUser, removeUser } from '../../../domain/identity/users/users.mutations.ts';
import { assertMayView, isSelf, mayViewColleagues } from '../../../domain/identity/users/user-rules.ts';
import {
  authDataOf,
  findUser,
  findUserByAddress,
  findUserByProviderName,
  listTeams,
  listUsers,
  TEAMS_MAX,
  type UserRow,
} from '../../../domain/identity/users/users.queries.ts';
import { standingOf } from '../../../domain/identity/auth/standing.queries.ts';
import { inviteByMail } from '../../../domain/identity/invitations/invitations.mutations.ts';
import { ANY_ROLE, defineRoute } from '../../http/define-route.ts';
import { pageReply, reply } from '../../http/replies.ts';
import type { Scope } from '../../http/scope.ts';
import {
  AddedUser,
  ChangedUser,
  emailParams,
  InviteResult,
  Me,
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

/** Includes authentication metadata only for the user. */
const shownTo = async (actor: Actor, reads: Reads, user: UserRow) =>
  isSelf(actor, user) ? { ...user, authData: await authDataOf(reads, user.id) } : user;

const invite = (user: UserRow, { tx, adapters, publicUrl, log }: Scope): Promise<string | undefined> =>
  inviteByMail(
    {
      tx,
      mail: adapters.invitations.mail,
      publicUrl,
      onRefused: (reason) => log.warn({ reason }, 'invitation not sent'),
    },
    user,
  );

export const usersRoutes = [
  defineRoute({
    operationId: 'listUsers',
    method: 'get',
    path: '/api/users',
    group: GROUP,
    summary: 'List the users of the tenant, or find one by username or e-mail',
    description:
      'The list is ordered by e-mail, includes invited users, and can be filtered by team and role (the highest of the user’s memberships). Members only find themselves. With `lookup` and `id` the reply is one user, or 404. Authentication metadata is only shown for the caller.',
    roles: ANY_ROLE,
    projectScope: 'refused',
    query: UsersQuery,
    status: 200,
    response: z.union([UserPage, User]),
    async handle({ query: { lookup, id = '', team, role, limit, offset } }, { actor, reads, requestUrl }) {
      if (lookup !== undefined) {
        const user =
          lookup === 'email' ? await findUserByAddress(reads, id) : await findUserByProviderName(reads, 'host-a', id);
        if (!user || !(mayViewColleagues(actor) || isSelf(actor, user))) throw notFound('The user');
        return shownTo(actor, reads, user);
      }
      const own = mayViewColleagues(actor) ? undefined : actor.id;
      const { items, total } = await listUsers(reads, { id: own, team, role, limit, offset });
      const page = { limit, offset, total };
      return pageReply(requestUrl, page, { items, ...page });
    },
  }),
  defineRoute({
    operationId: 'addUser',
    showsFailure: true,
    method: 'post',
    path: '/api/users',
    group: GROUP,
    summary: 'Add a user to a team',
    description:
      'A user of the tenant, found by primary e-mail or alias, is added with the role: 200 with `isExistingUser`. Anybody else is invited by mail, and has no rights until the invitation is accepted; if the mail cannot be sent, the reply has a warning. Whether the address has an account makes no difference.',
    roles: ['owner'],
    projectScope: 'refused',
    body: UserIn,
    status: 201,
    otherStatuses: [200],
    response: AddedUser,
    errors: ['last_owner'],
    audit: ['user.created', 'user.updated', 'user.invited'],
    async handle({ body }, scope) {
      const { user, teamAccountId, isExistingUser } = await scope.tx((work) => addUser(work, body));
      const notInvited = isExistingUser ? undefined : await invite(user, scope);
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
      const inviteSent = !isExistingUser && notInvited === undefined;
      return reply(
        { ...added, isExistingUser, inviteSent, warnings: notInvited === undefined ? [] : [notInvited] },
        { status: isExistingUser ? 200 : 201 },
      );
    },
  }),
  defineRoute({
    operationId: 'removeUser',
    showsFailure: true,
    method: 'delete',
    path: '/api/users',
    group: GROUP,
    summary: 'Remove a user from a team, or from all teams of the tenant',
    description:
      'Takes effect on the user’s next request; the account remains. Removing yourself gets 403, removing the last owner 409.',
    roles: ['owner'],
    projectScope: 'refused',
    body: UserRemoval,
    status: 200,
    response: RemovedUser,
    errors: ['last_owner'],
    audit: ['user.updated', 'user.removed'],
    async handle({ body: { email, team } }, { tx }) {
      const removed = await tx((work) => removeUser(work, email, team));
      return { success: true as const, team: team ?? null, ...removed };
    },
  }),
  defineRoute({
    operationId: 'getCurrentUser',
    method: 'get',
    path: '/api/users/me',
    group: GROUP,
    summary: 'Get the profile of the caller',
    description:
      'Includes teams, authentication metadata, tenants and the session. An application token appears as a user with role `application` and no teams.',
    roles: ANY_ROLE,
    projectScope: 'none',
    status: 200,
    response: Me,
    async handle(_, { actor, reads }) {
      const tenant = { id: actor.tenantId, slug: actor.tenantSlug };
      if (actor.type === 'application') {
        const { id, email, role } = actor;
        const own = { id, firstName: '', lastName: '', email, role, teams: [], isInvited: false, authData: {} };
        return { ...own, tenant, tenants: [tenant.slug], memberships: [], session: null };
      }
      const user = await findUser(reads, actor.id);
      if (!user) throw notFound('The user');
      return { ...(await shownTo(actor, reads, user)), tenant, ...(await standingOf(reads, actor)) };
    },
  }),
  defineRoute({
    operationId: 'getUser',
    method: 'get',
    path: '/api/users/{email}',
    group: GROUP,
    summary: 'Get a user by primary e-mail or alias',
    description:
      'You see your own full profile; owners and applications see other users without authentication metadata. With `team`, a user who is not in that team gets 404.',
    roles: ANY_ROLE,
    projectScope: 'refused',
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
    showsFailure: true,
    method: 'put',
    path: '/api/users/{email}',
    group: GROUP,
    summary: 'Update the names, role and teams of a user',
    description:
      'Users may change their own names; owners may change names, roles and teams, but nobody can raise their own role. With `team` the role changes in that team only, otherwise in all. Absent fields are not changed. Takes effect on the user’s next request. Names apply within this tenant.',
    roles: ANY_ROLE,
    projectScope: 'refused',
    params: emailParams,
    query: teamQuery,
    body: UserPatch,
    status: 200,
    response: ChangedUser,
    errors: ['last_owner'],
    audit: 'user.updated',
    handle: ({ params: { email }, query: { team }, body }, { tx }) =>
      tx(async (work) => {
        const user = await changeUser(work, email, body, team);
        return { success: true as const, user: await shownTo(work.actor, work, user) };
      }),
  }),
  defineRoute({
    operationId: 'inviteUser',
    showsFailure: true,
    method: 'post',
    path: '/api/users/{email}/invite',
    group: GROUP,
    summary: 'Send the invitation again',
    description:
      'Somebody who has not accepted gets a new link to do so, a member without a password one to set it. If no mail server is configured, the mail is refused, or the person has been invited too often, `success` is false and `error` gives the reason.',
    roles: ['owner'],
    projectScope: 'refused',
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
    summary: 'List the teams of the tenant',
    description: `Ordered by slug, at most ${TEAMS_MAX}. A team is created when the first user is added to it.`,
    roles: ANY_ROLE,
    projectScope: 'refused',
    status: 200,
    response: z.array(Team),
    handle: (_, { reads }) => listTeams(reads),
  }),
];
