import { sql } from 'kysely';
import { json } from '../../kernel/data/columns.ts';
import type { Reads } from '../../kernel/data/fenced-reads.ts';
import type { NewRow } from '../../kernel/data/statement.ts';
import type { Tx } from '../../unit-of-work.ts';

/** Analyses that a branch keeps. */
export const ANALYSES_KEPT = 10;

const COLUMNS = [
  'id',
  'projectId',
  'branch',
  'commitId',
  'analyzedAt',
  'durationMs',
  'summary',
  'engine',
  'triggeredBy',
  'isScheduled',
  'bodyId',
  'newIssues',
  'fixedIssues',
  'gate',
] as const;

export interface BranchOf {
  projectId: string;
  branch: string;
}

const ofBranch = ({ db, tenantId }: Reads, { projectId, branch }: BranchOf) =>
  db
    .selectFrom('code_analysis')
    .where('tenantId', '=', tenantId)
    .where('projectId', '=', projectId)
    .where('branch', '=', branch);

/** The analyses of a branch, the latest first; of equal times the one that arrived last. */
export const listAnalyses = (reads: Reads, branch: BranchOf, limit: number) =>
  ofBranch(reads, branch).orderBy('analyzedAt', 'desc').orderBy('id', 'desc').limit(limit).select(COLUMNS).execute();

export type AnalysisRow = Awaited<ReturnType<typeof listAnalyses>>[number];

/** The analysis of a commit of a branch; without `commitId` the newest of the branch. */
export async function findAnalysis(
  reads: Reads,
  branch: BranchOf,
  commitId: string | undefined,
): Promise<AnalysisRow | undefined> {
  if (commitId === undefined) return (await listAnalyses(reads, branch, 1))[0];
  return ofBranch(reads, branch).where('commitId', '=', commitId).select(COLUMNS).executeTakeFirst();
}

export const analysisById = ({ db, tenantId }: Reads, id: string): Promise<AnalysisRow | undefined> =>
  db
    .selectFrom('code_analysis')
    .where('tenantId', '=', tenantId)
    .where('id', '=', id)
    .select(COLUMNS)
    .executeTakeFirst();

/** Notes a log before it is stored, so that none is in the object store that no row knows. */
export async function insertBody({ db, tenantId }: Tx, id: string): Promise<void> {
  await db.insertInto('code_analysis_body').values({ tenantId, id }).execute();
}

export async function noteBodySize({ db, tenantId }: Tx, id: string, sizeBytes: number): Promise<void> {
  await db
    .updateTable('code_analysis_body')
    .set({ sizeBytes: BigInt(sizeBytes) })
    .where('tenantId', '=', tenantId)
    .where('id', '=', id)
    .execute();
}

export async function deleteBody({ db, tenantId }: Pick<Tx, 'db' | 'tenantId'>, id: string): Promise<void> {
  await db.deleteFrom('code_analysis_body').where('tenantId', '=', tenantId).where('id', '=', id).execute();
}

type NewAnalysis = Pick<
  NewRow<'code_analysis'>,
  | 'id'
  | 'projectId'
  | 'branch'
  | 'commitId'
  | 'analyzedAt'
  | 'durationMs'
  | 'engine'
  | 'triggeredBy'
  | 'isScheduled'
  | 'bodyId'
> & { summary: Parameters<typeof json<AnalysisRow['summary']>>[0] };

/** Inserts an analysis; answers whether its commit had none. */
export async function insertAnalysis({ db, tenantId }: Tx, { summary, ...row }: NewAnalysis): Promise<boolean> {
  const inserted = await db
    .insertInto('code_analysis')
    .values({ ...row, tenantId, summary: json(summary) })
    .onConflict((conflict) => conflict.columns(['tenantId', 'projectId', 'branch', 'commitId']).doNothing())
    .returning('id')
    .execute();
  return inserted.length > 0;
}

/** Removes the analysis of a commit that was stored before a moment; answers its log. @param except its id: it is kept. */
export async function deleteAnalysisOf(
  { db, tenantId }: Tx,
  branch: BranchOf,
  commitId: string,
  { storedBefore, except }: { storedBefore: string; except: string },
): Promise<string[]> {
  const deleted = await db
    .deleteFrom('code_analysis')
    .where('tenantId', '=', tenantId)
    .where('projectId', '=', branch.projectId)
    .where('branch', '=', branch.branch)
    .where('commitId', '=', commitId)
    .where('createdAt', '<', storedBefore)
    .where('id', '<>', except)
    .returning('bodyId')
    .execute();
  return deleted.map(({ bodyId }) => bodyId);
}

/** Removes the analyses of a branch that are older than the newest; answers their logs. */
export async function pruneAnalyses(tx: Tx, branch: BranchOf): Promise<string[]> {
  const surplus = ofBranch(tx, branch)
    .orderBy('analyzedAt', 'desc')
    .orderBy('id', 'desc')
    .offset(ANALYSES_KEPT)
    .select('id');
  const deleted = await tx.db
    .deleteFrom('code_analysis')
    .where('tenantId', '=', tx.tenantId)
    .where('id', 'in', surplus)
    .returning('bodyId')
    .execute();
  return deleted.map(({ bodyId }) => bodyId);
}

/** The run after one is to be compared again: what it is compared with has changed. */
export async function compareNextAgain(tx: Tx, branch: BranchOf, { id, analyzedAt }: { id: string; analyzedAt: Date }) {
  const next = ofBranch(tx, branch)
    .where((eb) => eb(eb.refTuple('analyzedAt', 'id'), '>', eb.tuple(sql<string>`${analyzedAt}::timestamptz`, id)))
    .orderBy('analyzedAt')
    .orderBy('id')
    .limit(1)
    .select('id');
  await tx.db
    .updateTable('code_analysis')
    .set({ comparedAt: null, updatedAt: tx.now })
    .where('tenantId', '=', tx.tenantId)
    .where('id', 'in', next)
    .execute();
}
