import { createPrivateKey, createPublicKey, type KeyObject } from 'node:crypto';
import { exportJWK, type JWK, jwtVerify, SignJWT } from 'jose';
import { newId } from '../shared/ids.ts';
import type { Role } from '../shared/actor.ts';

export const ACCESS_TOKEN_SECONDS = 3_600;
const AUDIENCE = 'quayside';
const ALGORITHM = 'EdDSA';
/** Checked signatures are kept until the token expires: the check costs more than all the rest of authentication. */
const KEPT_TOKENS = 10_000;

/** `aal2`: after a second factor. */
export type AssuranceLevel = 'aal1' | 'aal2';

export interface AccessClaims {
  sub: string;
  tenant: string;
  role: Role;
  email: string;
  aal: AssuranceLevel;
  /** The session that the token belongs to; ended, its tokens are refused. */
  sid: string;
}

export interface AccessTokens {
  sign(claims: AccessClaims): Promise<string>;
  /** The claims of a token of ours that is valid now; undefined for any other text. */
  verify(token: string): Promise<AccessClaims | undefined>;
  /** Public keys (RFC 7517). */
  jwks(): Promise<{ keys: JWK[] }>;
}

/**
 * @param tokenKeys `id:base64 of an Ed25519 private key in PKCS#8 DER`, comma-separated: the first signs, all verify.
 * @param issuer the public address of the service.
 */
export function createAccessTokens(tokenKeys: string, issuer: string): AccessTokens {
  const ring = new Map<string, { privateKey: KeyObject; publicKey: KeyObject }>();
  for (const entry of tokenKeys.split(',')) {
    const [kid = '', der = ''] = entry.trim().split(/:(.*)/s);
    const privateKey = createPrivateKey({ key: Buffer.from(der, 'base64'), format: 'der', type: 'pkcs8' });
    if (kid === '' || privateKey.asymmetricKeyType !== 'ed25519') {
      throw new Error('each entry must be <id>:<base64 of an Ed25519 private key in PKCS#8 DER>');
    }
    ring.set(kid, { privateKey, publicKey: createPublicKey(privateKey) });
  }
  const [signing] = ring;
  if (!signing) throw new Error('there must be at least one key');
  const [signingKid, { privateKey: signingKey }] = signing;
  const kept = new Map<string, { claims: AccessClaims; expiresAtSeconds: number }>();

  return {
    sign: (claims) =>
      new SignJWT({ ...claims })
        .setProtectedHeader({ alg: ALGORITHM, kid: signingKid, typ: 'JWT' })
        .setIssuer(issuer)
        .setAudience(AUDIENCE)
        .setJti(newId())
        .setIssuedAt()
        .setExpirationTime(`${ACCESS_TOKEN_SECONDS}s`)
        .sign(signingKey),

    async verify(token) {
      const known = kept.get(token);
      if (known) {
        if (known.expiresAtSeconds > Date.now() / 1000) return known.claims;
        kept.delete(token);
        return undefined;
      }
      try {
        const { payload } = await jwtVerify<AccessClaims>(
          token,
          ({ kid }) => {
            const key = ring.get(kid ?? '');
            if (!key) throw new Error('unknown key');
            return key.publicKey;
          },
          { issuer, audience: AUDIENCE, algorithms: [ALGORITHM], requiredClaims: ['exp', 'sub', 'sid', 'tenant'] },
        );
        if (kept.size >= KEPT_TOKENS) kept.delete(kept.keys().next().value ?? '');
        kept.set(token, { claims: payload, expiresAtSeconds: payload.exp ?? 0 });
        return payload;
      } catch {
        return undefined;
      }
    },

    async jwks() {
      const keys = [...ring].map(async ([kid, { publicKey }]) => ({
        ...(await exportJWK(publicKey)),
        kid,
        alg: ALGORITHM,
        use: 'sig',
      }));
      return { keys: await Promise.all(keys) };
    },
  };
}
