import type pg from 'pg';
import { batched } from '../shared/batched.ts';
import type { Actor, Role } from '../shared/actor.ts';
import { isId } from '../shared/ids.ts';
import type { AccessTokens } from './access-tokens.ts';
import { APPLICATION_TOKEN_PREFIX, hashSecret } from './secrets.ts';

/**
 * Finds who stands behind a bearer credential. It asks the database on each call, so that a revoked token, an ended
 * session or a changed role holds on the next request; concurrent calls share one query.
 */
export type Authenticate = (bearer: string) => Promise<Actor | undefined>;

interface TokenRow {
  token_hash: string;
  id: string;
  tenant_id: string;
  name: string;
  project_ids: string[] | null;
  is_use_stale: boolean;
}
interface SessionRow {
  id: string;
  user_id: string;
  tenant_id: string;
  email: string;
  role: Role | null;
}

/** Under load, so many milliseconds between two queries: they are many, and each is small. */
const REST_MS = 1;

export function createAuthenticator(
  pool: pg.Pool,
  accessTokens: AccessTokens,
  onError: (error: unknown) => void,
): Authenticate {
  const findTokens = async (hashes: string[]) => {
    const { rows } = await pool.query<TokenRow>({
      name: 'auth-application-tokens',
      text: 'select * from auth_application_tokens($1)',
      values: [hashes],
    });
    const stale = rows.filter((row) => row.is_use_stale).map(({ id }) => id);
    if (stale.length > 0) pool.query('select auth_touch_application_tokens($1)', [stale]).catch(onError);
    const byHash = new Map(rows.map((row) => [row.token_hash, row]));
    return hashes.map((hash) => byHash.get(hash));
  };
  const findSessions = async (ids: string[]) => {
    const { rows } = await pool.query<SessionRow>({
      name: 'auth-sessions',
      text: 'select * from auth_sessions($1)',
      values: [ids],
    });
    const byId = new Map(rows.map((row) => [row.id, row]));
    return ids.map((id) => byId.get(id));
  };
  const findToken = batched(findTokens, { restMs: REST_MS });
  const findSession = batched(findSessions, { restMs: REST_MS });

  return async (bearer) => {
    if (bearer.startsWith(APPLICATION_TOKEN_PREFIX)) {
      const row = await findToken(hashSecret(bearer));
      return (
        row && {
          type: 'application',
          id: row.id,
          tenantId: row.tenant_id,
          role: 'application',
          email: `app:${row.name}`,
          ...(row.project_ids && { projectIds: row.project_ids }),
        }
      );
    }
    const claims = await accessTokens.verify(bearer);
    if (!claims || !isId(claims.sid)) return undefined;
    const session = await findSession(claims.sid);
    if (!session?.role || session.user_id !== claims.sub || session.tenant_id !== claims.tenant) return undefined;
    return {
      type: 'user',
      id: session.user_id,
      tenantId: session.tenant_id,
      role: session.role,
      email: session.email,
      sessionId: session.id,
    };
  };
}
