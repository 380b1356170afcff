import type { SignInAtHost, SignInHost } from '../../domain/auth/code-host.port.ts';
import { ROLES } from '../../domain/shared/actor.ts';
import { DomainError, invalidField, upstreamFailed } from '../../domain/shared/errors.ts';
import { definePublicRoute, defineRoute } from '../http/define-route.ts';
import { RefreshProviderIn, RefreshProviderOut, ResolveEmailsIn, ResolveEmailsOut } from './code-host.schemas.ts';

/** The host of a provider token; when the caller names none, the configured one, host-a first. */
function hostOf(
  given: SignInHost | undefined,
  hosts: Record<SignInHost, SignInAtHost>,
): { name: SignInHost; accountOf: NonNullable<SignInAtHost['accountOf']> } {
  const name = given ?? (hosts['host-a'].accountOf || !hosts['host-b'].accountOf ? 'host-a' : 'host-b');
  const { accountOf } = hosts[name];
  if (!accountOf) throw invalidField('provider', `this server is not configured for ${name}`);
  return { name, accountOf };
}

export const codeHostRoutes = [
  definePublicRoute({
    operationId: 'resolveEmails',
    method: 'post',
    path: '/api/auth/resolve-emails',
    group: 'Authentication',
    summary: 'Read the verified e-mails of a user from a git host, and keep them as aliases',
    description:
      'The access token, of this service or of the OpenID provider, identifies the user, who need not be a member of any tenant. Answers the e-mails that now belong to this user; one that belongs to another user stays theirs and is left out. The name of the user at the host is kept, too.',
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
      const { name, accountOf } = hostOf(body.provider, signInHosts);
      const named = await signIn.byToken(body.access_token);
      if (named.outcome === 'failed') throw upstreamFailed('The identity provider', named.reason);
      if (named.outcome === 'invalid')
        throw new DomainError('unauthenticated', 'The access token is malformed, expired or revoked');
      if (named.outcome === 'unknown')
        throw new DomainError('forbidden', 'The access token is valid, but no user has its e-mail');
      const asked = await accountOf(body.provider_token);
      if (asked.outcome === 'failed') throw upstreamFailed(name, asked.reason);
      if (asked.outcome === 'refused')
        throw invalidField('provider_token', `${name} refuses the token, or it may not read e-mail addresses`);
      return { aliases: await signIn.keepHostAccount(named, name, asked.account, requestId) };
    },
  }),
  defineRoute({
    operationId: 'refreshProviderToken',
    method: 'post',
    path: '/api/users/refresh-provider-token',
    group: 'Users',
    summary: "Refresh a user's token of a git host with the credentials of the server's OAuth app",
    description:
      '`expires_in` is in seconds; 0 when the host gives none. A refresh token that the host refuses: 400. Nothing of it is stored.',
    roles: ROLES,
    body: RefreshProviderIn,
    status: 200,
    response: RefreshProviderOut,
    errors: ['upstream_error', 'upstream_timeout'],
    audit: { none: "the tokens are the caller's and the host's; nothing of the service changes" },
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
      if (!refresh) throw invalidField('provider', `this server has no OAuth app at ${provider}`);
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
          throw invalidField('refresh_token', `${provider} refuses the refresh token`);
        case 'app_refused':
          log.error({ provider }, 'the credentials of the OAuth app are refused');
          throw new DomainError('upstream_error', `${provider} refuses the credentials of this server's OAuth app`);
        case 'failed':
          throw upstreamFailed(provider, result.reason);
      }
    },
  }),
];
