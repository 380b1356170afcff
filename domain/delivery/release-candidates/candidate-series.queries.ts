import { sql, type SqlBool } from 'kysely';
import { json } from '../../kernel/data/columns.ts';
import type { Reads } from '../../kernel/data/fenced-reads.ts';
import { ABORTED } from './candidate-status-rules.ts';
import { CANDIDATE_COLUMNS, type CandidateName, type CandidateRow } from './release-candidates.queries.ts';

/** Candidates of a project that were not aborted. */
const series = ({ db, tenantId }: Reads, projectId: string) =>
  db
    .selectFrom('release_candidate')
    .where('tenantId', '=', tenantId)
    .where('projectId', '=', projectId)
    .where('status', '<>', ABORTED);

/** The newest candidates of each domain that were not aborted, newest first. */
export const newestCandidates = (
  { db, tenantId }: Reads,
  projectId: string,
  { exceptDomain, perDomain }: { exceptDomain: string | null; perDomain: number },
) =>
  db
    .with('domains', (inner) =>
      inner
        .selectFrom('release_candidate_count')
        .where('tenantId', '=', tenantId)
        .where('projectId', '=', projectId)
        .where('candidates', '>', '0')
        .where('domain', 'is distinct from', exceptDomain)
        .distinct()
        .select('domain'),
    )
    .selectFrom('domains')
    .innerJoinLateral(
      (eb) =>
        eb
          .selectFrom('release_candidate')
          .where('tenantId', '=', tenantId)
          .where('projectId', '=', projectId)
          .whereRef('release_candidate.domain', '=', 'domains.domain')
          .where('status', '<>', ABORTED)
          .orderBy('createdAt', 'desc')
          .orderBy('id', 'desc')
          .limit(perDomain)
          .select(CANDIDATE_COLUMNS)
          .as('c'),
      (join) => join.onTrue(),
    )
    .select(CANDIDATE_COLUMNS.map((column) => `c.${column}` as const))
    .execute();

/** Names of releases as a table `w`. */
export const asTable = (names: readonly CandidateName[]) =>
  sql<CandidateName>`unnest(
    ${names.map(({ domain }) => domain)}::text[], ${names.map(({ releaseName }) => releaseName)}::text[])`.as<'w'>(
    sql`w (domain, release_name)`,
  );

/** Candidates by their names, each with the one of the same domain and branch that was made before it, if any. */
export const candidatesWithPrevious = (
  { db, tenantId }: Reads,
  { id: projectId, defaultBranch }: { id: string; defaultBranch: string },
  names: readonly CandidateName[],
) =>
  db
    .selectFrom(asTable(names))
    .innerJoin('release_candidate as c', (join) =>
      join
        .on('c.tenantId', '=', tenantId)
        .on('c.projectId', '=', projectId)
        .onRef('c.domain', '=', 'w.domain')
        .onRef('c.releaseName', '=', 'w.releaseName'),
    )
    .leftJoinLateral(
      (eb) =>
        eb
          .selectFrom('release_candidate as p')
          .whereRef('p.tenantId', '=', 'c.tenantId')
          .whereRef('p.projectId', '=', 'c.projectId')
          .whereRef('p.domain', '=', 'c.domain')
          .where(sql<SqlBool>`coalesce(p.branch, ${defaultBranch}) = coalesce(c.branch, ${defaultBranch})`)
          .where('p.status', '<>', ABORTED)
          .where(sql<SqlBool>`(p.created_at, p.id) < (c.created_at, c.id)`)
          .orderBy('p.createdAt', 'desc')
          .orderBy('p.id', 'desc')
          .limit(1)
          .select(['p.releaseName', 'p.value'])
          .as('previous'),
      (join) => join.onTrue(),
    )
    .select([
      'c.domain',
      'c.releaseName',
      sql<Record<string, string> | null>`c.value->'artifacts'`.as('artifacts'),
      // As its definition has it.
      sql`c.value->'changelog'`.as('changelog'),
      'previous.releaseName as previousName',
      sql<Record<string, string> | null>`previous.value->'artifacts'`.as('previousArtifacts'),
    ])
    .execute();

/** Versions of some packages that the candidates made before one in its domain and branch held last; by its name. */
export async function artifactsBefore(
  { db, tenantId }: Reads,
  { id: projectId, defaultBranch }: { id: string; defaultBranch: string },
  candidates: readonly (CandidateName & { names: readonly string[] })[],
) {
  if (candidates.length === 0) return [];
  const { rows } = await sql<CandidateName & { artifacts: Record<string, string> | null }>`
    select c.domain, c.release_name as "releaseName", before.artifacts
    from jsonb_to_recordset(${json(candidates)}::jsonb) as w (domain text, "releaseName" text, names text[])
    join release_candidate c on c.tenant_id = ${tenantId} and c.project_id = ${projectId}
      and c.domain = w.domain and c.release_name = w."releaseName"
    cross join lateral (
      select jsonb_overlaid(p.value -> 'artifacts' order by p.created_at, p.id) as artifacts
      from release_candidate p
      where p.tenant_id = c.tenant_id and p.project_id = c.project_id and p.domain = c.domain
        and coalesce(p.branch, ${defaultBranch}) = coalesce(c.branch, ${defaultBranch})
        and p.status <> ${ABORTED} and (p.created_at, p.id) < (c.created_at, c.id)
        and jsonb_exists_any(p.value -> 'artifacts', w.names)) as before`.execute(db);
  return rows;
}

/** The candidate of the same domain and branch that was made before this one; undefined when it is the first. */
export const previousCandidate = (
  reads: Reads,
  projectId: string,
  defaultBranch: string,
  { id, domain, branch, createdAt }: Pick<CandidateRow, 'id' | 'domain' | 'branch' | 'createdAt'>,
): Promise<CandidateRow | undefined> =>
  series(reads, projectId)
    .where('domain', '=', domain)
    .where(sql<SqlBool>`coalesce(branch, ${defaultBranch}) = ${branch ?? defaultBranch}`)
    .where(sql<SqlBool>`(created_at, id) < (${createdAt}::timestamptz, ${id}::uuid)`)
    .orderBy('createdAt', 'desc')
    .orderBy('id', 'desc')
    .limit(1)
    .select(CANDIDATE_COLUMNS)
    .executeTakeFirst();

/** Candidates of a name that were not aborted, one for each domain, or of one domain. */
export function candidatesNamed(
  reads: Reads,
  projectId: string,
  { releaseName, domain }: { releaseName: string; domain?: string | undefined },
): Promise<CandidateRow[]> {
  const named = series(reads, projectId).where('releaseName', '=', releaseName);
  return (domain === undefined ? named : named.where('domain', '=', domain))
    .orderBy('domain')
    .limit(200)
    .select(CANDIDATE_COLUMNS)
    .execute();
}

/** Candidates of a domain that were not aborted, the newest `limit` of them, oldest first; of one branch, or of all. */
export async function seriesOfDomain(
  reads: Reads,
  projectId: string,
  {
    domain,
    branch,
    defaultBranch,
    limit,
  }: { domain: string; branch: string | undefined; defaultBranch: string; limit: number },
): Promise<CandidateRow[]> {
  const ofDomain = series(reads, projectId).where('domain', '=', domain);
  const newest = await (branch === undefined
    ? ofDomain
    : ofDomain.where(sql<SqlBool>`coalesce(branch, ${defaultBranch}) = ${branch}`)
  )
    .orderBy('createdAt', 'desc')
    .orderBy('id', 'desc')
    .limit(limit)
    .select(CANDIDATE_COLUMNS)
    .execute();
  return newest.toReversed();
}
