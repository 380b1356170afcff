import { sql } from 'kysely';
import { json } from '../../kernel/data/columns.ts';
import type { Reads } from '../../kernel/data/fenced-reads.ts';
import { statement } from '../../kernel/data/statement.ts';
import { notFound } from '../../kernel/shared/errors.ts';
import type { Tx } from '../../unit-of-work.ts';
import type { RunWorkflowKey } from '../../kernel/shared/workflow-path-rules.ts';
import { displayOf, type OpenStatus, type RunStatus } from './run-status-rules.ts';
import { isFinal } from './run-moves.queries.ts';

const CONTEXT = statement<{ tenantId: string; id: string }, { forUpdate: boolean }>()(
  (db, { tenantId, id }, { forUpdate }) => {
    const run = db
      .selectFrom('flow_run as r')
      .leftJoin('project as p', (join) => join.onRef('p.tenantId', '=', 'r.tenantId').onRef('p.id', '=', 'r.projectId'))
      .leftJoin('environment as e', (join) =>
        join.onRef('e.tenantId', '=', 'r.tenantId').onRef('e.id', '=', 'r.environmentId'),
      )
      .where('r.tenantId', '=', tenantId)
      .where('r.id', '=', id)
      .select([
        'r.id',
        'r.parentId',
        'r.projectId',
        'p.identifier as repositoryIdentifier',
        'p.platform',
        'p.defaultBranch',
        'p.remoteUrl',
        'r.environmentId',
        'e.name as environmentName',
        'e.category as environmentCategory',
        'e.approvalPolicy',
        'r.hasWorkflow',
        'r.taskType',
        'r.flowPath',
        'r.isScheduled',
        'r.domain',
        'r.releaseName',
        'r.status',
        'r.payload',
        'r.result',
        'r.error',
        'r.triggeredBy',
        'r.requestedBy',
        'r.requestId',
        'r.traceparent',
        'r.cicdRunId',
        'r.cicdRunUrl',
        'r.cancelRequestedAt',
        'r.startedAt',
        'r.override',
        'r.workflowPath',
        'r.progress',
        'r.announcedProgress',
      ]);
    return forUpdate ? run.forUpdate('r') : run;
  },
);

/** A run with what its steps need to know. */
export type RunContext = Awaited<ReturnType<typeof CONTEXT>>[number];

/** A run; undefined: there is none. */
export async function findRun(
  { db, tenantId }: Reads,
  id: string,
  { forUpdate = false } = {},
): Promise<RunContext | undefined> {
  const [run] = await CONTEXT(db, { tenantId, id }, { forUpdate });
  return run;
}

/** A run as `findRun` finds it. Throws `not_found`. */
export async function runById(reads: Reads, id: string, options?: { forUpdate?: boolean }): Promise<RunContext> {
  const run = await findRun(reads, id, options);
  if (!run) throw notFound('The run');
  return run;
}

/** The runs of a project that have a workflow, and have not ended. */
export const openRunsOfProject = ({ db, tenantId }: Reads, projectId: string): Promise<RunWorkflowKey[]> =>
  db
    .selectFrom('flow_run')
    .where('tenantId', '=', tenantId)
    .where('projectId', '=', projectId)
    .where('hasWorkflow', '=', true)
    .where('endedAt', 'is', null)
    .select(['id as runId', 'taskType', 'workflowPath'])
    .execute();

const CLAIM = statement<{ tenantId: string; id: string; engineRunId: string }>()((db, { tenantId, id, engineRunId }) =>
  db
    .updateTable('flow_run as r')
    .from((eb) =>
      eb
        .selectFrom('flow_run')
        .where('tenantId', '=', tenantId)
        .where('id', '=', id)
        .select(['tenantId', 'id', 'engineRunId'])
        .forUpdate()
        .as('before'),
    )
    .set({ engineRunId })
    .whereRef('r.tenantId', '=', 'before.tenantId')
    .whereRef('r.id', '=', 'before.id')
    .returning('before.engineRunId'),
);

export interface ClaimedRun {
  run: RunContext;
  /** Another workflow execution had it before, which the engine has lost. */
  isTakenOver: boolean;
}

/** Assigns a run to a workflow execution, of which there is one at a time; undefined when there is no such run. */
export async function claimRun(tx: Tx, id: string, engineRunId: string): Promise<ClaimedRun | undefined> {
  const [before] = await CLAIM(tx.db, { tenantId: tx.tenantId, id, engineRunId });
  const run = before && (await findRun(tx, id));
  return run && { run, isTakenOver: before.engineRunId !== null && before.engineRunId !== engineRunId };
}

/** Notes for what a run waits, which has that status; false when that is known. */
export async function noteWait(
  { db, tenantId }: Tx,
  id: string,
  { status, nextWindowAt, waitsFor }: { status: OpenStatus; nextWindowAt: Date | null; waitsFor: string },
): Promise<boolean> {
  const noted = await db
    .updateTable('flow_run')
    .set({ nextWindowAt, waitsFor, updatedAt: sql`now()` })
    .where('tenantId', '=', tenantId)
    .where('id', '=', id)
    .where('status', '=', status)
    .where((eb) =>
      eb.or([
        eb('waitsFor', 'is distinct from', waitsFor),
        eb('nextWindowAt', 'is distinct from', nextWindowAt?.toISOString() ?? null),
      ]),
    )
    .returning('id')
    .execute();
  return noted.length > 0;
}

/** Notes for what a run waits that is at work; null: for nothing. */
export async function noteWaitAtWork({ db, tenantId }: Tx, id: string, waitsFor: string | null): Promise<void> {
  await db
    .updateTable('flow_run')
    .set({ waitsFor, updatedAt: sql`now()` })
    .where('tenantId', '=', tenantId)
    .where('id', '=', id)
    .where('status', '=', 'running')
    .where('waitsFor', 'is distinct from', waitsFor)
    .execute();
}

/** Gives a final run another outcome; false when it has that one already. */
export async function reviseRun(
  { db, tenantId }: Tx,
  id: string,
  { status, error = null }: { status: RunStatus; error?: string | null | undefined },
): Promise<boolean> {
  const revised = await db
    .updateTable('flow_run')
    .set({ status, displayStatus: displayOf(status), error, updatedAt: sql`now()` })
    .where('tenantId', '=', tenantId)
    .where('id', '=', id)
    .where(isFinal)
    .where('status', '<>', status)
    .returning('id')
    .execute();
  return revised.length > 0;
}

/** Replaces the result of a run, which the caller has locked. */
export async function writeResult({ db, tenantId }: Tx, id: string, result: Record<string, unknown>): Promise<void> {
  await db
    .updateTable('flow_run')
    .set({ result: json(result), updatedAt: sql`now()` })
    .where('tenantId', '=', tenantId)
    .where('id', '=', id)
    .execute();
}

/** Records that runs are to end; the first request counts. */
export async function noteCancel({ db, tenantId }: Tx, ids: readonly string[]): Promise<void> {
  await db
    .updateTable('flow_run')
    .set(({ fn }) => ({
      cancelRequestedAt: fn.coalesce('cancelRequestedAt', sql<string>`now()`),
      updatedAt: sql`now()`,
    }))
    .where('tenantId', '=', tenantId)
    .where('id', '=', sql<string>`any (${ids}::uuid[])`)
    .where('endedAt', 'is', null)
    .execute();
}

/** Records the lock that a run holds outside; the same lock again is updated. */
export async function upsertRunLock(
  { db, tenantId }: Tx,
  lock: { executionId: string; lockKey: string; ticketId?: string | undefined; runId?: string | undefined },
): Promise<void> {
  await db
    .insertInto('flow_run_lock')
    .values({ ...lock, tenantId })
    .onConflict((conflict) =>
      conflict.columns(['tenantId', 'executionId', 'lockKey']).doUpdateSet(({ fn }) => ({
        ticketId: fn.coalesce('excluded.ticketId', 'flow_run_lock.ticketId'),
        runId: fn.coalesce('excluded.runId', 'flow_run_lock.runId'),
        updatedAt: sql`now()`,
      })),
    )
    .execute();
}
