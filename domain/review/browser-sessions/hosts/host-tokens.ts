import { jwtVerify, SignJWT } from 'jose';
import { z } from 'zod';
import type { PublicTokenRing } from '../../../kernel/encryption/public-token-ring.ts';
import type { TokenRing } from '../../../kernel/encryption/token-ring.ts';
import { type Actor, ROLES } from '../../../kernel/shared/actor.ts';
import { newId } from '../../../kernel/shared/ids.ts';

/** Time to connect with a token. */
export const HOST_TOKEN_SECONDS = 60;
const AUDIENCE = 'browser-host';
const TYPE = 'browser-host+jwt';

/** What a connection to a host is for: `connect` is automation by the Chrome DevTools Protocol. */
const HOST_ASKS = ['watch', 'control', 'connect'] as const;
export type HostAsk = (typeof HOST_ASKS)[number];

/** One connection to a session that a browser host runs. */
export interface HostGrant {
  /** The only host that takes it. */
  hostId: string;
  sessionId: string;
  asks: HostAsk;
  /** Actor whose connection it is, in the tenant of the session. */
  by: Actor;
  /** The live link by which they came; null: with a credential of their own. */
  linkId: string | null;
  /** When the connection ends at the latest. */
  until: Date;
}

/** A grant with what tells its token from others. */
export interface SignedGrant extends HostGrant {
  tokenId: string;
  /** When nobody may connect with it any more. */
  expiresAt: Date;
}

/** Tokens by which the API, or who got one of it, connects to a host once. */
export interface HostTokens {
  sign(grant: HostGrant, now: Date): Promise<string>;
  /** What a token grants; undefined when it is altered, expired, or no token for hosts. It does not spend the token. */
  open(token: string, now: Date): Promise<SignedGrant | undefined>;
}

const Payload = z.object({
  sub: z.uuid(),
  jti: z.uuid(),
  exp: z.int(),
  host: z.uuid(),
  asks: z.enum(HOST_ASKS),
  link: z.string().nullable(),
  until: z.int(),
  by: z.object({
    type: z.enum(['user', 'application', 'run', 'operator', 'system']),
    id: z.string(),
    tenantId: z.string(),
    tenantSlug: z.string(),
    role: z.enum(ROLES),
    email: z.string(),
    sessionId: z.uuid().optional(),
  }),
});

/** Signed by the keys of access tokens, for an audience of their own: neither is ever taken for the other (RFC 8725, 3.8). */
export const createHostTokens = (ring: TokenRing, issuer: string): HostTokens => ({
  ...createHostTokenReader(ring, issuer),
  sign: ({ hostId, sessionId, asks, by, linkId, until }, now) => {
    const { type, id, tenantId, tenantSlug, role, email, sessionId: signedIn } = by;
    return new SignJWT({
      host: hostId,
      asks,
      link: linkId,
      until: Math.floor(until.getTime() / 1000),
      by: { type, id, tenantId, tenantSlug, role, email, ...(signedIn !== undefined && { sessionId: signedIn }) },
    })
      .setProtectedHeader({ alg: ring.algorithm, kid: ring.signing.kid, typ: TYPE })
      .setIssuer(issuer)
      .setAudience(AUDIENCE)
      .setSubject(sessionId)
      .setJti(newId())
      .setExpirationTime(Math.floor(now.getTime() / 1000) + HOST_TOKEN_SECONDS)
      .sign(ring.signing.privateKey);
  },
});

/** What a host needs of them: it signs none. */
export const createHostTokenReader = (
  { publicKeyOf, algorithm }: PublicTokenRing,
  issuer: string,
): Pick<HostTokens, 'open'> => ({
  async open(token, now) {
    try {
      const { payload } = await jwtVerify(token, ({ kid }) => publicKeyOf(kid), {
        issuer,
        audience: AUDIENCE,
        algorithms: [algorithm],
        typ: TYPE,
        currentDate: now,
      });
      const { sub, jti, exp, host, asks, link, until, by } = Payload.parse(payload);
      const { sessionId, ...who } = by;
      return {
        tokenId: jti,
        expiresAt: new Date(exp * 1000),
        hostId: host,
        sessionId: sub,
        asks,
        by: { ...who, ...(sessionId !== undefined && { sessionId }) },
        linkId: link,
        until: new Date(until * 1000),
      };
    } catch {
      return undefined;
    }
  },
});

/** The grant of a token that is for this host and was not used before; from now on it was. */
export type AdmitToken = (token: string, now: Date) => Promise<SignedGrant | undefined>;

/** What a host admits: each of its tokens once. Used ones are remembered until they expire. */
export function admittedTo(hostId: string, tokens: Pick<HostTokens, 'open'>): AdmitToken {
  const used = new Map<string, number>();
  return async (token, now) => {
    const grant = await tokens.open(token, now);
    if (grant?.hostId !== hostId || grant.until <= now) return undefined;
    for (const [tokenId, expiresAtMs] of used) {
      if (expiresAtMs > now.getTime()) break;
      used.delete(tokenId);
    }
    if (used.has(grant.tokenId)) return undefined;
    used.set(grant.tokenId, grant.expiresAt.getTime());
    return grant;
  };
}
