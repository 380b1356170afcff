import { sql, type SqlBool } from 'kysely';
import { isOneOf } from '../../kernel/data/conditions.ts';
import type { Reads } from '../../kernel/data/fenced-reads.ts';
import { isoOf } from '../../kernel/text/date-time-rules.ts';
import type { CandidateFilter } from './candidate-list.queries.ts';
import { FINALIZED } from './candidate-status-rules.ts';
import { CANDIDATE_COLUMNS } from './release-candidates.queries.ts';

/** Orders of lists; `-` before the name: the latest, or last, first. */
export const CANDIDATE_SORTS = [
  'createdAt',
  '-createdAt',
  'updatedAt',
  '-updatedAt',
  'releaseName',
  '-releaseName',
] as const;
export type CandidateSort = (typeof CANDIDATE_SORTS)[number];

/** Where a page of that order begins: after the candidate with this value and id. */
export interface CandidateCursor {
  sort: CandidateSort;
  value: string;
  id: string;
}

export interface CandidateSearch extends CandidateFilter {
  project?: { id: string; defaultBranch: string } | undefined;
  /** A part of the name of the release, in any case, or the beginning of the commit id. */
  q?: string | undefined;
  createdFrom?: Date | undefined;
  /** Exclusive. */
  createdTo?: Date | undefined;
}

export interface SearchPage {
  sort: CandidateSort;
  cursor?: CandidateCursor | undefined;
  limit: number;
  offset: number;
}

/** Up to here candidates are counted; more are said to be so many. */
export const COUNTED_MAX = 20_000;

const columnOf = (sort: CandidateSort) => sort.replace('-', '') as 'createdAt' | 'updatedAt' | 'releaseName';

/** Whether a candidate `c` has a text in the name of its release, in any case, or at the beginning of its commit id. */
export const isNamed = (q: string) =>
  sql<SqlBool>`(strpos(lower(c.release_name), lower(${q})) > 0 or starts_with(c.commit_sha, lower(${q})))`;

function matching({ db, tenantId }: Reads, search: CandidateSearch) {
  const { project, domain, branch, statuses, includeFinalized, q, createdFrom, createdTo } = search;
  let found = db.selectFrom('release_candidate as c').where('c.tenantId', '=', tenantId);
  if (project) found = found.where('c.projectId', '=', project.id);
  if (domain !== undefined) found = found.where('c.domain', '=', domain);
  if (branch !== undefined) {
    const defaultBranch = sql`(select p.default_branch from project p where p.tenant_id = c.tenant_id and p.id = c.project_id)`;
    found = found.where(sql<SqlBool>`coalesce(c.branch, ${defaultBranch}) = ${branch}`);
  }
  if (statuses) found = found.where((eb) => isOneOf(eb, 'c.status', statuses));
  else if (includeFinalized !== true) found = found.where('c.status', '<>', sql.lit(FINALIZED));
  if (q !== undefined) found = found.where(isNamed(q));
  if (createdFrom) found = found.where('c.createdAt', '>=', createdFrom.toISOString());
  if (createdTo) found = found.where('c.createdAt', '<', createdTo.toISOString());
  return found;
}

/** One page of candidates of one project or of all with their projects, and how many match, up to `COUNTED_MAX`. */
export async function searchCandidates(
  reads: Reads,
  search: CandidateSearch,
  { sort, cursor, limit, offset }: SearchPage,
) {
  const [column, isDescending] = [columnOf(sort), sort.startsWith('-')];
  const counted = await reads.db
    .selectFrom(matching(reads, search).limit(sql.lit(COUNTED_MAX)).select(sql.lit(1).as('one')).as('m'))
    .select(sql<number>`count(*)::int`.as('total'))
    .executeTakeFirstOrThrow();
  let page = matching(reads, search).innerJoin('project as p', (join) =>
    join.onRef('p.tenantId', '=', 'c.tenantId').onRef('p.id', '=', 'c.projectId'),
  );
  if (cursor) {
    const type = sql.raw(column === 'releaseName' ? 'text' : 'timestamptz');
    const after = sql.raw(isDescending ? '<' : '>');
    page = page.where(
      sql<SqlBool>`(${sql.ref(`c.${column}`)}, c.id) ${after} (${cursor.value}::${type}, ${cursor.id}::uuid)`,
    );
  }
  const direction = isDescending ? ('desc' as const) : ('asc' as const);
  const rows = await page
    .orderBy(`c.${column}`, direction)
    .orderBy('c.id', direction)
    .limit(limit + 1)
    .offset(offset)
    .select(CANDIDATE_COLUMNS.map((name) => `c.${name}` as const))
    .select('p.identifier as repositoryIdentifier')
    .execute();
  const items = rows.slice(0, limit);
  const last = rows.length > limit ? items.at(-1) : undefined;
  return {
    items: items.map((row) => ({ ...row, isIntermediate: row.supersededBy !== null })),
    total: counted.total,
    next: last && { sort, value: column === 'releaseName' ? last.releaseName : isoOf(last[column]), id: last.id },
  };
}
