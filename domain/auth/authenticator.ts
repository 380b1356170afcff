import type pg from 'pg';
import { batched } from '../shared/batched.ts';
import type { Actor, Role } from '../shared/actor.ts';
import { isId } from '../shared/ids.ts';
import type { AccessTokens } from './access-tokens.ts';
import type { IdentityProvider } from './identity-provider.port.ts';
import { APPLICATION_TOKEN_PREFIX, hashSecret } from './secrets.ts';
import { upstreamFailed } from './upstream.ts';

/**
 * Finds who stands behind a credential. It asks the database on each call, so that a revoked token, an ended session or
 * a changed role holds on the next request; concurrent calls share one query.
 */
export interface Authenticator {
  /** An access token, an application token, or a token of the OpenID provider. Throws when that cannot be asked. */
  byBearer(bearer: string): Promise<Actor | undefined>;
  /** The secret of a session cookie. */
  byCookie(secret: string): Promise<Actor | undefined>;
}

interface TokenRow {
  token_hash: string;
  id: string;
  tenant_id: string;
  name: string;
  project_ids: string[] | null;
  is_use_stale: boolean;
}
interface PersonRow {
  user_id: string;
  tenant_id: string;
  email: string;
  role: Role | null;
}
interface SessionRow extends PersonRow {
  id: string;
}

/** Under load, so many milliseconds between two queries: they are many, and each is small. */
const REST_MS = 1;

export function createAuthenticator(
  pool: pg.Pool,
  accessTokens: AccessTokens,
  identityProvider: IdentityProvider | undefined,
  onError: (error: unknown) => void,
): Authenticator {
  /** Asks a function of the database, which takes an array, for many calls at once. */
  const finder = <Row extends object>(functionName: string, keyOf: (row: Row) => string) =>
    batched(
      async (keys: string[]) => {
        const { rows } = await pool.query<Row>({
          name: functionName,
          text: `select * from ${functionName}($1)`,
          values: [keys],
        });
        const byKey = new Map(rows.map((row) => [keyOf(row), row]));
        return keys.map((key) => byKey.get(key));
      },
      { restMs: REST_MS },
    );
  const findToken = finder<TokenRow>('auth_application_tokens', (row) => row.token_hash);
  const findSession = finder<SessionRow>('auth_sessions', ({ id }) => id);
  const findCookie = finder<SessionRow & { cookie_hash: string }>('auth_cookie_sessions', (row) => row.cookie_hash);
  const findPerson = finder<PersonRow & { known_by: string }>('auth_people', (row) => row.known_by);
  const touch = batched(async (ids: string[]) => {
    await pool.query('select auth_touch_application_tokens($1)', [ids]);
    return ids;
  });

  const application = async (bearer: string): Promise<Actor | undefined> => {
    const row = await findToken(hashSecret(bearer));
    if (!row) return undefined;
    if (row.is_use_stale) touch(row.id).catch(onError);
    return {
      type: 'application',
      id: row.id,
      tenantId: row.tenant_id,
      role: 'application',
      email: `app:${row.name}`,
      ...(row.project_ids && { projectIds: row.project_ids }),
    };
  };
  const person = (
    { user_id: id, tenant_id: tenantId, email, role }: PersonRow,
    sessionId?: string,
  ): Actor | undefined =>
    role === null
      ? undefined
      : { type: 'user', id, tenantId, role, email, ...(sessionId !== undefined && { sessionId }) };
  const known = async (bearer: string): Promise<Actor | undefined> => {
    const checked = await identityProvider?.verify(bearer);
    if (checked?.outcome === 'failed') throw upstreamFailed('The identity provider', checked.reason);
    if (checked?.outcome !== 'valid') return undefined;
    const row = await findPerson(checked.identity.email);
    return row && person(row);
  };

  return {
    async byBearer(bearer) {
      if (bearer.startsWith(APPLICATION_TOKEN_PREFIX)) return application(bearer);
      const claims = await accessTokens.verify(bearer);
      if (!claims) return known(bearer);
      if (!isId(claims.sid)) return undefined;
      const session = await findSession(claims.sid);
      if (session?.user_id !== claims.sub || session.tenant_id !== claims.tenant) return undefined;
      return person(session, session.id);
    },

    async byCookie(secret) {
      const session = await findCookie(hashSecret(secret));
      return session && person(session, session.id);
    },
  };
}
