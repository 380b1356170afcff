import { sql } from 'kysely';
import { json, type JsonText } from '../../../kernel/data/columns.ts';
import type { Reads } from '../../../kernel/data/fenced-reads.ts';
import type { Database } from '../../../kernel/data/tables.ts';
import { ANALYZE } from '../../../delivery/flows/flow-types.ts';
import { isoOf } from '../../../kernel/text/date-time-rules.ts';
import { tenantSlugOf } from '../../../kernel/tenants/tenants.queries.ts';
import type { Tx } from '../../../unit-of-work.ts';
import type { AnalysisJob } from './analysis-job-rules.ts';

type Writes = Pick<Tx, 'db' | 'tenantId'>;

export interface BranchOfProject {
  projectId: string;
  branch: string;
}

/** The commit that a run analyses: as requested, else as it found the head; null: it did not look for it yet. */
const COMMIT = sql<string | null>`coalesce(payload ->> 'commitId', result ->> 'commitId')`;

/** What is analysed: a commit, the head of its branch, or both. */
export interface SoughtCommit {
  /** Null: the head, which is not known yet. */
  commitId: string | null;
  isHead: boolean;
}

const analysesOf = ({ db, tenantId }: Reads, { projectId, branch }: BranchOfProject) =>
  db
    .selectFrom('flow_run')
    .where('tenantId', '=', tenantId)
    .where('projectId', '=', projectId)
    .where('taskType', '=', sql.lit(ANALYZE))
    .where(sql`payload ->> 'branch'`, '=', branch);

/** The newest run that analyses a commit of a branch. */
export async function latestJob(
  reads: Reads,
  branch: BranchOfProject,
  { commitId, isHead }: SoughtCommit,
): Promise<AnalysisJob | undefined> {
  const row = await analysesOf(reads, branch)
    .where((eb) =>
      eb.or([
        commitId === null ? eb(sql`payload ->> 'commitId'`, 'is', null) : eb(COMMIT, '=', commitId),
        eb.and([eb.val(isHead), eb(COMMIT, 'is', null)]),
      ]),
    )
    .orderBy('createdAt', 'desc')
    .limit(1)
    .select(['id as jobId', 'status', 'error', 'endedAt'])
    .executeTakeFirst();
  return row && { ...row, endedAt: row.endedAt === null ? null : isoOf(row.endedAt) };
}

/** Since when a run is under way whose results replace those that a commit has; undefined: there is none. */
export const openRefresh = (reads: Reads, branch: BranchOfProject, commitId: string): Promise<string | undefined> =>
  analysesOf(reads, branch)
    .where('endedAt', 'is', null)
    .where(sql`payload -> 'force'`, '=', sql`'true'::jsonb`)
    .where((eb) => eb.or([eb(COMMIT, '=', commitId), eb(COMMIT, 'is', null)]))
    .orderBy('createdAt', 'desc')
    .limit(1)
    .select('createdAt')
    .executeTakeFirst()
    .then((row) => row?.createdAt);

/** Notes which commit a run analyses that was requested for the head of a branch. */
export async function noteCommit({ db, tenantId, now }: Tx, runId: string, commitId: string): Promise<void> {
  await db
    .updateTable('flow_run')
    .set({ result: sql<JsonText<Record<string, unknown>>>`result || ${json({ commitId })}`, updatedAt: now })
    .where('tenantId', '=', tenantId)
    .where('id', '=', runId)
    .where('endedAt', 'is', null)
    .execute();
}

/** Branches of a repository with their newest commits, as far as these are fetched; empty: nothing was fetched yet. */
export const branchHeads = ({ db, tenantId }: Reads, projectId: string) =>
  db
    .selectFrom('git_ref')
    .where('tenantId', '=', tenantId)
    .where('projectId', '=', projectId)
    .where('kind', '=', 'branch')
    .orderBy('name')
    .select(['name', 'sha'])
    .execute();

export const branchHead = ({ db, tenantId }: Reads, { projectId, branch }: BranchOfProject) =>
  db
    .selectFrom('git_ref')
    .where('tenantId', '=', tenantId)
    .where('projectId', '=', projectId)
    .where('kind', '=', 'branch')
    .where('name', '=', branch)
    .select('sha')
    .executeTakeFirst()
    .then((row) => row?.sha);

/** Whether the branches of a repository are known. */
export const hasBranches = ({ db, tenantId }: Reads, projectId: string): Promise<boolean> =>
  db
    .selectFrom('git_ref')
    .where('tenantId', '=', tenantId)
    .where('projectId', '=', projectId)
    .where('kind', '=', 'branch')
    .limit(1)
    .select('name')
    .executeTakeFirst()
    .then((row) => row !== undefined);

/** Adds a branch to those that are analysed each night, and locks out other requests for it until the transaction ends. */
export async function keepSchedule({ db, tenantId }: Writes, { projectId, branch }: BranchOfProject): Promise<void> {
  await sql`select pg_advisory_xact_lock(hashtextextended(${`analyze/${tenantId}/${projectId}/${branch}`}, 2))`.execute(
    db,
  );
  await db
    .insertInto('code_analysis_schedule')
    .values({ tenantId, projectId, branch })
    .onConflict((conflict) => conflict.doNothing())
    .execute();
}

/** Takes the turn of a branch in a night; false when it had one, or is gone. @param night a date. */
export async function takeTurn(
  { db, tenantId }: Writes,
  { projectId, branch }: BranchOfProject,
  night: string,
): Promise<boolean> {
  const { numUpdatedRows } = await db
    .updateTable('code_analysis_schedule')
    .set({ lastNight: night })
    .where('tenantId', '=', tenantId)
    .where('projectId', '=', projectId)
    .where('branch', '=', branch)
    .where((eb) => eb.or([eb('lastNight', 'is', null), eb('lastNight', '<', night)]))
    .executeTakeFirst();
  return numUpdatedRows > 0n;
}

export const removeSchedule = ({ db, tenantId }: Writes, { projectId, branch }: BranchOfProject) =>
  db
    .deleteFrom('code_analysis_schedule')
    .where('tenantId', '=', tenantId)
    .where('projectId', '=', projectId)
    .where('branch', '=', branch)
    .execute();

/** Branches whose turn in a night has not come, of all tenants; those of different tenants take turns. */
export const dueBranches = (system: Database, night: string, limit: number) =>
  system
    .with('due', (db) =>
      db
        .selectFrom('code_analysis_schedule')
        .where((eb) => eb.or([eb('lastNight', 'is', null), eb('lastNight', '<', night)]))
        .select(({ fn }) => [
          'tenantId',
          'projectId',
          'branch',
          fn
            .agg<string>('row_number')
            .over((over) => over.partitionBy('tenantId').orderBy('lastNight').orderBy('projectId').orderBy('branch'))
            .as('place'),
        ]),
    )
    .selectFrom('due')
    .orderBy('place')
    .orderBy('tenantId')
    .limit(limit)
    .select(['tenantId', tenantSlugOf('tenantId'), 'projectId', 'branch'])
    .execute();

/** How many analyses of the night are under way, in all tenants. */
export const openNightlyJobs = (system: Database): Promise<number> =>
  system
    .selectFrom('flow_run')
    .where('taskType', '=', sql.lit(ANALYZE))
    .where('isScheduled', '=', sql.lit(true))
    .where('endedAt', 'is', null)
    .select(({ fn }) => fn.countAll<string>().as('open'))
    .executeTakeFirstOrThrow()
    .then(({ open }) => Number(open));
