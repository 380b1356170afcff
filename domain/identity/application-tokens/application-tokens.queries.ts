import { sql } from 'kysely';
import type { Reads } from '../../kernel/data/fenced-reads.ts';
import type { Database } from '../../kernel/data/tables.ts';
import { tenantSlugOf } from '../../kernel/tenants/tenants.queries.ts';

/** Most application tokens of a list. */
const TOKENS_MAX = 1_000;

const tokensOf = ({ db, tenantId }: Reads) =>
  db
    .selectFrom('application_token as t')
    .where('t.tenantId', '=', tenantId)
    .select([
      't.id',
      't.name',
      't.createdAt',
      't.expiresAt',
      't.lastUsedAt',
      't.createdBy',
      // Identifiers of the only projects that it sees; null: all.
      sql<string[] | null>`case when t.project_ids is not null then
        array(select identifier from project where id = any (t.project_ids) order by identifier) end`.as('projects'),
    ]);

/** A token as owners see it: without its secret. */
export type ApplicationTokenRow = Awaited<ReturnType<typeof listApplicationTokens>>[number];

/** The tenant's tokens, newest first: valid and expired ones, not the revoked ones. At most `TOKENS_MAX`. */
export const listApplicationTokens = (reads: Reads) =>
  tokensOf(reads)
    .where('t.revokedAt', 'is', null)
    .orderBy('t.createdAt', 'desc')
    .orderBy('t.id', 'desc')
    .limit(sql.lit(TOKENS_MAX))
    .execute();

export const applicationTokenById = (reads: Reads, id: string): Promise<ApplicationTokenRow> =>
  tokensOf(reads).where('t.id', '=', id).executeTakeFirstOrThrow();

/** Tokens that expire soon and were not announced: the next to expire of each tenant first, then each one's second. */
export const expiringTokens = (system: Database, limit: number) =>
  system
    .selectFrom(sql<{ id: string; tenantId: string }>`expiring_application_tokens(${limit})`.as('t'))
    .select(['t.id', 't.tenantId', tenantSlugOf('t.tenantId')])
    .execute();
