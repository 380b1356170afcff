import { insertInvitation } from '../../support/factories.ts';
import { fromOwnPage } from '../../support/browser-session.ts';
import { codeOf } from '../../support/totp.ts';
import { featureExamples, fresh } from './example.ts';

const newPassword = 'correct horse battery';

export const signInExamples = featureExamples(
  async (app) => {
    const owner = app.as(app.owner);
    await owner.delete(204, '/api/users/me/totp');
    const { uri } = await owner.post(201, '/api/users/me/totp');
    const { email, password } = app.member;
    const session = await app.as().post(200, '/api/auth/admin/login', { email, password });
    const invited = await owner.post(201, '/api/users', { email: `${fresh('robin')}@acme.example`, team: 'platform' });
    return {
      code: codeOf(uri),
      email,
      password,
      accessToken: session.access_token as string,
      refreshToken: session.refresh_token as string,
      invitation: await insertInvitation(app, invited.userId),
    };
  },
  {
    signIn: ({ email, password }) => ({ body: { email, password } }),
    createSession: ({ accessToken }) => ({ body: { access_token: accessToken } }),
    refreshTokens: ({ refreshToken }) => ({ body: { refresh_token: refreshToken } }),
    signOut: ({ refreshToken }) => ({ body: { refresh_token: refreshToken } }),
    // Without a session: the sign-in page.
    continueToOrg: ({ repositoryIdentifier }) => ({
      query: { action: 'frontDoorUrl', params: `targetOrg:dev1@acme.example,repository:${repositoryIdentifier}` },
      status: 200,
    }),
    getSignInPage: () => ({ query: { next: '/docs' } }),
    submitSignInForm: ({ email, password }) => ({ form: { next: '/docs', email, password }, headers: fromOwnPage() }),
    // No identity provider is configured in these tests.
    startOidcSignIn: () => ({ query: { next: '/docs' }, status: 404 }),
    completeOidcSignIn: () => ({ query: { state: 'of the sign-in', code: 'of the provider' }, status: 400 }),

    setInitialPassword: ({ invitation }) => ({ body: { token: invitation, newPassword } }),
    getPasswordSetupPage: ({ invitation }) => ({ query: { token: invitation } }),
    submitPasswordSetupForm: ({ invitation }) => ({ form: { token: invitation, password: newPassword } }),

    createTotp: () => ({}),
    confirmTotp: ({ code }) => ({ body: { code } }),
    deleteTotp: () => ({}),

    // No git host is configured in these tests.
    resolveEmails: ({ accessToken }) => ({
      body: { access_token: accessToken, provider_token: 'of-the-host' },
      status: 400,
    }),
    refreshProviderToken: () => ({ body: { provider: 'host-a', refresh_token: 'of-the-host' }, status: 400 }),
  },
);
