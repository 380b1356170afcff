import { jwtVerify, SignJWT } from 'jose';
import type { TokenRing } from '../encryption/token-ring.ts';

/** How long a link works. */
export const LINK_SECONDS = 900;
const AUDIENCE = 'quayside-download';

/** What a link opens: one object, and nothing else. */
export interface LinkedObject {
  key: string;
  fileName: string;
  contentType: string;
}

/** Links that anybody who has them may open for a while, without a credential. */
export interface DownloadLinks {
  /** The token of a link. */
  sign(object: LinkedObject, now: Date): Promise<string>;
  /** What a token opens; undefined when it is altered, expired, or no token of a link. */
  open(token: string, now: Date): Promise<LinkedObject | undefined>;
}

/** Signed by the keys of access tokens, for an audience of their own: neither is ever taken for the other (RFC 8725, 3.8). */
export const createDownloadLinks = ({ signing, publicKeyOf, algorithm }: TokenRing, issuer: string): DownloadLinks => ({
  sign: ({ key, fileName, contentType }, now) =>
    new SignJWT({ fileName, contentType })
      .setProtectedHeader({ alg: algorithm, kid: signing.kid, typ: 'download+jwt' })
      .setIssuer(issuer)
      .setAudience(AUDIENCE)
      .setSubject(key)
      .setExpirationTime(Math.floor(now.getTime() / 1000) + LINK_SECONDS)
      .sign(signing.privateKey),

  async open(token, now) {
    try {
      const { payload } = await jwtVerify<Omit<LinkedObject, 'key'>>(token, ({ kid }) => publicKeyOf(kid), {
        issuer,
        audience: AUDIENCE,
        algorithms: [algorithm],
        typ: 'download+jwt',
        requiredClaims: ['exp', 'sub'],
        currentDate: now,
      });
      return { key: payload.sub ?? '', fileName: payload.fileName, contentType: payload.contentType };
    } catch {
      return undefined;
    }
  },
});
