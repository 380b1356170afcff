import type { ActorReads } from '../data/fenced-reads.ts';
import type { Tx } from '../unit-of-work.ts';
import type { RunOutcome } from './run-moves.ts';

/** Keeps how the worker of a run says that it ended, for the run's workflow; the first word counts. */
export async function keepReport({ sql, tenantId }: Tx, runId: string, outcome: RunOutcome): Promise<void> {
  await sql(
    'update flow_run set reported_end = coalesce(reported_end, ?::jsonb), updated_at = now() where tenant_id = ? and id = ?',
    [JSON.stringify(outcome), tenantId, runId],
  );
}

export async function reportedEnd(
  { sql, tenantId }: Pick<ActorReads, 'sql' | 'tenantId'>,
  runId: string,
): Promise<RunOutcome | null> {
  const [run] = await sql<{ end: RunOutcome | null }>(
    'select reported_end as "end" from flow_run where tenant_id = ? and id = ?',
    [tenantId, runId],
  );
  return run?.end ?? null;
}
