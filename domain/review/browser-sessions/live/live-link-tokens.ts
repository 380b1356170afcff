import { jwtVerify, SignJWT } from 'jose';
import { z } from 'zod';
import type { TokenRing } from '../../../kernel/encryption/token-ring.ts';

const AUDIENCE = 'browser-live-link';
const TYPE = 'browser-live-link+jwt';

/** What a live link is for. Whether it still holds, its row says. */
export interface LiveLinkKey {
  linkId: string;
  sessionId: string;
  tenantId: string;
  tenantSlug: string;
}

const Payload = z.object({ sub: z.uuid(), jti: z.uuid(), tenant: z.uuid(), slug: z.string() });

/** The secrets of live links: signed, and kept nowhere. */
export interface LiveLinkTokens {
  sign(key: LiveLinkKey, expiresAt: Date): Promise<string>;
  /** Undefined when it is altered, expired, or no token of a live link. */
  open(token: string, now: Date): Promise<LiveLinkKey | undefined>;
}

/** Signed by the keys of access tokens, for an audience of their own: neither is ever taken for the other (RFC 8725, 3.8). */
export const createLiveLinkTokens = (
  { signing, publicKeyOf, algorithm }: TokenRing,
  issuer: string,
): LiveLinkTokens => ({
  sign: ({ linkId, sessionId, tenantId, tenantSlug }, expiresAt) =>
    new SignJWT({ tenant: tenantId, slug: tenantSlug })
      .setProtectedHeader({ alg: algorithm, kid: signing.kid, typ: TYPE })
      .setIssuer(issuer)
      .setAudience(AUDIENCE)
      .setSubject(sessionId)
      .setJti(linkId)
      .setExpirationTime(Math.ceil(expiresAt.getTime() / 1000))
      .sign(signing.privateKey),

  async open(token, now) {
    try {
      const { payload } = await jwtVerify(token, ({ kid }) => publicKeyOf(kid), {
        issuer,
        audience: AUDIENCE,
        algorithms: [algorithm],
        typ: TYPE,
        requiredClaims: ['exp'],
        currentDate: now,
      });
      const { sub, jti, tenant, slug } = Payload.parse(payload);
      return { linkId: jti, sessionId: sub, tenantId: tenant, tenantSlug: slug };
    } catch {
      return undefined;
    }
  },
});
