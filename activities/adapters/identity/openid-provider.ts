import { LRUCache } from 'lru-cache';
import { createRemoteJWKSet, customFetch as joseFetch, decodeJwt, errors, type JWTPayload, jwtVerify } from 'jose';
import * as oidc from 'openid-client';
import type {
  Identity,
  IdentityOutcome,
  IdentityProvider,
} from '../../../domain/identity/auth/identity-provider.port.ts';
import type { Config } from '../../../domain/kernel/settings/config.ts';
import { createLibraryFetch } from '../outbound/library-fetch.ts';
import { failedSignIn, outboundFailure } from '../outbound/outbound-http.ts';

/** How far the clocks of the provider and of this machine may differ. */
const CLOCK_SKEW_SECONDS = 30;
/** How long a checked token is trusted; then it is checked with the provider's present keys. */
const KEPT_MS = 5 * 60_000;
const KEPT_TOKENS = 10_000;
/** Signatures that only the provider can make: no `none`, and none by a shared secret. */
const ALGORITHMS = [
  'RS256',
  'RS384',
  'RS512',
  'PS256',
  'PS384',
  'PS512',
  'ES256',
  'ES384',
  'ES512',
  'EdDSA',
  'Ed25519',
];

export interface OpenIdSettings {
  issuer: string;
  /** The `aud` of bearer tokens for this service. */
  audience: string;
  /** This service as a client of the provider; absent: no sign-in in the browser. */
  client?: { id: string; secret?: string | undefined; scope: string };
  timeoutMs?: number;
  /** For how long after fetching keys an unknown key id does not fetch them again. */
  keyCooldownMs?: number;
  /** For how long after a failed discovery the provider is not asked again. */
  discoveryCooldownMs?: number;
}

/** The provider that the environment configures, if any. */
export function configuredOpenIdProvider({
  OIDC_ISSUER: issuer,
  OIDC_AUDIENCE: audience,
  ...config
}: Config): IdentityProvider | undefined {
  if (issuer === undefined || audience === undefined) return undefined;
  const { OIDC_CLIENT_ID: id, OIDC_CLIENT_SECRET: secret, OIDC_SCOPE: scope } = config;
  return createOpenIdProvider({ issuer, audience, ...(id !== undefined && { client: { id, secret, scope } }) });
}

const TIMEOUT_MS = 5_000;

interface Discovered {
  config: oidc.Configuration;
  keys: ReturnType<typeof createRemoteJWKSet>;
}

/** The OpenID provider behind an issuer, found by discovery (OpenID Connect Discovery 1.0) when it is first needed. */
export function createOpenIdProvider(settings: OpenIdSettings): IdentityProvider {
  const { issuer, audience, client, discoveryCooldownMs = 3_000 } = settings;
  const { fetch } = createLibraryFetch(undefined, {
    timeoutMs: settings.timeoutMs ?? TIMEOUT_MS,
    maxBytes: 1_048_576,
  });
  const kept = new LRUCache<string, { outcome: IdentityOutcome; untilMs: number }>({ max: KEPT_TOKENS });
  let discovery: Promise<Discovered> | undefined;

  const discovered = (): Promise<Discovered> => {
    if (!discovery) {
      discovery = discover(settings, fetch);
      discovery.catch(() => setTimeout(() => (discovery = undefined), discoveryCooldownMs).unref());
    }
    return discovery;
  };

  const check = async (token: string): Promise<{ outcome: IdentityOutcome; expiresAtMs: number }> => {
    try {
      const { keys } = await discovered();
      const { payload } = await jwtVerify(token, keys, {
        issuer,
        audience,
        algorithms: ALGORITHMS,
        clockTolerance: CLOCK_SKEW_SECONDS,
        requiredClaims: ['exp', 'sub'],
      });
      return { outcome: outcomeOf(payload), expiresAtMs: (payload.exp ?? 0) * 1_000 };
    } catch (error) {
      return {
        outcome: isRefusal(error) ? { outcome: 'invalid' } : failedSignIn(outboundFailure(error)),
        expiresAtMs: 0,
      };
    }
  };

  return {
    async verify(token) {
      const known = kept.get(token);
      if (known && known.untilMs > Date.now()) return known.outcome;
      kept.delete(token);
      if (claimedIssuer(token) !== issuer) return { outcome: 'invalid' };
      const { outcome, expiresAtMs } = await check(token);
      if (outcome.outcome === 'valid')
        kept.set(token, { outcome, untilMs: Math.min(expiresAtMs, Date.now() + KEPT_MS) });
      return outcome;
    },
    ...(client && { browser: browserSignIn(async () => (await discovered()).config, client.scope) }),
  };
}

function browserSignIn(
  configuration: () => Promise<oidc.Configuration>,
  scope: string,
): NonNullable<IdentityProvider['browser']> {
  return {
    async begin(returnUrl) {
      try {
        const config = await configuration();
        const pending = {
          state: oidc.randomState(),
          nonce: oidc.randomNonce(),
          verifier: oidc.randomPKCECodeVerifier(),
        };
        const url = oidc.buildAuthorizationUrl(config, {
          redirect_uri: returnUrl,
          scope,
          state: pending.state,
          nonce: pending.nonce,
          code_challenge: await oidc.calculatePKCECodeChallenge(pending.verifier),
          code_challenge_method: 'S256',
        });
        return { outcome: 'begun', url: url.href, pending };
      } catch (error) {
        return failedSignIn(outboundFailure(error));
      }
    },

    async complete(arrivedAt, { state, nonce, verifier }) {
      try {
        const config = await configuration();
        const tokens = await oidc.authorizationCodeGrant(config, new URL(arrivedAt), {
          expectedState: state,
          expectedNonce: nonce,
          pkceCodeVerifier: verifier,
          idTokenExpected: true,
        });
        const claims = tokens.claims();
        if (!claims) return { outcome: 'invalid' };
        if (claims.email !== undefined) return outcomeOf(claims);
        const profile = await oidc.fetchUserInfo(config, tokens.access_token, claims.sub);
        return outcomeOf({ ...claims, ...(profile as JWTPayload) });
      } catch (error) {
        return isRefusal(error) ? { outcome: 'invalid' } : failedSignIn(outboundFailure(error));
      }
    },
  };
}

function claimedIssuer(token: string): string | undefined {
  try {
    return decodeJwt(token).iss;
  } catch {
    return undefined;
  }
}

function outcomeOf({ email, email_verified: isVerified, amr }: JWTPayload): IdentityOutcome {
  // Some providers write the claim as a string.
  if (typeof email !== 'string' || (isVerified !== true && isVerified !== 'true')) return { outcome: 'invalid' };
  const aal: Identity['aal'] = Array.isArray(amr) && amr.includes('mfa') ? 'aal2' : 'aal1';
  return { outcome: 'valid', identity: { email: email.toLowerCase(), aal } };
}

/** Whether the provider refused, or what it sent is invalid; any other error means that it is not reachable. */
function isRefusal(error: unknown): boolean {
  if (error instanceof errors.JOSEError)
    return !['ERR_JOSE_GENERIC', 'ERR_JWKS_TIMEOUT', 'ERR_JWKS_INVALID'].includes(error.code);
  if (error instanceof oidc.AuthorizationResponseError || error instanceof oidc.ResponseBodyError) return true;
  return error instanceof oidc.ClientError && /^OAUTH_(JWT|INVALID_RESPONSE|KEY_SELECTION)/.test(error.code ?? '');
}

async function discover(
  { issuer, audience, client, timeoutMs = TIMEOUT_MS, keyCooldownMs = 30_000 }: OpenIdSettings,
  fetch: ReturnType<typeof createLibraryFetch>['fetch'],
): Promise<Discovered> {
  const config = await oidc.discovery(
    new URL(issuer),
    client?.id ?? audience,
    { [oidc.clockTolerance]: CLOCK_SKEW_SECONDS },
    client?.secret === undefined ? oidc.None() : oidc.ClientSecretPost(client.secret),
    {
      [oidc.customFetch]: (url, options) => fetch(url, options as RequestInit),
      timeout: timeoutMs / 1_000,
      execute: [oidc.enableNonRepudiationChecks, ...(issuer.startsWith('http:') ? [oidc.allowInsecureRequests] : [])],
    },
  );
  const keys = createRemoteJWKSet(new URL(config.serverMetadata().jwks_uri ?? ''), {
    [joseFetch]: fetch,
    timeoutDuration: timeoutMs,
    cooldownDuration: keyCooldownMs,
  });
  return { config, keys };
}
