/** The hosts with which people sign in by OAuth. */
export const SIGN_IN_HOSTS = ['host-a', 'host-b'] as const;
export type SignInHost = (typeof SIGN_IN_HOSTS)[number];

/** What a host tells of the person behind a token. */
export interface HostAccount {
  /** The host's own id of the account, which outlives its name. */
  externalId: string;
  username: string;
  /** Those that the host has verified, lower-cased. */
  emails: string[];
}

/** OAuth 2.0 token response (RFC 6749, section 5.1). */
export interface HostTokens {
  accessToken: string;
  expiresInSeconds: number;
  refreshToken: string;
  tokenType: string;
}

interface Failed {
  outcome: 'failed';
  reason: 'timeout' | 'error';
}

export type AccountOutcome =
  | { outcome: 'found'; account: HostAccount }
  /** The token is not good, or may not read e-mail addresses. */
  | { outcome: 'refused' }
  | Failed;

export type RefreshOutcome =
  | { outcome: 'refreshed'; tokens: HostTokens }
  | { outcome: 'refused' }
  /** The host does not accept the credentials of this service's own OAuth app. */
  | { outcome: 'app_refused' }
  | Failed;

/** A git host, as far as people's sign-in goes. A member is absent when the service is not set up for it. */
export interface SignInAtHost {
  accountOf?: (providerToken: string) => Promise<AccountOutcome>;
  refresh?: (refreshToken: string) => Promise<RefreshOutcome>;
}
