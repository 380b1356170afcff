import type { z } from 'zod';
import type { SignedIn } from '../../domain/auth/sign-in.ts';
import { DomainError } from '../../domain/shared/errors.ts';
import { definePublicRoute } from '../http/define-route.ts';
import { NoContent } from '../http/parameters.ts';
import { LoginIn, LoginOut, RefreshIn } from './auth.schemas.ts';

/** Publishable by design: it names this interface and grants nothing. */
const PUBLISHABLE_KEY = 'qs_pub_quayside';

const refused = (message: string) =>
  new DomainError('unauthenticated', message, { members: { success: false, error: message } });

const answer = ({ accessToken, refreshToken, aal, user }: SignedIn, publicUrl: string): z.input<typeof LoginOut> => ({
  success: true,
  access_token: accessToken,
  refresh_token: refreshToken,
  local_backend_url: publicUrl,
  local_backend_anon_key: PUBLISHABLE_KEY,
  aal,
  user,
});

export const authRoutes = [
  definePublicRoute({
    method: 'post',
    path: '/api/auth/admin/login',
    group: 'Authentication',
    summary: 'Sign in by e-mail and password',
    description:
      'Any user with a password may sign in. After 10 failures in 15 minutes of one address with one e-mail: 429.',
    body: LoginIn,
    status: 200,
    response: LoginOut,
    errors: ['unauthenticated'],
    takesCredential: true,
    audit: 'auth.signed_in',
    async handle({ body }, { adapters, address, requestId, publicUrl }) {
      const guess = await adapters.guesses.admit(address, body.email);
      const signedIn = await adapters.signIn.withPassword({ ...body, requestId });
      if (!signedIn) {
        await guess.failed();
        throw refused('The e-mail or the password is wrong');
      }
      await guess.succeeded();
      return answer(signedIn, publicUrl);
    },
  }),
  definePublicRoute({
    method: 'post',
    path: '/api/auth/refresh',
    group: 'Authentication',
    summary: 'Exchange a refresh token for a new access token and a new refresh token',
    description: 'A refresh token is good for one use; one that comes again ends its whole session.',
    body: RefreshIn,
    status: 200,
    response: LoginOut,
    errors: ['unauthenticated'],
    takesCredential: true,
    audit: { none: 'a session that goes on; its beginning and its end are in the trail' },
    async handle({ body }, { adapters, requestId, publicUrl }) {
      const signedIn = await adapters.signIn.refresh(body.refresh_token, requestId);
      if (!signedIn) throw refused('The refresh token is unknown, spent or expired');
      return answer(signedIn, publicUrl);
    },
  }),
  definePublicRoute({
    method: 'post',
    path: '/api/auth/logout',
    group: 'Authentication',
    summary: 'End the session of a refresh token',
    description: 'Access tokens of the session are refused from now on. An unknown token changes nothing.',
    body: RefreshIn,
    status: 204,
    response: NoContent,
    takesCredential: true,
    audit: 'auth.session_ended',
    async handle({ body }, { adapters, requestId }) {
      await adapters.signIn.end(body.refresh_token, requestId);
    },
  }),
];
