import { sql } from 'kysely';
import { json, type JsonText } from '../../../kernel/data/columns.ts';
import type { Reads } from '../../../kernel/data/fenced-reads.ts';
import type { Tx } from '../../../unit-of-work.ts';
import type { RunOutcome } from '../flow-runs.mutations.ts';
import type { ToldPipeline } from './pipeline-output-rules.ts';

/** Records that the pipeline of a run is about to be dispatched; false when that was recorded before. */
export async function noteDispatch({ db, tenantId }: Tx, id: string): Promise<boolean> {
  const noted = await db
    .updateTable('flow_run')
    .set({ dispatchTriedAt: sql`now()`, updatedAt: sql`now()` })
    .where('tenantId', '=', tenantId)
    .where('id', '=', id)
    .where('dispatchTriedAt', 'is', null)
    .returning('id')
    .execute();
  return noted.length > 0;
}

/** Takes that record back: nothing was dispatched. */
export async function forgetDispatch({ db, tenantId }: Tx, id: string): Promise<void> {
  await db
    .updateTable('flow_run')
    .set({ dispatchTriedAt: null })
    .where('tenantId', '=', tenantId)
    .where('id', '=', id)
    .where('cicdRunId', 'is', null)
    .execute();
}

/** What the output of a run has told of its pipeline; null: nothing. */
export async function toldPipeline({ db, tenantId }: Reads, id: string): Promise<ToldPipeline | null> {
  const run = await db
    .selectFrom('flow_run')
    .where('tenantId', '=', tenantId)
    .where('id', '=', id)
    .select('pipelineTold')
    .executeTakeFirst();
  return run?.pipelineTold ?? null;
}

/** Records the pipeline that executes a run; what is known already stays. */
export async function notePipeline(
  { db, tenantId }: Tx,
  id: string,
  { runId, url }: { runId: string | null; url: string | null },
): Promise<void> {
  await db
    .updateTable('flow_run')
    .set(({ fn, val }) => ({
      cicdRunId: fn.coalesce('cicdRunId', val(runId)),
      cicdRunUrl: fn.coalesce('cicdRunUrl', val(url)),
      updatedAt: sql`now()`,
    }))
    .where('tenantId', '=', tenantId)
    .where('id', '=', id)
    .execute();
}

/** Records how an external worker reports that a run ended, for the run's workflow; the first report counts. */
export async function keepReport({ db, tenantId }: Tx, id: string, outcome: RunOutcome): Promise<void> {
  await db
    .updateTable('flow_run')
    .set({
      reportedEnd: sql<JsonText<RunOutcome>>`coalesce(reported_end, ${json(outcome)}::jsonb)`,
      updatedAt: sql`now()`,
    })
    .where('tenantId', '=', tenantId)
    .where('id', '=', id)
    .execute();
}

/** Records how the command of a run ended, whatever it reported before, and its result. */
export async function keepEndOfCommand({ db, tenantId }: Tx, id: string, outcome: RunOutcome): Promise<void> {
  await db
    .updateTable('flow_run')
    .set({
      reportedEnd: json(outcome),
      result: sql<JsonText<Record<string, unknown>>>`result || ${json(outcome.result ?? {})}::jsonb`,
      updatedAt: sql`now()`,
    })
    .where('tenantId', '=', tenantId)
    .where('id', '=', id)
    .execute();
}

/** Null when no end was reported; undefined when there is no such run. */
export async function reportedEnd({ db, tenantId }: Reads, id: string): Promise<RunOutcome | null | undefined> {
  const run = await db
    .selectFrom('flow_run')
    .where('tenantId', '=', tenantId)
    .where('id', '=', id)
    .select('reportedEnd')
    .executeTakeFirst();
  return run?.reportedEnd;
}
