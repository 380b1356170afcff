import type { z } from 'zod';
import type { ProofOutcome, TokenOutcome } from '../../domain/auth/sign-in.ts';
import { COOKIE_SECONDS, type Proof } from '../../domain/auth/sessions.mutations.ts';
import type { SignedIn } from '../../domain/auth/sessions.ts';
import { DomainError, upstreamFailed } from '../../domain/shared/errors.ts';
import { definePublicRoute } from '../http/define-route.ts';
import { NoContent } from '../http/parameters.ts';
import { reply } from '../http/replies.ts';
import { CallbackIn, CallbackOut, LoginIn, LoginOut, LogoutIn, RefreshIn } from './auth.schemas.ts';

/** Publishable by design: it identifies this API and grants nothing. */
const PUBLISHABLE_KEY = 'qs_pub_quayside';

const refused = (message: string, members: Record<string, unknown> = {}) =>
  new DomainError('unauthenticated', message, { members });

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
      throw refused('A second-factor code is required: send it as totp', { secondFactor: 'totp' });
    case 'code_refused':
      throw refused('The second-factor code is wrong or has been used already', { secondFactor: 'totp' });
  }
}

/** The member identified by the supplied tokens. */
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

const notMember = () =>
  new DomainError('forbidden', 'The token is valid, but its e-mail belongs to no member of this tenant');

export const authRoutes = [
  definePublicRoute({
    operationId: 'signIn',
    showsFailure: true,
    method: 'post',
    path: '/api/auth/admin/login',
    group: 'Authentication',
    summary: 'Sign in with e-mail and password',
    description:
      'Any user with a password may sign in. After 10 failed attempts within 15 minutes from one address for one e-mail, the reply is 429; failures from all addresses together delay further attempts for that e-mail, by up to 5 minutes, except from addresses where it has signed in before. If the user has a second factor, the password alone gets 401 with `secondFactor: "totp"`; sending the code as `totp` gives an `aal2` session.',
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
    showsFailure: true,
    method: 'post',
    path: '/api/auth/callback',
    group: 'Authentication',
    summary: 'Exchange an access token for a browser session',
    description:
      'Accepts an access token of this service or of the configured OpenID provider; in the latter case the user is found by verified e-mail or alias. Starts a new session, valid for 12 hours, and sets its cookie. A valid token of someone who is not a member gets 403.',
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
    showsFailure: true,
    method: 'post',
    path: '/api/auth/refresh',
    group: 'Authentication',
    summary: 'Exchange a refresh token for a new access token and a new refresh token',
    description: 'A refresh token can be used once. Using it again revokes the whole session.',
    body: RefreshIn,
    status: 200,
    response: LoginOut,
    errors: ['unauthenticated'],
    takesCredential: true,
    audit: { none: 'the session continues; its start and end are audited' },
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
    summary: 'Sign out',
    description:
      'Ends the session of the refresh token, or without one the session that makes the request. Access tokens of an ended session are refused from then on, and the session cookie is cleared. An unknown refresh token is ignored.',
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
