import type { SignInAtHost, SignInHost } from '../../../domain/identity/auth/code-host.port.ts';
import { DomainError, invalidField, upstreamFailed } from '../../../domain/kernel/shared/errors.ts';
import { ANY_ROLE, definePublicRoute, defineRoute } from '../../http/define-route.ts';
import { RefreshProviderIn, RefreshProviderOut, ResolveEmailsIn, ResolveEmailsOut } from './code-host.schemas.ts';

/** The host that issued a provider token; when the caller names none, the first configured one. */
function hostOf(
  given: SignInHost | undefined,
  hosts: Record<SignInHost, SignInAtHost>,
): { name: SignInHost; accountOf: NonNullable<SignInAtHost['accountOf']> } {
  const name = given ?? (hosts['host-a'].accountOf || !hosts['host-b'].accountOf ? 'host-a' : 'host-b');
  const { accountOf } = hosts[name];
  if (!accountOf) throw invalidField('provider', `sign-in with ${name} is not configured on this server`);
  return { name, accountOf };
}

export const codeHostRoutes = [
  definePublicRoute({
    operationId: 'resolveEmails',
    method: 'post',
    path: '/api/auth/resolve-emails',
    group: 'Authentication',
    summary: 'Import the verified e-mails of a user from a git host as aliases',
    description:
      'The access token, of this service or of the OpenID provider, identifies the user, who need not be a member of any tenant. Returns the e-mails that now identify this user; an e-mail of another user is skipped. Also records the username at the host.',
    body: ResolveEmailsIn,
    status: 200,
    response: ResolveEmailsOut,
    errors: ['unauthenticated', 'forbidden', 'upstream_error', 'upstream_timeout'],
    takesCredential: true,
    audit: 'user.aliases_resolved',
    async handle(
      { body },
      {
        adapters: {
          auth: { signIn, signInHosts },
        },
        requestId,
      },
    ) {
      const named = await signIn.byToken(body.access_token);
      if (named.outcome === 'failed') throw upstreamFailed('The identity provider', named.reason);
      if (named.outcome === 'invalid')
        throw new DomainError('unauthenticated', 'The access token is malformed, expired or revoked');
      if (named.outcome === 'unknown')
        throw new DomainError('forbidden', 'The access token is valid, but its e-mail belongs to no user');
      // Last: what is configured here is only for people with a valid token to know.
      const { name, accountOf } = hostOf(body.provider, signInHosts);
      const asked = await accountOf(body.provider_token);
      if (asked.outcome === 'failed') throw upstreamFailed(name, asked.reason);
      if (asked.outcome === 'refused')
        throw invalidField('provider_token', `${name} rejected the token, or the token may not read e-mail addresses`);
      return { aliases: await signIn.keepHostAccount(named, name, asked.account, requestId) };
    },
  }),
  defineRoute({
    operationId: 'refreshProviderToken',
    method: 'post',
    path: '/api/users/refresh-provider-token',
    group: 'Users',
    summary: 'Refresh a git host token of a user',
    description:
      'Uses the OAuth app that is configured on the server. `expires_in` is in seconds, 0 for a token that does not expire. A refresh token that the host rejects gets 400. The tokens are not stored.',
    roles: ANY_ROLE,
    projectScope: 'refused',
    body: RefreshProviderIn,
    status: 200,
    response: RefreshProviderOut,
    errors: ['upstream_error', 'upstream_timeout'],
    audit: { none: 'the tokens are not stored; nothing changes in the service' },
    async handle(
      { body: { provider, refresh_token: refreshToken } },
      {
        adapters: {
          auth: { signInHosts },
        },
        log,
      },
    ) {
      const { refresh } = signInHosts[provider];
      if (!refresh) throw invalidField('provider', `no OAuth app for ${provider} is configured on this server`);
      const result = await refresh(refreshToken);
      switch (result.outcome) {
        case 'refreshed': {
          const { accessToken, expiresInSeconds, refreshToken: next, tokenType } = result.tokens;
          return {
            access_token: accessToken,
            expires_in: expiresInSeconds,
            refresh_token: next,
            token_type: tokenType,
          };
        }
        case 'refused':
          throw invalidField('refresh_token', `${provider} rejected the refresh token`);
        case 'app_refused':
          log.error({ provider }, 'OAuth app credentials rejected');
          throw new DomainError('upstream_error', `${provider} rejected the credentials of this server's OAuth app`);
        case 'failed':
          throw upstreamFailed(provider, result.reason);
      }
    },
  }),
];
