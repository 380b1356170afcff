import { sql } from 'kysely';
import { statement } from '../../../kernel/data/statement.ts';
import type { Reads } from '../../../kernel/data/fenced-reads.ts';
import { notFound } from '../../../kernel/shared/errors.ts';
import type { Tx } from '../../../unit-of-work.ts';
import type { KeptOutput } from './output-rules.ts';

/** What the command of a run printed. */
export interface RunOutput {
  /** The last of it. */
  tail: string;
  /** Key of all of it in the object store; null when the tail is all, or it could not be kept. */
  object: string | null;
}

const KEEP_OUTPUT = statement<{ tenantId: string; id: string; tail: string; object: string | null }>()(
  (db, { tenantId, id, tail, object }) =>
    db
      .updateTable('flow_run')
      .set({ outputTail: tail, outputObject: object })
      .where('tenantId', '=', tenantId)
      .where('id', '=', id),
);

/** Keeps the output of the program of a run. */
export async function keepOutput({ db, tenantId }: Tx, id: string, output: RunOutput): Promise<void> {
  await KEEP_OUTPUT(db, { tenantId, id, ...output });
}

/** What is kept of the output of a run. Throws `not_found` where there is no such run. */
export async function keptOutput({ db, tenantId }: Reads, id: string): Promise<KeptOutput> {
  const run = await db
    .selectFrom('flow_run')
    .where('tenantId', '=', tenantId)
    .where('id', '=', id)
    .select([
      'outputTail',
      'outputObject',
      'outputSoFar',
      'outputBytes',
      'endedAt',
      'programStartedAt',
      'executionMode',
      'pipelineTold',
      'result',
    ])
    .executeTakeFirst();
  if (!run) throw notFound('The run');
  const { outputBytes, endedAt, programStartedAt, executionMode, pipelineTold, result, ...kept } = run;
  return {
    ...kept,
    bytesSoFar: outputBytes === null ? null : Number(outputBytes),
    bytes: typeof result.outputBytes === 'number' ? result.outputBytes : null,
    hasEnded: endedAt !== null,
    isOfProgram: programStartedAt !== null || (executionMode === 'cicd' && pipelineTold?.isWhole !== true),
  };
}

/** Records that the program of a run is about to be started; false when it may have been before. */
export async function claimProgram({ db, tenantId }: Tx, id: string): Promise<boolean> {
  const claimed = await db
    .updateTable('flow_run')
    .set({ programStartedAt: sql<string>`now()` })
    .where('tenantId', '=', tenantId)
    .where('id', '=', id)
    .where('programStartedAt', 'is', null)
    .returning('id')
    .execute();
  return claimed.length > 0;
}

/** Whether the program of a run was started, or may have been. */
export async function hasProgramBegun({ db, tenantId }: Tx, id: string): Promise<boolean> {
  const begun = await db
    .selectFrom('flow_run')
    .select('id')
    .where('tenantId', '=', tenantId)
    .where('id', '=', id)
    .where('programStartedAt', 'is not', null)
    .executeTakeFirst();
  return begun !== undefined;
}

/** Takes that record back: the program could not be started. */
export async function unclaimProgram({ db, tenantId }: Tx, id: string): Promise<void> {
  await db
    .updateTable('flow_run')
    .set({ programStartedAt: null })
    .where('tenantId', '=', tenantId)
    .where('id', '=', id)
    .execute();
}
