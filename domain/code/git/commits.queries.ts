import { sql } from 'kysely';
import { isOneOf, isOneOfNumbers } from '../../kernel/data/conditions.ts';
import type { Reads } from '../../kernel/data/fenced-reads.ts';

/** Commits of a project's repository. */
const commitsOf = ({ db, tenantId }: Reads, projectId: string) =>
  db.selectFrom('git_commit').where('tenantId', '=', tenantId).where('projectId', '=', projectId);

const VIEW = [
  'seq',
  'sha',
  'subject as message',
  'authorName',
  'authorEmail',
  'authoredAt',
  'committedAt',
  'workItems',
  'pullRequests',
] as const;

const viewsOf = (reads: Reads, projectId: string, commits: readonly number[]) =>
  commitsOf(reads, projectId)
    .where((eb) => isOneOfNumbers(eb, 'seq', commits))
    .select([...VIEW, sql<boolean>`cardinality(parents) > 1`.as('isMerge')])
    .execute();

/** A commit as people see it; `message` is the first line. */
export type CommitView = Awaited<ReturnType<typeof viewsOf>>[number];

/** Commits by number. */
export async function commitViews(
  reads: Reads,
  projectId: string,
  commits: readonly number[],
): Promise<Map<number, CommitView>> {
  const distinct = [...new Set(commits)];
  if (distinct.length === 0) return new Map();
  const rows = await viewsOf(reads, projectId, distinct);
  return new Map(rows.map((row) => [row.seq, row]));
}

const byFullId = (reads: Reads, projectId: string, shas: readonly string[]) =>
  commitsOf(reads, projectId)
    .where((eb) => isOneOf(eb, 'sha', shas))
    .select(['sha as wanted', 'seq'])
    .execute();

const byAbbreviation = ({ db, tenantId }: Reads, projectId: string, shas: readonly string[]) =>
  db
    .selectFrom(sql<{ sha: string }>`unnest(${shas}::text[])`.as<'wanted'>(sql`wanted (sha)`))
    .innerJoin('git_commit as c', (join) =>
      join
        .on('c.tenantId', '=', tenantId)
        .on('c.projectId', '=', projectId)
        .onRef('c.sha', '>=', 'wanted.sha')
        .on('c.sha', '<', sql<string>`wanted.sha || 'g'`)
        .on(sql<boolean>`starts_with(c.sha, wanted.sha)`),
    )
    .groupBy('wanted.sha')
    .having((eb) => eb.fn.countAll(), '=', sql.lit(1))
    .select((eb) => ['wanted.sha as wanted', eb.fn.min('c.seq').as('seq')])
    .execute();

const FULL_LENGTHS: ReadonlySet<number> = new Set([40, 64]);

/**
 * Numbers of commits by their ids, which may be abbreviated. One that is unknown, or ambiguous, is missing in the
 * result.
 */
export async function commitNumbers(
  reads: Reads,
  projectId: string,
  shas: readonly string[],
): Promise<Map<string, number>> {
  const wanted = [...new Set(shas.map((sha) => sha.toLowerCase()))];
  const full = wanted.filter(({ length }) => FULL_LENGTHS.has(length));
  const abbreviated = wanted.filter(({ length }) => !FULL_LENGTHS.has(length));
  // Two statements: with both conditions in one, every commit would be compared with every id.
  const rows = [
    ...(full.length === 0 ? [] : await byFullId(reads, projectId, full)),
    ...(abbreviated.length === 0 ? [] : await byAbbreviation(reads, projectId, abbreviated)),
  ];
  const found = new Map(rows.map((row) => [row.wanted, row.seq]));
  return new Map(
    shas.flatMap((sha) => {
      const seq = found.get(sha.toLowerCase());
      return seq === undefined ? [] : [[sha, seq] as const];
    }),
  );
}

/** Ids of commits, by number. */
export async function commitShas(
  reads: Reads,
  projectId: string,
  commits: readonly number[],
): Promise<Map<number, string>> {
  const distinct = [...new Set(commits)];
  if (distinct.length === 0) return new Map();
  const rows = await commitsOf(reads, projectId)
    .where((eb) => isOneOfNumbers(eb, 'seq', distinct))
    .select(['seq', 'sha'])
    .execute();
  return new Map(rows.map(({ seq, sha }) => [seq, sha]));
}

/** The id of a commit whose id may be abbreviated: in full where the repository has one such commit, else as given. */
export async function fullCommitId(reads: Reads, projectId: string, given: string): Promise<string> {
  const sha = given.toLowerCase();
  if (FULL_LENGTHS.has(sha.length)) return sha;
  const [seq] = (await commitNumbers(reads, projectId, [sha])).values();
  return seq === undefined ? sha : ((await commitShas(reads, projectId, [seq])).get(seq) ?? sha);
}

/** Ids, and those of the parents, of up to `limit` commits from a number on, in order. */
export const commitLines = (reads: Reads, projectId: string, from: number, limit: number) =>
  commitsFrom(reads, projectId, from, limit)
    .select([
      'c.seq',
      'c.sha',
      sql<string[]>`array(select p.sha from unnest(c.parents) with ordinality as parent (seq, place)
        join git_commit p on p.tenant_id = c.tenant_id and p.project_id = c.project_id and p.seq = parent.seq order by place)`.as(
        'parents',
      ),
    ])
    .execute();

/** Messages of up to `limit` commits from a number on, in order. */
export const commitMessages = (reads: Reads, projectId: string, from: number, limit: number) =>
  commitsFrom(reads, projectId, from, limit).select(['c.seq', 'c.subject', 'c.body']).execute();

const commitsFrom = ({ db, tenantId }: Reads, projectId: string, from: number, limit: number) =>
  db
    .selectFrom('git_commit as c')
    .where('c.tenantId', '=', tenantId)
    .where('c.projectId', '=', projectId)
    .where('c.seq', '>=', from)
    .orderBy('c.seq')
    .limit(limit);
