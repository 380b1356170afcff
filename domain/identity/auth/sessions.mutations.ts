import { sql } from 'kysely';
import type { Actor, Role } from '../../kernel/shared/actor.ts';
import { acceptInvitation } from '../invitations/acceptance.mutations.ts';
import { DomainError } from '../../kernel/shared/errors.ts';
import { newId } from '../../kernel/shared/ids.ts';
import type { Tx } from '../../unit-of-work.ts';
import type { AssuranceLevel } from './access-tokens.ts';
import { findSessions } from './credentials.queries.ts';
import { hashSecret, newRefreshToken, newSessionCookie } from '../../kernel/encryption/secrets.ts';

/** A session that is kept by refresh tokens ends so long after its last refresh. */
const REFRESH_DAYS = 30;
const lastRefreshed = sql<string>`now() + make_interval(days => ${sql.lit(REFRESH_DAYS)})`;
/** A browser's session ends so long after its beginning, whatever it is used for: a working day. */
export const COOKIE_SECONDS = 12 * 3_600;

/** A person in the tenant into which they sign in. */
export interface Entry {
  actor: Actor;
  /** Not a member yet: is accepted as the session begins. */
  invitationId?: string;
  /** The person named the tenant; it is theirs from now on where they name none. */
  isTenantNamed?: boolean;
}

/** A person who has proved who they are. */
export interface Proof extends Entry {
  aal: AssuranceLevel;
  /** How they proved it, for the trail: `by password`. */
  how: string;
}

/** Accepts the invitation and notes the choice that come with a sign-in. */
async function enter(tx: Tx, { actor, invitationId, isTenantNamed = false }: Proof): Promise<void> {
  if (invitationId !== undefined && !(await acceptInvitation(tx, invitationId, actor.id)))
    throw new DomainError('unauthenticated', 'The invitation is no longer open');
  if (!isTenantNamed) return;
  await tx.db
    .updateTable('tenant_user')
    .set({ chosenAt: sql`now()` })
    .where('tenantId', '=', tx.tenantId)
    .where('userId', '=', actor.id)
    .execute();
}

/** Begins a session that is kept by refresh tokens; answers its id and the first of them. */
export async function beginTokenSession(tx: Tx, proof: Proof): Promise<{ sessionId: string; refreshToken: string }> {
  const { aal, how } = proof;
  await enter(tx, proof);
  const sessionId = newId();
  await tx.db
    .insertInto('auth_session')
    .values({ id: sessionId, tenantId: tx.tenantId, userId: tx.actor.id, aal, expiresAt: lastRefreshed })
    .execute();
  noteBeginning(tx, sessionId, how);
  return { sessionId, refreshToken: await addRefreshToken(tx, sessionId) };
}

/**
 * Begins a browser's session, always a new one; answers the secret for its cookie.
 * @param begunFrom the session of the token that it was exchanged for, with which it ends.
 */
export async function beginCookieSession(tx: Tx, proof: Proof, begunFrom?: string): Promise<string> {
  const { aal, how } = proof;
  await enter(tx, proof);
  const [id, cookie] = [newId(), newSessionCookie()];
  await tx.db
    .insertInto('auth_session')
    .values({
      id,
      tenantId: tx.tenantId,
      userId: tx.actor.id,
      aal,
      expiresAt: sql`now() + make_interval(secs => ${sql.lit(COOKIE_SECONDS)})`,
      cookieHash: hashSecret(cookie),
      begunFrom: begunFrom ?? null,
    })
    .execute();
  noteBeginning(tx, id, how);
  return cookie;
}

const noteBeginning = (tx: Tx, sessionId: string, how: string): void =>
  tx.audit({
    source: 'user',
    action: 'auth.signed_in',
    entityType: 'session',
    entityId: sessionId,
    summary: `${tx.actor.email} signed in ${how}`,
  });

async function addRefreshToken({ db, tenantId }: Tx, sessionId: string): Promise<string> {
  const token = newRefreshToken();
  await db
    .insertInto('refresh_token')
    .values({ tokenHash: hashSecret(token), tenantId, sessionId })
    .execute();
  return token;
}

/** Spends a refresh token of a session and gives the next one; a spent token that is sent again ends the session. */
export async function continueSession(
  tx: Tx,
  sessionId: string,
  refreshToken: string,
): Promise<{ role: Role; aal: AssuranceLevel; refreshToken: string } | undefined> {
  // Locked first: of two refreshes at once, the second sees what the first has done.
  const session = await tx.db
    .selectFrom('auth_session')
    .where('id', '=', sessionId)
    .select('aal')
    .forUpdate()
    .executeTakeFirst();
  const [live] = await findSessions(tx.db, { ids: [sessionId] });
  if (!session || !live?.role) return undefined;
  const spent = await tx.db
    .updateTable('refresh_token')
    .set({ spentAt: sql`now()` })
    .where('tokenHash', '=', hashSecret(refreshToken))
    .where('spentAt', 'is', null)
    .returning('sessionId')
    .executeTakeFirst();
  if (!spent) {
    await endSession(tx, sessionId, 'a spent refresh token was sent again');
    return undefined;
  }
  await tx.db
    .updateTable('auth_session')
    .set({ expiresAt: lastRefreshed, updatedAt: sql`now()` })
    .where('id', '=', sessionId)
    .execute();
  return { role: live.role, aal: session.aal, refreshToken: await addRefreshToken(tx, sessionId) };
}

/** Ends a session and those that were begun from it; one that has ended stays as it is. */
export async function endSession(tx: Tx, sessionId: string, reason: string): Promise<void> {
  const ended = await tx.db
    .updateTable('auth_session')
    .set({ revokedAt: sql`now()` })
    .where((eb) => eb.or([eb('id', '=', sessionId), eb('begunFrom', '=', sessionId)]))
    .where('revokedAt', 'is', null)
    .returning('id')
    .execute();
  for (const { id } of ended) {
    tx.audit({
      source: 'user',
      action: 'auth.session_ended',
      entityType: 'session',
      entityId: id,
      summary: `Session ended: ${reason}`,
    });
  }
}
