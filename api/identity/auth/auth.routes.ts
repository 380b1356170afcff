import type { z } from 'zod';
import { assertUninvited, type ProofOutcome, type TokenOutcome } from '../../../domain/identity/auth/sign-in.ts';
import { COOKIE_SECONDS, type Proof } from '../../../domain/identity/auth/sessions.mutations.ts';
import type { SignedIn } from '../../../domain/identity/auth/sessions.ts';
import { DomainError, type ProblemMembers, upstreamFailed } from '../../../domain/kernel/shared/errors.ts';
import { definePublicRoute } from '../../http/define-route.ts';
import { NoContent } from '../../http/parameters.ts';
import { reply } from '../../http/replies.ts';
import { CallbackIn, CallbackOut, LoginIn, LoginOut, LogoutIn, RefreshIn } from './auth.schemas.ts';

/** Publishable by design: it identifies this API and grants nothing. */
const PUBLISHABLE_KEY = 'qs_pub_quayside';

const refused = (message: string, members: ProblemMembers = {}) =>
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
function memberOf(named: TokenOutcome, tenant: string | undefined): { proof: Proof; sessionId?: string } {
  switch (named.outcome) {
    case 'failed':
      throw upstreamFailed('The identity provider', named.reason);
    case 'invalid':
      throw refused('The tokens are malformed, expired or revoked');
    case 'unknown':
    case 'named': {
      const proof = named.proof ?? assertUninvited(named.invitedTo, tenant);
      if (!proof || (named.outcome === 'named' && !named.isMember)) throw notMember();
      return { ...named, proof };
    }
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
      'Any user with a password may sign in. After 10 failed attempts within 15 minutes from one address for one e-mail, the reply is 429; failures from all addresses together delay further attempts for that e-mail, by up to 5 minutes, except from addresses where it has signed in before. If the user has a second factor, the password alone gets 401 with `secondFactor: "totp"`; sending the code as `totp` gives an `aal2` session. Without `tenant` you sign in to the tenant that you named last, otherwise to the one that you joined first; naming a tenant accepts its invitation. If you are a member of none, the reply is 409 with the `tenants` that invite you.',
    body: LoginIn,
    status: 200,
    response: LoginOut,
    errors: ['unauthenticated', 'ambiguous'],
    takesCredential: true,
    audit: ['auth.signed_in', 'user.invitation_accepted'],
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
      'Accepts an access token of this service or of the configured OpenID provider; in the latter case the user is found by verified e-mail or alias. Starts a new session, valid for 12 hours, and sets its cookie. A valid token of someone who is not a member gets 403; if tenants invite them, 409 with these `tenants`. Somebody new accepts their only invitation by this.',
    body: CallbackIn,
    status: 200,
    response: CallbackOut,
    errors: ['unauthenticated', 'forbidden', 'ambiguous', 'upstream_error', 'upstream_timeout'],
    takesCredential: true,
    audit: ['auth.signed_in', 'user.invitation_accepted'],
    async handle({ body: { access_token, refresh_token: refreshToken, tenant } }, { adapters, cookies, requestId }) {
      const { proof, sessionId } = memberOf(
        await adapters.auth.signIn.byToken(access_token, { refreshToken, tenant }),
        tenant,
      );
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
