import type { Tx } from '../unit-of-work.ts';

type Sql = Pick<Tx, 'sql' | 'tenantId'>;

/** A commit as people see it. Moments are the database's text. */
export interface CommitView {
  seq: number;
  sha: string;
  /** The first line of its message. */
  message: string;
  authorName: string;
  authorEmail: string;
  authoredAt: string;
  committedAt: string;
  isMerge: boolean;
  workItems: string[];
  pullRequests: number[];
}

const COLUMNS = `seq, sha, subject as message, author_name as "authorName", author_email as "authorEmail", authored_at as "authoredAt",
  committed_at as "committedAt", cardinality(parents) > 1 as "isMerge", to_jsonb(work_items) as "workItems", to_jsonb(pull_requests) as "pullRequests"`;

/** Commits by number. */
export async function commitViews(
  { sql, tenantId }: Sql,
  projectId: string,
  commits: readonly number[],
): Promise<Map<number, CommitView>> {
  const distinct = [...new Set(commits)];
  if (distinct.length === 0) return new Map();
  const rows = await sql<CommitView>(
    `select ${COLUMNS} from git_commit where tenant_id = ? and project_id = ? and seq in (select jsonb_array_elements_text(?::jsonb)::int)`,
    [tenantId, projectId, JSON.stringify(distinct)],
  );
  return new Map(rows.map((row) => [row.seq, row]));
}

const FULL_LENGTHS: ReadonlySet<number> = new Set([40, 64]);

// Two statements: with both conditions in one, every commit would be held against every id.
const BY_FULL_ID = `
  select sha as wanted, seq from git_commit where tenant_id = ? and project_id = ? and sha in (select jsonb_array_elements_text(?::jsonb))`;
const BY_ABBREVIATION = `
  select w.sha as wanted, min(c.seq) as seq from jsonb_array_elements_text(?::jsonb) as w (sha)
  join git_commit c on c.tenant_id = ? and c.project_id = ? and c.sha >= w.sha and c.sha < w.sha || 'g' and starts_with(c.sha, w.sha)
  group by w.sha having count(*) = 1`;

/**
 * Numbers of commits by their ids, which may be abbreviated; one that is unknown, or stands for several, is missing in
 * the answer.
 */
export async function commitNumbers(
  { sql, tenantId }: Sql,
  projectId: string,
  shas: readonly string[],
): Promise<Map<string, number>> {
  const wanted = [...new Set(shas.map((sha) => sha.toLowerCase()))];
  const [full, abbreviated] = [
    wanted.filter(({ length }) => FULL_LENGTHS.has(length)),
    wanted.filter(({ length }) => !FULL_LENGTHS.has(length)),
  ];
  type Row = { wanted: string; seq: number };
  const rows = [
    ...(full.length === 0 ? [] : await sql<Row>(BY_FULL_ID, [tenantId, projectId, JSON.stringify(full)])),
    ...(abbreviated.length === 0
      ? []
      : await sql<Row>(BY_ABBREVIATION, [JSON.stringify(abbreviated), tenantId, projectId])),
  ];
  const found = new Map(rows.map((row) => [row.wanted, row.seq]));
  return new Map(
    shas.flatMap((sha) => {
      const seq = found.get(sha.toLowerCase());
      return seq === undefined ? [] : [[sha, seq] as const];
    }),
  );
}

/** The commits that tags of these names are at. */
export async function tagCommits(
  { sql, tenantId }: Sql,
  projectId: string,
  names: readonly string[],
): Promise<Map<string, number>> {
  if (names.length === 0) return new Map();
  const rows = await sql<{ name: string; seq: number }>(
    `select r.name, c.seq from git_ref r join git_commit c on (c.tenant_id, c.project_id, c.sha) = (r.tenant_id, r.project_id, r.sha)
     where r.tenant_id = ? and r.project_id = ? and r.kind = 'tag' and r.name in (select jsonb_array_elements_text(?::jsonb))`,
    [tenantId, projectId, JSON.stringify(names)],
  );
  return new Map(rows.map(({ name, seq }) => [name, seq]));
}

/** Ids of commits, by number. */
export async function commitShas(
  { sql, tenantId }: Sql,
  projectId: string,
  commits: readonly number[],
): Promise<Map<number, string>> {
  const distinct = [...new Set(commits)];
  if (distinct.length === 0) return new Map();
  const rows = await sql<{ seq: number; sha: string }>(
    'select seq, sha from git_commit where tenant_id = ? and project_id = ? and seq in (select jsonb_array_elements_text(?::jsonb)::int)',
    [tenantId, projectId, JSON.stringify(distinct)],
  );
  return new Map(rows.map(({ seq, sha }) => [seq, sha]));
}

/** Numbers of the commits whose messages name a work item, newest first, and how many there are. */
export async function commitsNaming(
  { sql, tenantId }: Sql,
  projectId: string,
  key: string,
  limit: number,
): Promise<{ commits: number[]; total: number }> {
  const rows = await sql<{ seq: number; total: number }>(
    `select seq, count(*) over ()::int as total from git_commit
     where tenant_id = ? and project_id = ? and work_items @> array[?]::text[] order by seq desc limit ?`,
    [tenantId, projectId, key, limit],
  );
  return { commits: rows.map(({ seq }) => seq), total: rows[0]?.total ?? 0 };
}

/** The commits at which branches are, by name. */
export async function branchTips({ sql, tenantId }: Sql, projectId: string): Promise<Map<string, number>> {
  const rows = await sql<{ name: string; seq: number }>(
    `select r.name, c.seq from git_ref r join git_commit c on (c.tenant_id, c.project_id, c.sha) = (r.tenant_id, r.project_id, r.sha)
     where r.tenant_id = ? and r.project_id = ? and r.kind = 'branch'`,
    [tenantId, projectId],
  );
  return new Map(rows.map(({ name, seq }) => [name, seq]));
}
