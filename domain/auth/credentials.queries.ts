import { sql } from 'kysely';
import { statement } from '../data/statement.ts';
import type { Database } from '../data/tables.ts';
import type { Reads } from '../data/fenced-reads.ts';
import type { CollectionNames } from '../documents/collection-limit-rules.ts';
import type { Role } from '../shared/actor.ts';
import { tenantSlugOf } from '../tenants/tenants.queries.ts';
import { hashSecret } from './secrets.ts';

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

interface Session extends Person {
  id: string;
}
const SESSION = ['s.id', 's.userId', 's.tenantId', 's.email', 's.role'] as const;

/** Sessions that have not ended, by id. */
export const findSessions = statement<{ ids: string[] }>()((db, { ids }) =>
  db.selectFrom(sql<Session>`auth_sessions(${ids})`.as('s')).select(SESSION),
);

/** Likewise by the hash of their cookie. */
export const findCookieSessions = statement<{ hashes: string[] }>()((db, { hashes }) =>
  db
    .selectFrom(sql<Session & { cookieHash: string }>`auth_cookie_sessions(${hashes})`.as('s'))
    .select([...SESSION, 's.cookieHash']),
);

interface KnownPerson extends Omit<Person, 'tenantId'> {
  knownBy: string;
  tenantId: string | null;
}

/**
 * People by any of their e-mails, with the role in the tenant of that slug; without a slug, in that of their oldest
 * membership. `knownBy` is the e-mail as it was given.
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
      .select(['p.knownBy', 'p.userId', 'p.email', 'p.tenantId', 'p.role']),
);

/** Notes that application tokens were used, at most once a minute each. */
export const touchApplicationTokens = statement<{ ids: string[] }>()((db, { ids }) =>
  db.selectNoFrom(sql`auth_touch_application_tokens(${ids})`.as('touched')),
);

/** Who signs in by an e-mail, with the tenant of that slug, else that of the oldest membership. */
export async function findLogin(db: Database, email: string, tenantSlug: string | undefined) {
  type Login = Omit<KnownPerson, 'knownBy' | 'email'> & { passwordHash: string | null };
  return db
    .selectFrom(sql<Login>`auth_login(${email}, ${tenantSlug ?? null})`.as('p'))
    .select(['p.userId', 'p.passwordHash', 'p.tenantId', tenantSlugOf('p.tenantId'), 'p.role'])
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
