import { sql } from 'kysely';
import type { Reads } from '../../kernel/data/fenced-reads.ts';
import type { Tx } from '../../unit-of-work.ts';
import type { Fingerprint } from './sarif/fingerprints.ts';
import type { Issue } from './summary-rules.ts';

type Writes = Pick<Tx, 'db' | 'tenantId'>;

export type IndexedIssue = Fingerprint &
  Pick<Issue, 'tool' | 'ruleId' | 'level' | 'path' | 'startLine' | 'message'> & { position: number };

/** Removes issues of an analysis that an attempt wrote which did not come to its end. */
export async function deleteIssues({ db, tenantId }: Writes, analysisId: string): Promise<void> {
  await db
    .deleteFrom('code_analysis_result')
    .where('tenantId', '=', tenantId)
    .where('analysisId', '=', analysisId)
    .execute();
}

/** Writes issues of an analysis. */
export async function insertIssues(
  { db, tenantId }: Writes,
  { id: analysisId, projectId }: { id: string; projectId: string },
  issues: readonly IndexedIssue[],
): Promise<void> {
  const column = <Name extends keyof IndexedIssue>(name: Name) => issues.map((issue) => issue[name]);
  await sql`
    insert into code_analysis_result (tenant_id, analysis_id, project_id,
      fingerprint, ordinal, position, tool, rule_id, level, path, start_line, message)
    select ${tenantId}::uuid, ${analysisId}::uuid, ${projectId}::uuid, t.*
    from unnest(${column('fingerprint')}::text[], ${column('ordinal')}::int[], ${column('position')}::int[],
      ${column('tool')}::text[], ${column('ruleId')}::text[], ${column('level')}::text[], ${column('path')}::text[],
      ${column('startLine')}::int[], ${column('message')}::text[]) t`.execute(db);
}

/** Two analyses that are compared. */
interface Sides {
  baseId: string;
  headId: string;
}

/**
 * The issues of two analyses, those that both have as one group. A join would be planned as a loop in a loop while the
 * statistics do not know of the new rows yet, which takes minutes.
 */
const issuesOfBoth = ({ db, tenantId }: Reads, { baseId, headId }: Sides) =>
  db
    .selectFrom('code_analysis_result as r')
    .where('r.tenantId', '=', tenantId)
    .where('r.analysisId', 'in', [baseId, headId])
    .groupBy(['r.fingerprint', 'r.ordinal']);

/** Numbers of a comparison. @param sides with the tools whose issues the base does not have whole. */
export const countDifferences = (reads: Reads, { cutTools, ...sides }: Sides & { cutTools: readonly string[] }) =>
  reads.db
    .selectFrom(
      issuesOfBoth(reads, sides)
        .select([
          sql<boolean>`bool_or(r.analysis_id = ${sides.headId}::uuid)`.as('in_head'),
          sql<boolean>`bool_or(r.analysis_id = ${sides.baseId}::uuid)`.as('in_base'),
          sql<string>`min(r.level)`.as('level'),
          sql<boolean>`min(r.tool) <> all(${cutTools}::text[])`.as('is_whole'),
        ])
        .as('i'),
    )
    .select([
      sql<number>`(count(*) filter (where in_head and not in_base))::int`.as('newIssues'),
      sql<number>`(count(*) filter (where in_head and not in_base and level = 'error'))::int`.as('newErrors'),
      sql<number>`(count(*) filter (where in_head and not in_base and level = 'warning'))::int`.as('newWarnings'),
      sql<number>`(count(*) filter (where in_head and not in_base and is_whole and level = 'error'))::int`.as(
        'wholeNewErrors',
      ),
      sql<number>`(count(*) filter (where in_head and not in_base and is_whole and level = 'warning'))::int`.as(
        'wholeNewWarnings',
      ),
      sql<number>`(count(*) filter (where in_base and not in_head))::int`.as('fixedIssues'),
      sql<number>`(count(*) filter (where in_base and in_head))::int`.as('unchangedIssues'),
    ])
    .executeTakeFirstOrThrow();

/** Issues that one analysis has and another has not, in the order of its log. @param after a position. */
export const listDifferences = (
  reads: Reads,
  { of, without }: { of: string; without: string },
  { after, limit }: { after: number; limit: number },
) =>
  reads.db
    .with(
      (cte) => cte('found').materialized(),
      () =>
        issuesOfBoth(reads, { baseId: without, headId: of })
          .having(sql<boolean>`bool_and(r.analysis_id <> ${without}::uuid) and min(r.position) > ${after}::int`)
          .orderBy(({ fn }) => fn.min('r.position'))
          .limit(limit)
          .select(['r.fingerprint', 'r.ordinal']),
    )
    .selectFrom('found')
    .innerJoin('code_analysis_result as r', (join) =>
      join
        .on('r.tenantId', '=', reads.tenantId)
        .on('r.analysisId', '=', of)
        .onRef('r.fingerprint', '=', 'found.fingerprint')
        .onRef('r.ordinal', '=', 'found.ordinal'),
    )
    .orderBy('r.position')
    .select(['r.position', 'r.tool', 'r.ruleId', 'r.level', 'r.path', 'r.startLine', 'r.message'])
    .execute();
