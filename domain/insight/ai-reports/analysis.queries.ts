import { sql } from 'kysely';
import type { Reads } from '../../kernel/data/fenced-reads.ts';
import type { Level } from '../code-analysis/sarif/sarif-rules.ts';

/** The latest analysis of a branch; `baseId` is that of the run before, as long as that is kept. */
export const latestAnalysis = ({ db, tenantId }: Reads, projectId: string, branch: string) =>
  db
    .selectFrom('code_analysis as a')
    .leftJoin('code_analysis as b', (join) =>
      join.onRef('b.tenantId', '=', 'a.tenantId').onRef('b.id', '=', 'a.baseId'),
    )
    .where('a.tenantId', '=', tenantId)
    .where('a.projectId', '=', projectId)
    .where('a.branch', '=', branch)
    .orderBy('a.analyzedAt', 'desc')
    .orderBy('a.id', 'desc')
    .limit(1)
    .select([
      'a.id',
      'a.commitId',
      'a.analyzedAt',
      'a.summary',
      'a.newIssues',
      'a.fixedIssues',
      'a.gate',
      'a.indexedAt',
      'b.id as baseId',
      'b.summary as baseSummary',
    ])
    .executeTakeFirst();

interface IssueRow {
  ruleId: string;
  level: Level;
  path: string;
  startLine: number | null;
  message: string;
  /** It is not among the other analysis' issues; false without another. */
  isAlone: boolean;
  /** How many there are in all. */
  total: number;
}

/**
 * Issues of an analysis, those first that another one does not have, then the most severe.
 * @param folders in which the files are, relative to the root; undefined: all. @param onlyAlone leaves out the others.
 */
export async function issuesOf(
  { db, tenantId }: Reads,
  {
    analysisId,
    otherId,
    folders,
    onlyAlone,
    limit,
  }: {
    analysisId: string;
    otherId: string | null;
    folders: readonly string[] | undefined;
    onlyAlone: boolean;
    limit: number;
  },
): Promise<IssueRow[]> {
  const inFolders =
    folders === undefined || folders.includes('')
      ? sql`true`
      : sql`exists (select from unnest(${folders}::text[]) f where starts_with(r.path, f || '/'))`;
  // A join of the two is planned as a loop in a loop while the statistics do not know of new rows.
  const { rows } = await sql<IssueRow>`
    select i.*, (count(*) over ())::int as total
    from (
      select r.analysis_id, r.rule_id as "ruleId", r.level, r.path, r.start_line as "startLine",
        left(r.message, 300) as message, r.position,
        ${otherId}::uuid is not null and count(*) over (partition by r.fingerprint, r.ordinal) = 1 as "isAlone"
      from code_analysis_result r
      where r.tenant_id = ${tenantId} and r.analysis_id = any (array[${analysisId}, ${otherId}]::uuid[])
        and ${inFolders}) i
    where i.analysis_id = ${analysisId}::uuid and ${onlyAlone ? sql`"isAlone"` : sql`true`}
    order by "isAlone" desc, array_position(array['error', 'warning', 'note', 'none'], i.level), i.path, i.position
    limit ${sql.lit(limit)}`.execute(db);
  return rows;
}
