import { codeOf } from '../../support/totp.ts';
import { featureExamples } from './example.ts';

export const signInExamples = featureExamples(
  async (app) => {
    const owner = app.as(app.owner);
    await owner.delete(204, '/api/users/me/totp');
    const { uri } = await owner.post(201, '/api/users/me/totp');
    return { code: codeOf(uri) };
  },
  {
    createTotp: () => ({}),
    confirmTotp: ({ code }) => ({ body: { code } }),
    deleteTotp: () => ({}),
    // No host is set up for these tests: the refusal says so.
    refreshProviderToken: () => ({ body: { provider: 'host-a', refresh_token: 'of-the-host' }, status: 400 }),
  },
);
