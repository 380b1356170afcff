import { sql } from 'kysely';
import { sentWithNext } from '../../kernel/data/statement.ts';
import type { Tx } from '../../unit-of-work.ts';
import { CANDIDATE_COLUMNS, type CandidateName, type CandidateRow } from './release-candidates.queries.ts';

const LOCK_DOMAIN = sentWithNext<{ key: string }>()((db, { key }) =>
  db.selectNoFrom(sql`pg_advisory_xact_lock(hashtextextended(${key}, 0))`.as('locked')),
);

const lockKeyOf = (tenantId: string, projectId: string, domain: string) => `${tenantId}/${projectId}/${domain}`;

/**
 * Serializes changes of a domain's candidates from the next statement until this transaction ends. Whoever changes a
 * candidate takes the lock first, so that an outcome is always that of some order of the changes.
 */
export async function lockDomain({ db, tenantId }: Tx, projectId: string, domain: string): Promise<void> {
  await LOCK_DOMAIN(db, { key: lockKeyOf(tenantId, projectId, domain) });
}

/** The id of the candidate of that name, which cannot be deleted until this transaction ends; null when there is none. */
export async function keepCandidate(
  { db, tenantId }: Tx,
  projectId: string,
  { domain, releaseName }: CandidateName,
): Promise<string | null> {
  const candidate = await db
    .selectFrom('release_candidate')
    .where('tenantId', '=', tenantId)
    .where('projectId', '=', projectId)
    .where('domain', '=', domain)
    .where('releaseName', '=', releaseName)
    .select('id')
    .forKeyShare()
    .executeTakeFirst();
  return candidate?.id ?? null;
}

/** All candidates of a branch, oldest first; the locks of their domains are taken in order of name. */
export async function lockCandidatesOfBranch(
  { db, tenantId }: Tx,
  projectId: string,
  branch: string,
): Promise<CandidateRow[]> {
  await sql`
    select pg_advisory_xact_lock(hashtextextended(${lockKeyOf(tenantId, projectId, '')} || domain, 0))
    from (select distinct domain from release_candidate_count
      where tenant_id = ${tenantId} and project_id = ${projectId} and branch = ${branch} and candidates > 0
      order by domain) as domains`.execute(db);
  return db
    .selectFrom('release_candidate')
    .where('tenantId', '=', tenantId)
    .where('projectId', '=', projectId)
    .where('branch', '=', branch)
    .orderBy('createdAt')
    .orderBy('id')
    .select(CANDIDATE_COLUMNS)
    .execute();
}
