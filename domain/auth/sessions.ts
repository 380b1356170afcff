import type { Actor, Role } from '../shared/actor.ts';
import { newId } from '../shared/ids.ts';
import type { Tx } from '../unit-of-work.ts';
import type { AssuranceLevel } from './access-tokens.ts';
import { hashSecret, newRefreshToken, newSessionCookie } from './secrets.ts';

/** A session that is kept by refresh tokens ends so long after its last refresh. */
const REFRESH_DAYS = 30;
/** A browser's session ends so long after its beginning, whatever it is used for: a working day. */
export const COOKIE_SECONDS = 12 * 3_600;

/** A person of whom it is proven who they are. */
export interface Proof {
  actor: Actor;
  aal: AssuranceLevel;
  /** How they proved it, for the trail: `by password`. */
  how: string;
}

/** Begins a session that is kept by refresh tokens; answers its id and the first of them. */
export async function beginTokenSession(
  tx: Tx,
  { aal, how }: Proof,
): Promise<{ sessionId: string; refreshToken: string }> {
  const sessionId = newId();
  await tx.sql(
    `insert into auth_session (id, tenant_id, user_id, aal, expires_at)
     values (?, ?, ?, ?, now() + make_interval(days => ?))`,
    [sessionId, tx.tenantId, tx.actor.id, aal, REFRESH_DAYS],
  );
  noteBeginning(tx, sessionId, how);
  return { sessionId, refreshToken: await keepRefreshToken(tx, sessionId) };
}

/**
 * Begins a browser's session, always a new one; answers the secret for its cookie.
 * @param begunFrom the session of the token that it was exchanged for, with which it ends.
 */
export async function beginCookieSession(tx: Tx, { aal, how }: Proof, begunFrom?: string): Promise<string> {
  const [sessionId, cookie] = [newId(), newSessionCookie()];
  await tx.sql(
    `insert into auth_session (id, tenant_id, user_id, aal, expires_at, cookie_hash, begun_from)
     values (?, ?, ?, ?, now() + make_interval(secs => ?), ?, ?)`,
    [sessionId, tx.tenantId, tx.actor.id, aal, COOKIE_SECONDS, hashSecret(cookie), begunFrom ?? null],
  );
  noteBeginning(tx, sessionId, how);
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

async function keepRefreshToken(tx: Tx, sessionId: string): Promise<string> {
  const token = newRefreshToken();
  await tx.sql('insert into refresh_token (token_hash, tenant_id, session_id) values (?, ?, ?)', [
    hashSecret(token),
    tx.tenantId,
    sessionId,
  ]);
  return token;
}

/** Spends a refresh token of a session and gives the next one; a spent token that comes again ends the session. */
export async function continueSession(
  tx: Tx,
  sessionId: string,
  refreshToken: string,
): Promise<{ role: Role; aal: AssuranceLevel; refreshToken: string } | undefined> {
  const [session] = await tx.sql<{ role: Role | null; aal: AssuranceLevel }>(
    `select a.role, s.aal from auth_sessions(array[?]::uuid[]) a join auth_session s on s.id = a.id for update of s`,
    [sessionId],
  );
  if (!session?.role) return undefined;
  const spent = await tx.sql(
    'update refresh_token set spent_at = now() where token_hash = ? and spent_at is null returning 1',
    [hashSecret(refreshToken)],
  );
  if (spent.length === 0) {
    await endSession(tx, sessionId, 'a spent refresh token came again');
    return undefined;
  }
  await tx.sql(
    `update auth_session set expires_at = now() + make_interval(days => ?), updated_at = now() where id = ?`,
    [REFRESH_DAYS, sessionId],
  );
  return { role: session.role, aal: session.aal, refreshToken: await keepRefreshToken(tx, sessionId) };
}

export async function isUnspent({ sql }: Tx, sessionId: string, refreshToken: string): Promise<boolean> {
  const found = await sql('select 1 from refresh_token where token_hash = ? and session_id = ? and spent_at is null', [
    hashSecret(refreshToken),
    sessionId,
  ]);
  return found.length > 0;
}

/** Ends a session and those that were begun from it; one that has ended stays as it is. */
export async function endSession(tx: Tx, sessionId: string, reason: string): Promise<void> {
  const ended = await tx.sql<{ id: string }>(
    'update auth_session set revoked_at = now() where (id = ? or begun_from = ?) and revoked_at is null returning id',
    [sessionId, sessionId],
  );
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
