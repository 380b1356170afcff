/** Whom an OpenID provider says that somebody is. */
export interface Identity {
  /** Verified by the provider, lower-cased. */
  email: string;
  /** `aal2` when the provider names several factors in `amr` (RFC 8176). */
  aal: 'aal1' | 'aal2';
}

export type IdentityOutcome =
  | { outcome: 'valid'; identity: Identity }
  /** Not a token of this provider for this service that is good now, or one without a verified e-mail. */
  | { outcome: 'invalid' }
  | { outcome: 'failed'; reason: 'timeout' | 'error' };

/** What must come back with the browser for a sign-in at the provider to be the one that was begun. */
export interface PendingSignIn {
  state: string;
  nonce: string;
  verifier: string;
}

/** The configured OpenID provider (OpenID Connect Core 1.0). */
export interface IdentityProvider {
  /** Judges a bearer token; one that claims another issuer is `invalid` without asking anybody. */
  verify(token: string): Promise<IdentityOutcome>;
  /** Sign-in by authorization code and PKCE (RFC 7636); absent when the service has no client there. */
  browser?: {
    begin(
      returnUrl: string,
    ): Promise<
      { outcome: 'begun'; url: string; pending: PendingSignIn } | { outcome: 'failed'; reason: 'timeout' | 'error' }
    >;
    /** @param arrivedAt the address, with its query, to which the provider sent the browser back. */
    complete(arrivedAt: string, pending: PendingSignIn): Promise<IdentityOutcome>;
  };
}
