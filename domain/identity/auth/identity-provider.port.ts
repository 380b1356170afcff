/** A person, as an OpenID provider identifies them. */
export interface Identity {
  /** Verified by the provider, lower-cased. */
  email: string;
  /** `aal2` when the provider names several factors in `amr` (RFC 8176). */
  aal: 'aal1' | 'aal2';
}

export type IdentityOutcome =
  | { outcome: 'valid'; identity: Identity }
  /** Not a valid token of this provider for this service, or one without a verified e-mail. */
  | { outcome: 'invalid' }
  | { outcome: 'failed'; reason: 'timeout' | 'error' };

/** What a sign-in at the provider was begun with; its return must match it. */
export interface PendingSignIn {
  state: string;
  nonce: string;
  verifier: string;
}

/** The configured OpenID provider (OpenID Connect Core 1.0). */
export interface IdentityProvider {
  /** Checks a bearer token; one of another issuer is `invalid` without a request to anybody. */
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
