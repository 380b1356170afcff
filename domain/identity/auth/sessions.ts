import type { Database } from '../../kernel/data/tables.ts';
import type { Actor, Role } from '../../kernel/shared/actor.ts';
import type { UnitOfWork } from '../../unit-of-work.ts';
import type { AccessTokens, AssuranceLevel } from './access-tokens.ts';
import { findRefreshToken } from './credentials.queries.ts';
import {
  beginCookieSession,
  beginTokenSession,
  continueSession,
  endSession,
  type Proof,
} from './sessions.mutations.ts';

/** A unit of work of somebody who has just been found. */
export type ActingAs = (actor: Actor, context?: { requestId?: string | undefined }) => UnitOfWork;

export interface SignedIn {
  accessToken: string;
  refreshToken: string;
  aal: AssuranceLevel;
  user: { id: string; email: string; role: Role };
}

/** Sessions of people who have proved who they are: begun, continued and ended. */
export interface Sessions {
  /** Begins one of an API client. */
  beginWithTokens(proof: Proof, requestId: string): Promise<SignedIn>;
  /** Begins one of a browser; answers the secret of its cookie. `begunFrom`: the session with which it ends. */
  beginWithCookie(proof: Proof, requestId: string, begunFrom?: string): Promise<string>;
  /** Spends the token and gives a new one; a spent token that is sent again ends its whole session. */
  refresh(refreshToken: string, requestId: string): Promise<SignedIn | undefined>;
  /** Ends the session of a refresh token; an unknown one changes nothing. */
  end(refreshToken: string, requestId: string): Promise<void>;
  /** Ends the session in which a person acts. */
  endOwn(actor: Actor, requestId: string): Promise<void>;
}

interface SessionParts {
  /** With the application's role, outside any tenant. */
  database: Database;
  actingAs: ActingAs;
  accessTokens: AccessTokens;
}

export function createSessions({ database, actingAs, accessTokens }: SessionParts): Sessions {
  const signedIn = async (
    { id, tenantId, role, email }: Actor,
    sessionId: string,
    aal: AssuranceLevel,
    refreshToken: string,
  ): Promise<SignedIn> => ({
    accessToken: await accessTokens.sign({ sub: id, tenant: tenantId, role, email, aal, sid: sessionId }),
    refreshToken,
    aal,
    user: { id, email, role },
  });
  /** The session of a refresh token, and its person, whose role is not known yet. */
  const ownerOf = async (refreshToken: string): Promise<{ sessionId: string; actor: Actor } | undefined> => {
    const found = await findRefreshToken(database, refreshToken);
    if (!found) return undefined;
    const { sessionId, userId: id, tenantId, tenantSlug, email } = found;
    return { sessionId, actor: { type: 'user', id, tenantId, tenantSlug, role: 'member', email } };
  };

  return {
    beginWithTokens: (proof, requestId) =>
      actingAs(proof.actor, { requestId })(async (tx) => {
        const { sessionId, refreshToken } = await beginTokenSession(tx, proof);
        return signedIn(proof.actor, sessionId, proof.aal, refreshToken);
      }),

    beginWithCookie: (proof, requestId, begunFrom) =>
      actingAs(proof.actor, { requestId })((tx) => beginCookieSession(tx, proof, begunFrom)),

    async refresh(refreshToken, requestId) {
      const owner = await ownerOf(refreshToken);
      if (!owner) return undefined;
      const { actor, sessionId } = owner;
      return actingAs(actor, { requestId })(async (tx) => {
        const next = await continueSession(tx, sessionId, refreshToken);
        return next && signedIn({ ...actor, role: next.role }, sessionId, next.aal, next.refreshToken);
      });
    },

    async end(refreshToken, requestId) {
      const owner = await ownerOf(refreshToken);
      if (!owner) return;
      await actingAs(owner.actor, { requestId })((tx) => endSession(tx, owner.sessionId, 'logout'));
    },

    async endOwn(actor, requestId) {
      const { sessionId } = actor;
      if (sessionId !== undefined) await actingAs(actor, { requestId })((tx) => endSession(tx, sessionId, 'logout'));
    },
  };
}
