import { sql } from 'kysely';
import { json } from '../../kernel/data/columns.ts';
import type { Tx } from '../../unit-of-work.ts';
import type { OutputSoFar } from './programs/program.port.ts';
import type { ToldPipeline } from './programs/pipeline-output-rules.ts';
import type { RunProgress } from './run-progress-rules.ts';

/** What of the output of a run is readable while it goes on, as of one that has ended. */
export const SO_FAR_BYTES = 64 * 1_024;

/** Between two events of the progress of a run. */
const ANNOUNCED_EVERY = sql`interval '1 second'`;

/**
 * Notes how far an open run is, with a line for its output where that is new. Answers whether it is to be announced: it was
 * not, and the last time is a second ago.
 */
export async function keepProgress(
  { db, tenantId }: Tx,
  id: string,
  progress: RunProgress,
  line: string,
): Promise<boolean> {
  const text = sql`${json(progress)}::jsonb`;
  const isDue = sql`announced_progress is distinct from ${text}
    and (announced_at is null or announced_at <= now() - ${ANNOUNCED_EVERY})`;
  const { rows } = await sql<{ isAnnounced: boolean }>`
    with before as (
      select progress is distinct from ${text} as is_new, ${isDue} as is_due
      from flow_run where tenant_id = ${tenantId} and id = ${id} and ended_at is null for update)
    update flow_run r set
      progress = ${text},
      announced_progress = case when before.is_due then ${text} else r.announced_progress end,
      announced_at = case when before.is_due then now() else r.announced_at end,
      output_so_far = case when before.is_new then ${appended(line)} else r.output_so_far end,
      output_bytes = case when before.is_new then ${grown(line)} else r.output_bytes end
    from before
    where r.tenant_id = ${tenantId} and r.id = ${id} and (before.is_new or before.is_due)
    returning before.is_due as "isAnnounced"`.execute(db);
  return rows[0]?.isAnnounced ?? false;
}

/** Adds lines to the output of an open run that goes on. */
export async function addLines({ db, tenantId }: Tx, id: string, lines: readonly string[]): Promise<void> {
  const text = lines.join('\n');
  await sql`
    update flow_run r set output_so_far = ${appended(text)}, output_bytes = ${grown(text)}
    where tenant_id = ${tenantId} and id = ${id} and ended_at is null`.execute(db);
}

/**
 * Adds lines to the output of an open run whose pipeline has told more, with what of it is told then; nothing where another
 * attempt has. Answers whether it did.
 */
export async function addPipelineLines(
  { db, tenantId }: Tx,
  id: string,
  { before, after, lines }: { before: ToldPipeline | null; after: ToldPipeline; lines: readonly string[] },
): Promise<boolean> {
  const text = lines.join('\n');
  const { rows } = await sql`
    update flow_run r set pipeline_told = ${json(after)}::jsonb,
      output_so_far = ${lines.length > 0 ? appended(text) : sql`r.output_so_far`},
      output_bytes = ${lines.length > 0 ? grown(text) : sql`r.output_bytes`}
    where tenant_id = ${tenantId} and id = ${id} and ended_at is null
      and pipeline_told is not distinct from ${before && json(before)}::jsonb
    returning 1`.execute(db);
  return rows.length > 0;
}

const bytesOf = (text: string) => Buffer.from(`${text}\n`);

function appended(text: string) {
  const all = sql`coalesce(r.output_so_far, ''::bytea) || ${bytesOf(text).subarray(-SO_FAR_BYTES)}::bytea`;
  return sql`substring(${all} from greatest(1, octet_length(${all}) - ${sql.lit(SO_FAR_BYTES)} + 1))`;
}

const grown = (text: string) => sql`coalesce(r.output_bytes, 0) + ${bytesOf(text).length}::int`;

/** Keeps the last of what the program of an open run has printed; what its end keeps stays. */
export async function keepOutputSoFar({ db, tenantId }: Tx, id: string, { tail, bytes }: OutputSoFar): Promise<void> {
  await db
    .updateTable('flow_run')
    .set({ outputSoFar: Buffer.from(tail), outputBytes: String(bytes) })
    .where('tenantId', '=', tenantId)
    .where('id', '=', id)
    .where('endedAt', 'is', null)
    .where('outputTail', 'is', null)
    .execute();
}
