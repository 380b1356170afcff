import type { MikroORM } from '@mikro-orm/postgresql';
import type { Actor, Role } from '../shared/actor.ts';
import { newId } from '../shared/ids.ts';
import { type Tx, unitOfWork } from '../unit-of-work.ts';
import type { AccessTokens } from './access-tokens.ts';
import { hashSecret, isPasswordRight, newRefreshToken } from './secrets.ts';

const REFRESH_DAYS = 30;

export interface SignedIn {
  accessToken: string;
  refreshToken: string;
  aal: string;
  user: { id: string; email: string; role: Role };
}

/** Sessions of people: begun by a password, kept by a rotating refresh token, ended by logout or by a token's reuse. */
export interface SignIn {
  /** @param tenant slug; absent: the tenant of the oldest membership. */
  withPassword(input: { email: string; password: string; tenant?: string | undefined; requestId: string }): Promise<SignedIn | undefined>;
  /** Spends the token and gives a new one; a spent token that comes again ends its whole session. */
  refresh(refreshToken: string, requestId: string): Promise<SignedIn | undefined>;
  /** Ends the session of a refresh token; an unknown one changes nothing. */
  end(refreshToken: string, requestId: string): Promise<void>;
}

interface LoginRow {
  user_id: string;
  password_hash: string | null;
  tenant_id: string | null;
  role: Role | null;
}
interface RefreshRow {
  tenant_id: string;
  session_id: string;
  user_id: string;
  email: string;
}

export function createSignIn(orm: MikroORM, accessTokens: AccessTokens): SignIn {
  const query = <Row>(statement: string, parameters: unknown[]): Promise<Row[]> =>
    orm.em.getConnection().execute(statement, parameters) as unknown as Promise<Row[]>;
  const personOf = (tenantId: string, userId: string, email: string, role: Role): Actor => ({
    type: 'user',
    id: userId,
    tenantId,
    role,
    email,
  });
  const signedIn = async (actor: Actor, sessionId: string, aal: string, refreshToken: string): Promise<SignedIn> => ({
    accessToken: await accessTokens.sign({
      sub: actor.id,
      tenant: actor.tenantId,
      role: actor.role,
      email: actor.email,
      aal,
      sid: sessionId,
    }),
    refreshToken,
    aal,
    user: { id: actor.id, email: actor.email, role: actor.role },
  });
  const keepRefreshToken = async (tx: Tx, sessionId: string): Promise<string> => {
    const token = newRefreshToken();
    await tx.sql('insert into refresh_token (token_hash, tenant_id, session_id) values (?, ?, ?)', [
      hashSecret(token),
      tx.tenantId,
      sessionId,
    ]);
    return token;
  };
  const findRefresh = async (token: string): Promise<RefreshRow | undefined> =>
    (await query<RefreshRow>('select * from auth_refresh(?)', [hashSecret(token)]))[0];

  return {
    async withPassword({ email, password, tenant, requestId }) {
      const [found] = await query<LoginRow>('select * from auth_login(?, ?)', [email, tenant ?? null]);
      const isRight = await isPasswordRight(found?.password_hash, password);
      if (!isRight || !found?.tenant_id || !found.role) return undefined;
      const actor = personOf(found.tenant_id, found.user_id, email.toLowerCase(), found.role);
      return unitOfWork(orm, { actor, requestId })(async (tx) => {
        const sessionId = newId();
        await tx.sql(
          `insert into auth_session (id, tenant_id, user_id, aal, expires_at)
           values (?, ?, ?, 'aal1', now() + make_interval(days => ?))`,
          [sessionId, tx.tenantId, actor.id, REFRESH_DAYS],
        );
        tx.audit({
          source: 'user',
          action: 'auth.signed_in',
          entityType: 'session',
          entityId: sessionId,
          summary: `${actor.email} signed in by password`,
        });
        return signedIn(actor, sessionId, 'aal1', await keepRefreshToken(tx, sessionId));
      });
    },

    async refresh(refreshToken, requestId) {
      const found = await findRefresh(refreshToken);
      if (!found) return undefined;
      const bearer = personOf(found.tenant_id, found.user_id, found.email, 'member');
      return unitOfWork(orm, { actor: bearer, requestId })(async (tx) => {
        const [session] = await tx.sql<{ role: Role | null; aal: string }>(
          `select a.role, s.aal from auth_sessions(array[?]::uuid[]) a join auth_session s on s.id = a.id for update of s`,
          [found.session_id],
        );
        if (!session?.role) return undefined;
        const actor = { ...bearer, role: session.role };
        const spent = await tx.sql(
          'update refresh_token set spent_at = now() where token_hash = ? and spent_at is null returning 1',
          [hashSecret(refreshToken)],
        );
        if (spent.length === 0) {
          await endSession(tx, found.session_id, 'a spent refresh token came again');
          return undefined;
        }
        await tx.sql(`update auth_session set expires_at = now() + make_interval(days => ?), updated_at = now() where id = ?`, [
          REFRESH_DAYS,
          found.session_id,
        ]);
        return signedIn(actor, found.session_id, session.aal, await keepRefreshToken(tx, found.session_id));
      });
    },

    async end(refreshToken, requestId) {
      const found = await findRefresh(refreshToken);
      if (!found) return;
      const actor = personOf(found.tenant_id, found.user_id, found.email, 'member');
      await unitOfWork(orm, { actor, requestId })((tx) => endSession(tx, found.session_id, 'logout'));
    },
  };
}

async function endSession(tx: Tx, sessionId: string, reason: string): Promise<void> {
  const ended = await tx.sql('update auth_session set revoked_at = now() where id = ? and revoked_at is null returning 1', [
    sessionId,
  ]);
  if (ended.length === 0) return;
  tx.audit({
    source: 'user',
    action: 'auth.session_ended',
    entityType: 'session',
    entityId: sessionId,
    summary: `Session ended: ${reason}`,
  });
}
