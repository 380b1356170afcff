import { sql } from 'kysely';
import { statement } from '../../kernel/data/statement.ts';
import type { Database } from '../../kernel/data/tables.ts';
import type { Reads } from '../../kernel/data/fenced-reads.ts';
import type { CollectionNames } from '../../kernel/shared/collection-limit-rules.ts';
import type { Role } from '../../kernel/shared/actor.ts';
import { tenantSlugOf } from '../../kernel/tenants/tenants.queries.ts';
import { hashSecret } from '../../kernel/encryption/secrets.ts';

// Look-ups before a tenant is known: by functions of the database, which answer for the given keys and no others.

interface Person {
  userId: string;
  tenantId: string;
  email: string;
  /** Null for somebody who is no member of the tenant. */
  role: Role | null;
}

interface Token {
  tokenHash: string;
  id: string;
  tenantId: string;
  name: string;
  projectIds: string[] | null;
  collectionNames: CollectionNames | null;
  isUseStale: boolean;
}

/** Application tokens that are valid now, by the hash of the present or of the previous secret. */
export const findApplicationTokens = statement<{ hashes: string[] }>()((db, { hashes }) =>
  db
    .selectFrom(sql<Token>`auth_application_tokens(${hashes})`.as('t'))
    .select(['t.tokenHash', 't.id', 't.tenantId', 't.name', 't.projectIds', 't.collectionNames', 't.isUseStale']),
);

interface RunToken {
  tokenHash: string;
  tenantId: string;
  runId: string;
  projectId: string | null;
  repositoryIdentifier: string | null;
  domain: string | null;
  releaseName: string | null;
  environmentNames: string[];
  poolId: string | null;
  sessionId: string | null;
}

/** Tokens of runs that have not ended, by the hash of their secret. */
export const findRunTokens = statement<{ hashes: string[] }>()((db, { hashes }) =>
  db
    .selectFrom(sql<RunToken>`auth_run_tokens(${hashes})`.as('t'))
    .select([
      't.tokenHash',
      't.tenantId',
      't.runId',
      't.projectId',
      't.repositoryIdentifier',
      't.domain',
      't.releaseName',
      't.environmentNames',
      't.poolId',
      't.sessionId',
    ]),
);

interface Session extends Person {
  id: string;
}
const SESSION = ['s.id', 's.userId', 's.tenantId', 's.email', 's.role'] as const;

/** Sessions that have not ended, by id. */
export const findSessions = statement<{ ids: string[] }>()((db, { ids }) =>
  db.selectFrom(sql<Session>`auth_sessions(${ids})`.as('s')).select(SESSION),
);

/** Sessions that have not ended, by the hash of their cookie. */
export const findCookieSessions = statement<{ hashes: string[] }>()((db, { hashes }) =>
  db
    .selectFrom(sql<Session & { cookieHash: string }>`auth_cookie_sessions(${hashes})`.as('s'))
    .select([...SESSION, 's.cookieHash']),
);

/** Where somebody acts who signs in. */
interface Place {
  /** Null for a member of no tenant, or not of the one that was named. */
  tenantId: string | null;
  role: Role | null;
  /** Is accepted first; null for a member. */
  invitationId: string | null;
  /** Slugs of all tenants that the person is a member of, and of those that invite the person. */
  tenants: string[];
  invitedTo: string[];
}
const PLACE = ['p.tenantId', 'p.role', 'p.invitationId', 'p.tenants', 'p.invitedTo'] as const;

interface KnownPerson extends Place {
  knownBy: string;
  userId: string;
  email: string;
  /** There is no account of the e-mail, but an invitation, whose id the account gets. */
  isNew: boolean;
}

/**
 * People by any of their e-mails, in the tenant of that slug; without a slug, in that which they chose last, else in
 * that which they accepted first. Somebody new whom one tenant invites is found in that. `knownBy` is the e-mail as it
 * was given.
 */
export const findPeople = statement<{ emails: string[]; tenantSlug?: string | undefined }>()(
  (db, { emails, tenantSlug }) =>
    db
      .selectFrom(
        (tenantSlug
          ? sql<KnownPerson>`auth_people(${emails}, ${tenantSlug})`
          : sql<KnownPerson>`auth_people(${emails})`
        ).as('p'),
      )
      .select(['p.knownBy', 'p.userId', 'p.email', 'p.isNew', ...PLACE]),
);

/** Notes that application tokens were used, at most once a minute each. */
export const touchApplicationTokens = statement<{ ids: string[] }>()((db, { ids }) =>
  db.selectNoFrom(sql`auth_touch_application_tokens(${ids})`.as('touched')),
);

/** Who signs in by the e-mail of an account, and where, as by `findPeople`. */
export async function findLogin(db: Database, email: string, tenantSlug: string | undefined) {
  type Login = Place & { userId: string; passwordHash: string | null };
  return db
    .selectFrom(sql<Login>`auth_login(${email}, ${tenantSlug ?? null})`.as('p'))
    .select(['p.userId', 'p.passwordHash', tenantSlugOf('p.tenantId'), ...PLACE])
    .executeTakeFirst();
}

/** The session of a refresh token and its person, whether or not the token is spent or the session has ended. */
export async function findRefreshToken(db: Database, token: string) {
  return db
    .selectFrom(sql<Omit<Person, 'role'> & { sessionId: string }>`auth_refresh(${hashSecret(token)})`.as('r'))
    .select(['r.sessionId', 'r.userId', 'r.tenantId', tenantSlugOf('r.tenantId'), 'r.email'])
    .executeTakeFirst();
}

/** Whether a refresh token is one of the session, in the reader's tenant, that was not used yet. */
export async function isRefreshTokenUnspent({ db }: Reads, sessionId: string, token: string): Promise<boolean> {
  const found = await db
    .selectFrom('refresh_token')
    .where('tokenHash', '=', hashSecret(token))
    .where('sessionId', '=', sessionId)
    .where('spentAt', 'is', null)
    .select('sessionId')
    .executeTakeFirst();
  return found !== undefined;
}
