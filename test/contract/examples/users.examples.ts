import { featureExamples, fresh } from './example.ts';

export const usersExamples = featureExamples(
  async (app) => {
    const { id: applicationTokenId } = await app.as(app.owner).post(201, '/api/application-tokens', { name: fresh('token') });
    return { applicationTokenId: applicationTokenId as string };
  },
  {
    getUsersMe: () => ({}),

    postApplicationTokens: () => ({ body: { name: fresh('token') } }),
    getApplicationTokens: () => ({}),
    deleteApplicationTokensId: ({ applicationTokenId: id }) => ({ params: { id } }),
  },
);
