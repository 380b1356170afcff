import { featureExamples, fresh } from './example.ts';

const newUser = () => ({
  email: `${fresh('user')}@acme.example`,
  team: fresh('team'),
  firstName: 'Dana',
  lastName: 'Reyes',
});

export const usersExamples = featureExamples(
  async (app) => {
    const owner = app.as(app.owner);
    const { id } = await owner.post(201, '/api/application-tokens', { name: fresh('token') });
    const { email, userId, teamAccountId, team } = await owner.post(201, '/api/users', {
      ...newUser(),
      team: `${fresh('crew')}-of-the-tenant`,
    });
    // The other tenant invites the owner anew for each set of examples.
    const stranger = app.as(app.stranger);
    await stranger.send('DELETE', '/api/users', { body: { email: app.owner.email } });
    await stranger.post(201, '/api/users', { email: app.owner.email, team: fresh('guests') });
    const [invitation] = await owner.get(200, '/api/users/me/invitations');
    return {
      invitationId: invitation.id as string,
      applicationTokenId: id as string,
      email: email as string,
      userId: userId as string,
      teamAccountId: teamAccountId as string,
      team: team as string,
      currentPassword: app.owner.password,
    };
  },
  {
    listUsers: ({ team }) => ({ query: { team } }),
    addUser: () => ({ body: newUser() }),
    removeUser: ({ email }) => ({ body: { email } }),
    getCurrentUser: () => ({}),
    changePassword: ({ currentPassword }) => ({ body: { currentPassword, newPassword: 'another good password' } }),
    getUser: ({ email }) => ({ params: { email } }),
    updateUser: ({ email }) => ({ params: { email }, body: { firstName: 'Robin' } }),
    inviteUser: ({ email }) => ({ params: { email } }),
    listTeams: () => ({}),
    listOwnInvitations: () => ({}),
    acceptInvitation: ({ invitationId: id }) => ({ params: { id } }),
    declineInvitation: ({ invitationId: id }) => ({ params: { id } }),

    createApplicationToken: () => ({ body: { name: fresh('token') } }),
    listApplicationTokens: () => ({}),
    rotateApplicationToken: ({ applicationTokenId: id }) => ({ params: { id } }),
    deleteApplicationToken: ({ applicationTokenId: id }) => ({ params: { id } }),
  },
);
