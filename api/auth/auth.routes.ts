import type { z } from 'zod';
import type { ProofOutcome, TokenOutcome } from '../../domain/auth/sign-in.ts';
import { COOKIE_SECONDS, type Proof } from '../../domain/auth/sessions.mutations.ts';
import type { SignedIn } from '../../domain/auth/sessions.ts';
import { DomainError, upstreamFailed } from '../../domain/shared/errors.ts';
import { definePublicRoute } from '../http/define-route.ts';
import { NoContent } from '../http/parameters.ts';
import { reply } from '../http/replies.ts';
import { CallbackIn, CallbackOut, LoginIn, LoginOut, LogoutIn, RefreshIn } from './auth.schemas.ts';

/** Publishable by design: it identifies this interface and grants nothing. */
const PUBLISHABLE_KEY = 'qs_pub_quayside';

const refused = (message: string, members: object = {}) =>
  new DomainError('unauthenticated', message, { members: { success: false, error: message, ...members } });

const answer = ({ accessToken, refreshToken, aal, user }: SignedIn, publicUrl: string): z.input<typeof LoginOut> => ({
  success: true,
  access_token: accessToken,
  refresh_token: refreshToken,
  local_backend_url: publicUrl,
  local_backend_anon_key: PUBLISHABLE_KEY,
  aal,
  user,
});

function provenBy(result: ProofOutcome): Proof {
  switch (result.outcome) {
    case 'proven':
      return result.proof;
    case 'refused':
      throw refused('The e-mail or the password is wrong');
    case 'code_needed':
      throw refused('A code of the second factor is needed: send it as totp', { secondFactor: 'totp' });
    case 'code_refused':
      throw refused('The code of the second factor is wrong or was used before', { secondFactor: 'totp' });
  }
}

/** The member whom the supplied tokens belong to. */
function memberOf(named: TokenOutcome): { proof: Proof; sessionId?: string } {
  switch (named.outcome) {
    case 'failed':
      throw upstreamFailed('The identity provider', named.reason);
    case 'invalid':
      throw refused('The tokens are malformed, expired or revoked');
    case 'unknown':
      throw notMember();
    case 'named':
      if (!named.isMember || !named.proof) throw notMember();
      return { ...named, proof: named.proof };
  }
}

const notMember = () => new DomainError('forbidden', 'The token is valid, but nobody with its e-mail is a member here');

export const authRoutes = [
  definePublicRoute({
    operationId: 'signIn',
    method: 'post',
    path: '/api/auth/admin/login',
    group: 'Authentication',
    summary: 'Sign in by e-mail and password',
    description:
      'Any user with a password may sign in. After 10 failures in 15 minutes of one address with one e-mail: 429. Where a second factor is set up, the password alone is 401 with `secondFactor: "totp"`; its code in `totp` gives `aal2`.',
    body: LoginIn,
    status: 200,
    response: LoginOut,
    errors: ['unauthenticated'],
    takesCredential: true,
    audit: 'auth.signed_in',
    async handle({ body: { totp, ...body } }, { adapters, address, requestId, publicUrl }) {
      const proof = provenBy(await adapters.auth.signIn.byPassword({ ...body, code: totp, address }));
      return answer(await adapters.auth.sessions.beginWithTokens(proof, requestId), publicUrl);
    },
  }),
  definePublicRoute({
    operationId: 'createSession',
    method: 'post',
    path: '/api/auth/callback',
    group: 'Authentication',
    summary: 'Validate tokens of a sign-in and begin a browser session with them',
    description:
      'Accepts an access token of this service, or of the configured OpenID provider, whose users are found by verified e-mail or alias. Sets the session cookie, always of a new session, valid for 12 hours. A valid token of somebody who is no member: 403.',
    body: CallbackIn,
    status: 200,
    response: CallbackOut,
    errors: ['unauthenticated', 'forbidden', 'upstream_error', 'upstream_timeout'],
    takesCredential: true,
    audit: 'auth.signed_in',
    async handle({ body: { access_token, refresh_token: refreshToken, tenant } }, { adapters, cookies, requestId }) {
      const { proof, sessionId } = memberOf(await adapters.auth.signIn.byToken(access_token, { refreshToken, tenant }));
      const secret = await adapters.auth.sessions.beginWithCookie(proof, requestId, sessionId);
      return reply(
        { success: true as const, data: { userId: proof.actor.id } },
        { cookies: [cookies.write('qs_session', secret, COOKIE_SECONDS)] },
      );
    },
  }),
  definePublicRoute({
    operationId: 'refreshTokens',
    method: 'post',
    path: '/api/auth/refresh',
    group: 'Authentication',
    summary: 'Exchange a refresh token for a new access token and a new refresh token',
    description: 'A refresh token can be used once; one that is sent again ends its whole session.',
    body: RefreshIn,
    status: 200,
    response: LoginOut,
    errors: ['unauthenticated'],
    takesCredential: true,
    audit: { none: 'a session continues; its beginning and its end are in the trail' },
    async handle({ body }, { adapters, requestId, publicUrl }) {
      const signedIn = await adapters.auth.sessions.refresh(body.refresh_token, requestId);
      if (!signedIn) throw refused('The refresh token is unknown, spent or expired');
      return answer(signedIn, publicUrl);
    },
  }),
  definePublicRoute({
    operationId: 'signOut',
    method: 'post',
    path: '/api/auth/logout',
    group: 'Authentication',
    summary: 'End the session of a refresh token, and that of the session cookie',
    description:
      'Access tokens of the session are refused from now on; the cookie is cleared. An unknown token changes nothing. Without a refresh token, the session of the request ends.',
    body: LogoutIn,
    status: 204,
    response: NoContent,
    errors: ['forbidden'],
    takesCredential: true,
    audit: 'auth.session_ended',
    async handle({ body }, { adapters, cookies, isFromOwnPage, caller, requestId }) {
      const refreshToken = body?.refresh_token;
      if (refreshToken !== undefined) await adapters.auth.sessions.end(refreshToken, requestId);
      const actor = refreshToken === undefined || isFromOwnPage ? await caller() : undefined;
      if (actor) await adapters.auth.sessions.endOwn(actor, requestId);
      return reply(undefined, { cookies: [cookies.clear('qs_session')] });
    },
  }),
];
