import type { Tx } from '../unit-of-work.ts';
import type { CheckKind, WantedCheck } from './check-rules.ts';

/** Keeps what is to be seen on the host; the same again changes nothing. Answers whether there is something to write. */
export async function wantChecks(
  { sql, tenantId }: Tx,
  runId: string,
  kinds: readonly CheckKind[],
  wanted: WantedCheck,
): Promise<boolean> {
  const changed = await sql(
    `insert into flow_check (tenant_id, run_id, kind, wanted)
     select ?, ?, kind, ?::jsonb from json_array_elements_text(?::json) kind
     on conflict (tenant_id, run_id, kind) do update set wanted = excluded.wanted, revision = flow_check.revision + 1, updated_at = now()
       where flow_check.wanted <> excluded.wanted
     returning 1`,
    [tenantId, runId, JSON.stringify(wanted), JSON.stringify(kinds)],
  );
  return changed.length > 0;
}

export interface DueCheck {
  kind: CheckKind;
  wanted: WantedCheck;
  revision: number;
}

export const dueChecks = ({ sql, tenantId }: Pick<Tx, 'sql' | 'tenantId'>, runId: string): Promise<DueCheck[]> =>
  sql(
    'select kind, wanted, revision from flow_check where tenant_id = ? and run_id = ? and written_revision < revision order by kind',
    [tenantId, runId],
  );

/** Notes what was written, or what cannot be written ever, and why. */
export async function noteWritten(
  { sql, tenantId }: Tx,
  runId: string,
  { kind, revision }: DueCheck,
  error: string | null,
): Promise<void> {
  await sql(
    'update flow_check set written_revision = greatest(written_revision, ?), error = ?, updated_at = now() where tenant_id = ? and run_id = ? and kind = ?',
    [revision, error, tenantId, runId, kind],
  );
}

/** Notes why something is not written yet. */
export async function noteUnwritten(
  { sql, tenantId }: Tx,
  runId: string,
  { kind }: DueCheck,
  error: string,
): Promise<void> {
  await sql('update flow_check set error = ?, updated_at = now() where tenant_id = ? and run_id = ? and kind = ?', [
    error,
    tenantId,
    runId,
    kind,
  ]);
}
