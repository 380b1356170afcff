/** The hosts with which people sign in by OAuth. */
export const SIGN_IN_HOSTS = ['host-a', 'host-b'] as const;
export type SignInHost = (typeof SIGN_IN_HOSTS)[number];

/** What a host says about the person whom a token belongs to. */
export interface HostAccount {
  /** The host's own id of the account, which stays when the account is renamed. */
  externalId: string;
  username: string;
  /** Addresses that the host has verified, in lower case. */
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
  /** The token is not valid, or may not read e-mail addresses. */
  | { outcome: 'refused' }
  | Failed;

export type RefreshOutcome =
  | { outcome: 'refreshed'; tokens: HostTokens }
  | { outcome: 'refused' }
  /** The host does not accept the credentials of this service's own OAuth app. */
  | { outcome: 'app_refused' }
  | Failed;

/** What of a git host people's sign-in needs. A member is absent when the service is not configured for it. */
export interface SignInAtHost {
  accountOf?: (providerToken: string) => Promise<AccountOutcome>;
  refresh?: (refreshToken: string) => Promise<RefreshOutcome>;
}
