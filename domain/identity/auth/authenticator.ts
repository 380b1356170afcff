import type { Database } from '../../kernel/data/tables.ts';
import { exactBase64url } from '../../kernel/shared/base64url-rules.ts';
import { batched } from '../../kernel/queues/batched.ts';
import type { Actor, Role } from '../../kernel/shared/actor.ts';
import { DomainError, upstreamFailed } from '../../kernel/shared/errors.ts';
import { isId } from '../../kernel/shared/ids.ts';
import type { AccessTokens } from './access-tokens.ts';
import {
  findApplicationTokens,
  findCookieSessions,
  findPeople,
  findRunTokens,
  findSessions,
  touchApplicationTokens,
} from './credentials.queries.ts';
import { withTenantSlugs } from '../../kernel/tenants/tenants.queries.ts';
import type { Tx } from '../../unit-of-work.ts';
import { acceptInvitation } from '../invitations/acceptance.mutations.ts';
import type { ActingAs } from './sessions.ts';
import { ambiguousTenant } from './sign-in.ts';
import type { IdentityProvider } from './identity-provider.port.ts';
import { APPLICATION_TOKEN_PREFIX, hashSecret, RUN_TOKEN_PREFIX } from '../../kernel/encryption/secrets.ts';

/**
 * Finds whose a credential is. It asks the database on each call, so that a revoked token, an ended session or a changed
 * role takes effect on the next request; concurrent calls share one query.
 */
export interface Authenticator {
  /**
   * An access token, an application token, the token of a run, or a token of the OpenID provider. Throws when the provider cannot be asked.
   * @param tenant slug, for tokens of the provider. Throws `ambiguous` where it is absent and the person is a member of
   * several, and `forbidden` where the person is not a member of it.
   */
  byBearer(bearer: string, tenant?: string): Promise<Actor | undefined>;
  /** The secret of a session cookie. */
  byCookie(secret: string): Promise<Actor | undefined>;
}

/** Names the tenant in which a token of the OpenID provider acts. */
export const TENANT_HEADER = 'X-Quayside-Tenant';

/** Between two queries under load: each is small, and costs nearly the same for one credential as for many. */
const REST = { restMs: 1, maxRestMs: 4 };

export interface AuthenticatorParts {
  /** With the application's role, outside any tenant. */
  database: Database;
  accessTokens: AccessTokens;
  identityProvider: IdentityProvider | undefined;
  /** To accept the invitation of somebody new, who comes with a token of the provider. */
  actingAs: ActingAs;
  /** Told of uses of application tokens that could not be noted. */
  onError: (error: unknown) => void;
}

export function createAuthenticator({
  database,
  accessTokens,
  identityProvider,
  actingAs,
  onError,
}: AuthenticatorParts): Authenticator {
  const { findToken, findRunToken, findSession, findCookie, touch } = credentialFinders(database);
  const byProvidersToken = createProviderEntry({ database, identityProvider, actingAs });

  const byApplicationToken = async (token: string): Promise<Actor | undefined> => {
    const row = await findToken(hashSecret(token));
    if (!row) return undefined;
    const { id, tenantId, tenantSlug, name, projectIds, collectionNames, isUseStale } = row;
    if (isUseStale) touch(id).catch(onError);
    return {
      type: 'application',
      id,
      tenantId,
      tenantSlug,
      role: 'application',
      email: `app:${name}`,
      ...(projectIds && { projectIds }),
      ...(collectionNames && { collections: collectionNames }),
    };
  };
  const byRunToken = async (token: string): Promise<Actor | undefined> => {
    const row = await findRunToken(hashSecret(token));
    if (!row) return undefined;
    const { tokenHash: _, tenantId, tenantSlug, projectId, ...run } = row;
    return {
      type: 'run',
      id: run.runId,
      tenantId,
      tenantSlug,
      role: 'application',
      email: `run:${run.runId}`,
      projectIds: projectId === null ? [] : [projectId],
      run,
    };
  };
  return {
    async byBearer(bearer, tenant) {
      if (bearer.startsWith(APPLICATION_TOKEN_PREFIX)) return byApplicationToken(bearer);
      if (bearer.startsWith(RUN_TOKEN_PREFIX)) return byRunToken(bearer);
      if (!hasOneSpelling(bearer)) return undefined;
      const claims = await accessTokens.verify(bearer);
      if (!claims) return byProvidersToken(bearer, tenant);
      if (!isId(claims.sid)) return undefined;
      const session = await findSession(claims.sid);
      if (session?.userId !== claims.sub || session.tenantId !== claims.tenant) return undefined;
      return memberOf(session, session.id);
    },

    async byCookie(secret) {
      const session = await findCookie(hashSecret(secret));
      return session && memberOf(session, session.id);
    },
  };
}

/** In other spellings each would have a rate limit of its own. What the signature covers has one form anyway. */
const hasOneSpelling = (token: string): boolean =>
  exactBase64url(token.slice(token.lastIndexOf('.') + 1)) !== undefined;

interface Found {
  userId: string;
  tenantId: string | null;
  tenantSlug: string;
  email: string;
  role: Role | null;
}

/** Nobody, when the person is a member of no tenant. */
const memberOf = ({ userId: id, tenantId, tenantSlug, email, role }: Found, sessionId?: string): Actor | undefined =>
  role === null || tenantId === null
    ? undefined
    : { type: 'user', id, tenantId, tenantSlug, role, email, ...(sessionId !== undefined && { sessionId }) };

const finderOf = <Row extends { tenantId: string | null }>(
  database: Database,
  find: (keys: string[]) => Promise<Row[]>,
  keyOf: (row: Row) => string,
) =>
  batched(async (keys: string[]) => {
    const rows = await withTenantSlugs(database, await find(keys));
    const byKey = new Map(rows.map((row) => [keyOf(row), row]));
    return keys.map((key) => byKey.get(key));
  }, REST);

/** Finds credentials by their keys; those that are asked for at the same time share a query. */
function credentialFinders(database: Database) {
  const findToken = finderOf(
    database,
    (hashes) => findApplicationTokens(database, { hashes }),
    ({ tokenHash }) => tokenHash,
  );
  const findRunToken = finderOf(
    database,
    (hashes) => findRunTokens(database, { hashes }),
    ({ tokenHash }) => tokenHash,
  );
  const findSession = finderOf(
    database,
    (ids) => findSessions(database, { ids }),
    ({ id }) => id,
  );
  const findCookie = finderOf(
    database,
    (hashes) => findCookieSessions(database, { hashes }),
    ({ cookieHash }) => cookieHash,
  );
  const touch = batched(async (ids: string[]) => {
    await touchApplicationTokens(database, { ids });
    return ids;
  });
  return { findToken, findRunToken, findSession, findCookie, touch };
}

/** Who comes with a token of the OpenID provider; the first one of somebody new accepts their invitation. */
function createProviderEntry({
  database,
  identityProvider,
  actingAs,
}: Pick<AuthenticatorParts, 'database' | 'identityProvider' | 'actingAs'>) {
  const findPerson = finderOf(
    database,
    (emails: string[]) => findPeople(database, { emails }),
    ({ knownBy }) => knownBy,
  );
  const accepted = async (actor: Actor | undefined, accept: (tx: Tx) => Promise<boolean>): Promise<boolean> =>
    actor !== undefined && actingAs(actor)(accept);
  const findPersonIn = async (email: string, tenantSlug: string) => {
    const [person] = await withTenantSlugs(database, await findPeople(database, { emails: [email], tenantSlug }));
    return person;
  };

  return async (token: string, tenant: string | undefined): Promise<Actor | undefined> => {
    const checked = await identityProvider?.verify(token);
    if (checked?.outcome === 'failed') throw upstreamFailed('The identity provider', checked.reason);
    if (checked?.outcome !== 'valid') return undefined;
    const { email } = checked.identity;
    const person = tenant === undefined ? await findPerson(email) : await findPersonIn(email, tenant);
    if (!person) return undefined;
    const { tenants, invitedTo, invitationId, isNew } = person;
    if (tenant === undefined && tenants.length > 1)
      throw ambiguousTenant(`The header ${TENANT_HEADER} must name one of your tenants`, tenants);
    if (isNew && tenant === undefined && invitationId === null)
      throw ambiguousTenant(`The header ${TENANT_HEADER} must name the tenant whose invitation you accept`, invitedTo);
    const actor = memberOf(person);
    // The first token of somebody new is their sign-in; members accept invitations on purpose.
    const isAccepted =
      invitationId === null ||
      (isNew && (await accepted(actor, (tx) => acceptInvitation(tx, invitationId, tx.actor.id))));
    if (actor && isAccepted) return actor;
    if (tenant === undefined) return undefined;
    throw new DomainError(
      'forbidden',
      `You are not a member of the tenant ${tenant}, or have not accepted its invitation`,
    );
  };
}
