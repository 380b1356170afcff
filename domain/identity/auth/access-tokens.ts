import { exportJWK, type JWK, jwtVerify, SignJWT } from 'jose';
import { LRUCache } from 'lru-cache';
import { newId } from '../../kernel/shared/ids.ts';
import type { Role } from '../../kernel/shared/actor.ts';
import type { TokenRing } from '../../kernel/encryption/token-ring.ts';

export const ACCESS_TOKEN_SECONDS = 3_600;
const AUDIENCE = 'quayside';
/** Tokens whose signature was checked, kept until they expire: the check costs more than the rest of authentication. */
const KEPT_TOKENS = 10_000;

/** `aal2`: after a second factor. */
export type AssuranceLevel = 'aal1' | 'aal2';

export interface AccessClaims {
  sub: string;
  tenant: string;
  role: Role;
  email: string;
  aal: AssuranceLevel;
  /** The session that the token belongs to; once it has ended, its tokens are refused. */
  sid: string;
}

export interface AccessTokens {
  sign(claims: AccessClaims): Promise<string>;
  /** The claims of a valid token of this service; undefined for any other text. */
  verify(token: string): Promise<AccessClaims | undefined>;
  /** Public keys (RFC 7517). */
  jwks(): Promise<{ keys: JWK[] }>;
}

/** @param issuer the public address of the service. */
export function createAccessTokens(
  { algorithm, signing, publicKeys, publicKeyOf }: TokenRing,
  issuer: string,
): AccessTokens {
  const kept = new LRUCache<string, { claims: AccessClaims; expiresAtSeconds: number }>({ max: KEPT_TOKENS });
  const hasOwnHeader = ownHeaders(publicKeys);

  return {
    sign: (claims) =>
      new SignJWT({ ...claims })
        .setProtectedHeader({ alg: algorithm, kid: signing.kid, typ: 'JWT' })
        .setIssuer(issuer)
        .setAudience(AUDIENCE)
        .setJti(newId())
        .setIssuedAt()
        .setExpirationTime(`${ACCESS_TOKEN_SECONDS}s`)
        .sign(signing.privateKey),

    async verify(token) {
      const known = kept.get(token);
      if (known) {
        if (known.expiresAtSeconds > Date.now() / 1000) return known.claims;
        kept.delete(token);
        return undefined;
      }
      if (!hasOwnHeader(token)) return undefined;
      try {
        const { payload } = await jwtVerify<AccessClaims>(token, ({ kid }) => publicKeyOf(kid), {
          issuer,
          audience: AUDIENCE,
          algorithms: [algorithm],
          requiredClaims: ['exp', 'sub', 'sid', 'tenant'],
        });
        kept.set(token, { claims: payload, expiresAtSeconds: payload.exp ?? 0 });
        return payload;
      } catch {
        return undefined;
      }
    },

    async jwks() {
      const keys = [...publicKeys].map(async ([kid, publicKey]) => ({
        ...(await exportJWK(publicKey)),
        kid,
        alg: algorithm,
        use: 'sig',
      }));
      return { keys: await Promise.all(keys) };
    },
  };
}

/** Few headers are in use at a time: one per signing key, ours or a provider's. */
const KEPT_HEADERS = 100;

/**
 * Whether a token's header names a key of the ring (`kid`; RFC 7515, section 4.1.4). It tells tokens of others apart: a
 * failed verification costs more than the rest of a check.
 */
function ownHeaders(publicKeys: TokenRing['publicKeys']): (token: string) => boolean {
  const kept = new LRUCache<string, boolean>({ max: KEPT_HEADERS });
  return (token) => {
    const header = token.slice(0, Math.max(0, token.indexOf('.')));
    let isOwn = kept.get(header);
    if (isOwn === undefined) kept.set(header, (isOwn = publicKeys.has(keyIdOf(header) ?? '')));
    return isOwn;
  };
}

function keyIdOf(header: string): string | undefined {
  try {
    const { kid } = JSON.parse(Buffer.from(header, 'base64url').toString()) as { kid?: unknown };
    return typeof kid === 'string' ? kid : undefined;
  } catch {
    return undefined;
  }
}
