import { createSmtpMailer } from '../../activities/adapters/messages/smtp-mailer.ts';
import { configuredSignInHosts } from '../../activities/adapters/git-hosts/sign-in-hosts.ts';
import { configuredOpenIdProvider } from '../../activities/adapters/identity/openid-provider.ts';
import { type AccessTokens, createAccessTokens } from '../../domain/identity/auth/access-tokens.ts';
import { type Authenticator, createAuthenticator } from '../../domain/identity/auth/authenticator.ts';
import type { SignInAtHost, SignInHost } from '../../domain/identity/auth/code-host.port.ts';
import type { FindReviewAssignment } from '../../domain/identity/auth/front-door-rules.ts';
import type { IdentityProvider } from '../../domain/identity/auth/identity-provider.port.ts';
import { createSessions, type Sessions } from '../../domain/identity/auth/sessions.ts';
import { createSignIn, type SignIn } from '../../domain/identity/auth/sign-in.ts';
import { createSignInThrottle, type SignInThrottle } from '../../domain/identity/auth/sign-in-throttle.ts';
import { createOwnInvitations, type OwnInvitations } from '../../domain/identity/invitations/acceptance.mutations.ts';
import { createFindInvited, type FindInvited } from '../../domain/identity/invitations/invitations.queries.ts';
import type { Mailer } from '../../domain/kernel/mail/mailer.port.ts';
import type { ApiBase } from '../base.ts';
import type { ApiConfig } from '../config.ts';

export interface IdentityAdapters {
  auth: {
    signIn: SignIn;
    signInThrottle: SignInThrottle;
    sessions: Sessions;
    signInHosts: Record<SignInHost, SignInAtHost>;
    /** Absent when no OpenID provider is configured. */
    identityProvider?: IdentityProvider;
    findReviewAssignment: FindReviewAssignment;
  };
  invitations: {
    /** Undefined if no mail server is configured. */
    mail: Mailer | undefined;
    findInvited: FindInvited;
    own: OwnInvitations;
  };
}

declare module '../http/scope.ts' {
  interface Adapters extends IdentityAdapters {}
}

export interface IdentityParts {
  adapters: IdentityAdapters;
  accessTokens: AccessTokens;
  authenticator: Authenticator;
}

/** The configured sender of mail, or a default. */
const senderOf = ({ MAIL_FROM, publicUrl }: ApiConfig): string =>
  MAIL_FROM ?? `Quayside <no-reply@${new URL(publicUrl).hostname}>`;

export function createIdentityParts(
  { backend: { actingAs, encryption, now, log }, config, database, ring }: ApiBase,
  findReviewAssignment: FindReviewAssignment,
): IdentityParts {
  const accessTokens = createAccessTokens(ring, config.publicUrl);
  const identityProvider = configuredOpenIdProvider(config);
  const signInThrottle = createSignInThrottle(database);
  return {
    adapters: {
      auth: {
        signIn: createSignIn({
          database,
          actingAs,
          accessTokens,
          encryption,
          signInThrottle,
          identityProvider,
          now,
        }),
        sessions: createSessions({ database, actingAs, accessTokens }),
        signInThrottle,
        signInHosts: configuredSignInHosts(config),
        ...(identityProvider && { identityProvider }),
        findReviewAssignment,
      },
      invitations: {
        mail: config.SMTP_URL === undefined ? undefined : createSmtpMailer(config.SMTP_URL, senderOf(config)),
        findInvited: createFindInvited(database),
        own: createOwnInvitations(database, actingAs),
      },
    },
    accessTokens,
    authenticator: createAuthenticator({
      database,
      accessTokens,
      identityProvider,
      actingAs,
      onError: (error) => log.warn({ err: error }, 'last use of a token not recorded'),
    }),
  };
}
