import { expressionBuilder, type Expression, sql, type SqlBool } from 'kysely';
import type { Reads } from '../../kernel/data/fenced-reads.ts';
import { type Slots, statement } from '../../kernel/data/statement.ts';
import type { Database, Tables } from '../../kernel/data/tables.ts';
import { domainNames } from '../../projects/projects/project-rules.ts';
import type { ProjectFacts } from '../../projects/projects/projects.queries.ts';
import { FINALIZED } from './candidate-status-rules.ts';
import { CANDIDATE_COLUMNS, type CandidateRow } from './release-candidates.queries.ts';

export interface CandidateFilter {
  domain?: string | undefined;
  branch?: string | undefined;
  /** Only these statuses; absent: all but finalized, or all with `includeFinalized`. */
  statuses?: readonly string[] | undefined;
  includeFinalized?: boolean;
}

interface Given {
  tenantId: string;
  projectId: string;
  domain: string | undefined;
  branch: string | undefined;
  statuses: readonly string[] | undefined;
}

/** What the text of a statement depends on besides which parameters there are. */
interface Form {
  /** Candidates without a branch count as on the default one. */
  isDefaultBranch: boolean;
  isOpenOnly: boolean;
}

/** The filter as a condition on candidates, or on their counts, where a missing branch is the empty text. */
function conditionOf(given: Slots<Given>, { isDefaultBranch, isOpenOnly }: Form, hasNoBranch: Expression<SqlBool>) {
  const eb = expressionBuilder<Tables, 'release_candidate'>();
  const conditions: Expression<SqlBool>[] = [
    eb('tenantId', '=', given.tenantId),
    eb('projectId', '=', given.projectId),
  ];
  if (given.domain) conditions.push(eb('domain', '=', given.domain));
  if (given.branch) {
    const isOnBranch = eb('branch', '=', given.branch);
    conditions.push(isDefaultBranch ? eb.or([isOnBranch, hasNoBranch]) : isOnBranch);
  }
  if (given.statuses) conditions.push(eb('status', '=', sql<string>`any (${given.statuses}::text[])`));
  if (isOpenOnly) conditions.push(eb('status', '<>', sql.lit(FINALIZED)));
  return eb.and(conditions);
}

/** Matching candidates, newest first. The size of the page is in the text: a plan for any size would not begin at the index's end. */
const newestOf = (db: Database, given: Slots<Given>, form: Form, limit: number) =>
  db
    .selectFrom('release_candidate')
    .where(conditionOf(given, form, sql<SqlBool>`branch is null`))
    .orderBy('createdAt', 'desc')
    .orderBy('id', 'desc')
    .limit(sql.lit(limit));

const countOf = (db: Database, given: Slots<Given>, form: Form) =>
  db
    .selectFrom('release_candidate_count')
    .where(conditionOf(given, form, sql<SqlBool>`branch = ''`))
    .select((eb) => sql<string>`coalesce(${eb.fn.sum('candidates')}, 0)`.as('total'));

const LATEST = statement<Given, Form>()((db, given, form) => newestOf(db, given, form, 1).select(CANDIDATE_COLUMNS));

const COUNT = statement<Given, Form>()(countOf);

const TIMESTAMPS = ['createdAt', 'updatedAt', 'statusChangedAt'] as const;

// PostgreSQL writes JSON for less than rows cost to read and write; but timestamps it formats at several times the cost.
const AS_JSON = sql<string>`row_to_json((select r from (select ${sql.join(
  CANDIDATE_COLUMNS.filter((column) => ![...TIMESTAMPS, 'projectId', 'contentDigest', 'holds'].includes(column)).map(
    (column) => sql`${sql.ref(column)} as ${sql.raw(`"${column}"`)}`,
  ),
)}, superseded_by is not null as "isIntermediate") as r))::text`;

const PAGE = statement<Given & { offset: number | undefined }, Form & { limit: number }>()(
  (db, { offset, ...given }, { limit, ...form }) => {
    const newest = newestOf(db, given, form, limit);
    // The ids behind an offset come from an index alone, so that rows before it are never read.
    const page = offset
      ? db
          .selectFrom('release_candidate')
          .where('tenantId', '=', given.tenantId)
          .where('id', '=', sql<string>`any (array(${newest.offset(offset).select('id')}))`)
          .orderBy('createdAt', 'desc')
          .orderBy('id', 'desc')
      : newest;
    return page.select([
      AS_JSON.as('json'),
      'id',
      ...TIMESTAMPS,
      'holds',
      'contentDigest',
      countOf(db, given, form).as('total'),
    ]);
  },
);

/** A candidate of a list: its JSON without the timestamps, which are the database's text, and its holds. */
export type ListedCandidate = Omit<Awaited<ReturnType<typeof PAGE>>[number], 'total'>;

/** One page of candidates, newest first. The total is exact and comes from counts that triggers keep. */
export async function listCandidates(
  { db, tenantId }: Reads,
  { id: projectId, defaultBranch }: ProjectFacts,
  { domain, branch, statuses, includeFinalized = false }: CandidateFilter,
  { limit, offset }: { limit: number; offset: number },
): Promise<{ items: ListedCandidate[]; total: number }> {
  const given = { tenantId, projectId, domain, branch, statuses };
  const form = { isDefaultBranch: branch === defaultBranch, isOpenOnly: !statuses && !includeFinalized };
  const items = await PAGE(db, { ...given, offset: offset > 0 ? offset : undefined }, { ...form, limit });
  const [counted] = items.length > 0 || offset === 0 ? items : await COUNT(db, given, form);
  return { items, total: Number(counted?.total ?? 0) };
}

/** The newest candidate of a domain, whatever its status. */
export async function latestCandidate(
  { db, tenantId }: Reads,
  { id: projectId, defaultBranch }: ProjectFacts,
  domain: string,
  branch?: string,
): Promise<CandidateRow | undefined> {
  const form = { isDefaultBranch: branch === defaultBranch, isOpenOnly: false };
  const [latest] = await LATEST(db, { tenantId, projectId, domain, branch, statuses: undefined }, form);
  return latest;
}

/** Candidates of a commit; an abbreviated id finds all that begin with it. Newest first, at most 200. */
export const candidatesOfCommit = (
  { db, tenantId }: Reads,
  projectId: string,
  commitSha: string,
): Promise<CandidateRow[]> =>
  db
    .selectFrom('release_candidate')
    .where('tenantId', '=', tenantId)
    .where('projectId', '=', projectId)
    .where('commitSha', 'like', `${commitSha.toLowerCase()}%`)
    .orderBy('createdAt', 'desc')
    .orderBy('id', 'desc')
    .limit(200)
    .select(CANDIDATE_COLUMNS)
    .execute();

const countsOf = ({ db, tenantId }: Reads, projectId: string) =>
  db
    .selectFrom('release_candidate_count')
    .where('tenantId', '=', tenantId)
    .where('projectId', '=', projectId)
    .where('candidates', '>', '0')
    .distinct();

/** Names of branches with at least one candidate; one without a branch counts as on the default branch. */
export async function candidateBranches(reads: Reads, { id, defaultBranch }: ProjectFacts): Promise<string[]> {
  const branch = sql<string>`coalesce(nullif(branch, ''), ${defaultBranch})`;
  const rows = await countsOf(reads, id).select(branch.as('branch')).orderBy('branch').execute();
  return rows.map((row) => row.branch);
}

/** Domains of the project's configuration and those with candidates, by name. */
export async function candidateDomains(reads: Reads, { id, configuration }: ProjectFacts): Promise<string[]> {
  const rows = await countsOf(reads, id).select('domain').execute();
  return [...new Set([...domainNames(configuration), ...rows.map(({ domain }) => domain)])].toSorted();
}
