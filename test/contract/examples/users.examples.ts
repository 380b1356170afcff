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
    return {
      applicationTokenId: id as string,
      email: email as string,
      userId: userId as string,
      teamAccountId: teamAccountId as string,
      team: team as string,
      currentPassword: app.owner.password,
    };
  },
  {
    getUsers: ({ team }) => ({ query: { team } }),
    postUsers: () => ({ body: newUser() }),
    deleteUsers: ({ email }) => ({ body: { email } }),
    getUsersMe: () => ({}),
    postUsersMePassword: ({ currentPassword }) => ({ body: { currentPassword, newPassword: 'another good password' } }),
    getUsersEmail: ({ email }) => ({ params: { email } }),
    putUsersEmail: ({ email }) => ({ params: { email }, body: { firstName: 'Robin' } }),
    postUsersEmailInvite: ({ email }) => ({ params: { email } }),
    getTeams: () => ({}),

    postApplicationTokens: () => ({ body: { name: fresh('token') } }),
    getApplicationTokens: () => ({}),
    postApplicationTokensIdRotate: ({ applicationTokenId: id }) => ({ params: { id } }),
    deleteApplicationTokensId: ({ applicationTokenId: id }) => ({ params: { id } }),
  },
);
