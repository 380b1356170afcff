import { sql } from 'kysely';
import { json } from '../../../kernel/data/columns.ts';
import type { Reads } from '../../../kernel/data/fenced-reads.ts';
import type { Tx } from '../../../unit-of-work.ts';
import type { CheckKind, WantedCheck } from './check-rules.ts';

/** Records what the git host should show; the same again changes nothing. Answers whether there is something to write. */
export async function upsertChecks(
  { db, tenantId }: Tx,
  runId: string,
  kinds: readonly CheckKind[],
  wanted: WantedCheck,
): Promise<boolean> {
  const changed = await db
    .insertInto('flow_check')
    .values(kinds.map((kind) => ({ tenantId, runId, kind, wanted: json(wanted) })))
    .onConflict((conflict) =>
      conflict
        .columns(['tenantId', 'runId', 'kind'])
        .doUpdateSet(({ ref }) => ({
          wanted: ref('excluded.wanted'),
          revision: sql`flow_check.revision + 1`,
          updatedAt: sql`now()`,
        }))
        .whereRef('flow_check.wanted', '<>', 'excluded.wanted'),
    )
    .returning('kind')
    .execute();
  return changed.length > 0;
}

/** What is to be written for a run, and is not yet. */
export const dueChecks = ({ db, tenantId }: Reads, runId: string) =>
  db
    .selectFrom('flow_check')
    .where('tenantId', '=', tenantId)
    .where('runId', '=', runId)
    .whereRef('writtenRevision', '<', 'revision')
    .orderBy('kind')
    .select(['kind', 'wanted', 'revision'])
    .execute();
export type DueCheck = Awaited<ReturnType<typeof dueChecks>>[number];

/** Records what was written, or that it never can be, and why. */
export async function noteWritten(
  { db, tenantId }: Tx,
  runId: string,
  { kind, revision }: DueCheck,
  error: string | null,
): Promise<void> {
  await db
    .updateTable('flow_check')
    .set({ writtenRevision: sql<number>`greatest(written_revision, ${revision})`, error, updatedAt: sql`now()` })
    .where('tenantId', '=', tenantId)
    .where('runId', '=', runId)
    .where('kind', '=', kind)
    .execute();
}

/** Records why something is not written yet. */
export async function noteUnwritten(
  { db, tenantId }: Tx,
  runId: string,
  { kind }: DueCheck,
  error: string,
): Promise<void> {
  await db
    .updateTable('flow_check')
    .set({ error, updatedAt: sql`now()` })
    .where('tenantId', '=', tenantId)
    .where('runId', '=', runId)
    .where('kind', '=', kind)
    .execute();
}
