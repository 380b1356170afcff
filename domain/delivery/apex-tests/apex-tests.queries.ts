import { sql } from 'kysely';
import type { Reads } from '../../kernel/data/fenced-reads.ts';
import { partsOf } from '../../kernel/shared/at-once-rules.ts';
import type { Tx } from '../../unit-of-work.ts';
import type { CoveredClass, ResultCounts, TestResult } from './apex-test-rules.ts';

const COLUMNS = ['className', 'method', 'outcome', 'message', 'stackTrace', 'timeMs', 'isRepeated'] as const;

/** Rows of one statement: PostgreSQL takes 65,535 parameters. */
const ROWS_AT_ONCE = 2_000;

/** Keeps results of a run; one of the same method replaces that from before. */
export async function keepResults({ db, tenantId }: Tx, runId: string, results: readonly TestResult[]): Promise<void> {
  for (const part of partsOf(results, ROWS_AT_ONCE))
    await db
      .insertInto('apex_test_result')
      .values(part.map((result) => ({ ...result, tenantId, runId })))
      .onConflict((conflict) =>
        conflict.columns(['tenantId', 'runId', 'className', 'method']).doUpdateSet((eb) => ({
          outcome: eb.ref('excluded.outcome'),
          message: eb.ref('excluded.message'),
          stackTrace: eb.ref('excluded.stackTrace'),
          timeMs: eb.ref('excluded.timeMs'),
          isRepeated: eb.ref('excluded.isRepeated'),
        })),
      )
      .execute();
}

export async function keepCoverage(
  { db, tenantId }: Tx,
  runId: string,
  classes: readonly CoveredClass[],
): Promise<void> {
  for (const part of partsOf(classes, ROWS_AT_ONCE))
    await db
      .insertInto('apex_class_coverage')
      .values(part.map((each) => ({ ...each, tenantId, runId })))
      .onConflict((conflict) =>
        conflict.columns(['tenantId', 'runId', 'className']).doUpdateSet((eb) => ({
          lines: eb.ref('excluded.lines'),
          uncovered: eb.ref('excluded.uncovered'),
          changedLines: eb.ref('excluded.changedLines'),
          changedCovered: eb.ref('excluded.changedCovered'),
          whyUnknown: eb.ref('excluded.whyUnknown'),
        })),
      )
      .execute();
}

/** What passed, did not run, and failed, as results are filtered. */
export const OUTCOMES = { passed: ['Pass'], skipped: ['Skip'] } as const;
const KNOWN = [...OUTCOMES.passed, ...OUTCOMES.skipped];
export type OutcomeGroup = keyof typeof OUTCOMES | 'failed';

const ofRun = ({ db, tenantId }: Reads, runId: string, group: OutcomeGroup | undefined) => {
  const rows = db.selectFrom('apex_test_result').where('tenantId', '=', tenantId).where('runId', '=', runId);
  if (group === undefined) return rows;
  return group === 'failed' ? rows.where('outcome', 'not in', KNOWN) : rows.where('outcome', 'in', OUTCOMES[group]);
};

/** Results of a run, those that failed first. */
export const resultsOfRun = (
  reads: Reads,
  runId: string,
  { group, limit, offset }: { group?: OutcomeGroup | undefined; limit: number; offset: number },
): Promise<TestResult[]> =>
  ofRun(reads, runId, group)
    .orderBy(sql`outcome = 'Pass'`)
    .orderBy('className')
    .orderBy('method')
    .limit(limit)
    .offset(offset)
    .select(COLUMNS)
    .execute();

export const countResults = async (reads: Reads, runId: string, group?: OutcomeGroup): Promise<ResultCounts> =>
  ofRun(reads, runId, group)
    .select([
      sql<number>`count(*)::int`.as('total'),
      sql<number>`(count(*) filter (where outcome = 'Pass'))::int`.as('passed'),
      sql<number>`(count(*) filter (where outcome not in ('Pass', 'Skip')))::int`.as('failed'),
      sql<number>`(count(*) filter (where outcome = 'Skip'))::int`.as('skipped'),
      sql<number>`coalesce(sum(time_ms), 0)::float8`.as('timeMs'),
    ])
    .executeTakeFirstOrThrow();

/** Classes of a run, those that changed first, and of these those with the most lines that no test reaches. */
export const coverageOfRun = (
  { db, tenantId }: Reads,
  runId: string,
  { limit, offset }: { limit: number; offset: number },
): Promise<CoveredClass[]> =>
  db
    .selectFrom('apex_class_coverage')
    .where('tenantId', '=', tenantId)
    .where('runId', '=', runId)
    .orderBy(sql`changed_lines is null and why_unknown is null`)
    .orderBy('uncovered', 'desc')
    .orderBy('className')
    .limit(limit)
    .offset(offset)
    .select(['className', 'lines', 'uncovered', 'changedLines', 'changedCovered', 'whyUnknown'])
    .execute();

export const totalCoverage = ({ db, tenantId }: Reads, runId: string) =>
  db
    .selectFrom('apex_class_coverage')
    .where('tenantId', '=', tenantId)
    .where('runId', '=', runId)
    .select([
      sql<number>`count(*)::int`.as('classes'),
      sql<number>`coalesce(sum(lines), 0)::int`.as('lines'),
      sql<number>`coalesce(sum(uncovered), 0)::int`.as('uncovered'),
      sql<number>`coalesce(sum(changed_lines), 0)::int`.as('changedLines'),
      sql<number>`coalesce(sum(changed_covered), 0)::int`.as('changedCovered'),
      sql<number>`(count(*) filter (where why_unknown is not null))::int`.as('changedUnknown'),
    ])
    .executeTakeFirstOrThrow();
