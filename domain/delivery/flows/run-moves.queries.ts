import { type ExpressionBuilder, sql, type SqlBool } from 'kysely';
import { json, type JsonText } from '../../kernel/data/columns.ts';
import { type Slots, statement } from '../../kernel/data/statement.ts';
import type { Tables } from '../../kernel/data/tables.ts';
import type { Tx } from '../../unit-of-work.ts';
import type { RunOutput } from './programs/run-programs.queries.ts';
import { MOVES_MAX, type StoredMove } from './run-move-rules.ts';
import { displayOf, FINAL_STATUSES, type RunStatus } from './run-status-rules.ts';

export const isFinal = ({ ref }: ExpressionBuilder<Tables, 'flow_run'>) =>
  sql<SqlBool>`${ref('status')} in (${sql.join(FINAL_STATUSES.map((status) => sql.lit(status)))})`;

interface MoveParameters {
  tenantId: string;
  id: string;
  status: RunStatus;
  displayStatus: ReturnType<typeof displayOf>;
  error: string | null;
  result: JsonText<Record<string, unknown>>;
  startedAt: Date | null;
  programStartedAt: Date | null;
  endedAt: Date | null;
  outputTail: string | null;
  outputObject: string | null;
}

/** The moves of a run with this one; the right sides of an update are those before it. */
const movesWith = ({ status, endedAt, startedAt }: Slots<Pick<MoveParameters, 'status' | 'endedAt' | 'startedAt'>>) =>
  sql<
    JsonText<StoredMove[]>
  >`(case when jsonb_array_length(moves) >= ${sql.lit(MOVES_MAX)} then moves - 0 else moves end)
    || jsonb_build_array(jsonb_build_object('from', status, 'to', ${status}::text, 'detail', waits_for,
      'at', coalesce(${endedAt}::timestamptz(3), case when started_at is null then ${startedAt}::timestamptz(3) end, now()::timestamptz(3))))`;

const MOVE = statement<MoveParameters>()((db, { tenantId, id, status, displayStatus, ...move }) =>
  db
    .updateTable('flow_run')
    .set(({ fn }) => ({
      status,
      displayStatus,
      error: fn.coalesce(move.error, 'error'),
      result: sql<JsonText<Record<string, unknown>>>`result || ${move.result}::jsonb`,
      startedAt: fn.coalesce('startedAt', move.startedAt),
      programStartedAt: fn.coalesce('programStartedAt', move.programStartedAt),
      outputTail: fn.coalesce('outputTail', move.outputTail),
      outputObject: fn.coalesce('outputObject', move.outputObject),
      // What was readable meanwhile stays only where nothing takes its place.
      outputSoFar: sql<Buffer | null>`case when coalesce(${move.outputTail}, output_tail) is null then output_so_far end`,
      endedAt: move.endedAt,
      moves: movesWith({ status, endedAt: move.endedAt, startedAt: move.startedAt }),
      nextWindowAt: null,
      waitsFor: null,
      updatedAt: sql<string>`now()`,
    }))
    .where('tenantId', '=', tenantId)
    .where('id', '=', id)
    .where((eb) => eb.not(isFinal(eb)))
    .where('status', '<>', status)
    .returning(['startedAt', 'endedAt']),
);

export interface RunMove {
  status: RunStatus;
  error?: string | undefined;
  /** Merged into the result, member by member at the top. */
  result?: Record<string, unknown> | undefined;
  startedAt?: Date;
  programStartedAt?: Date | undefined;
  endedAt?: Date;
  output?: RunOutput | undefined;
}

/** Moves an open run; undefined when it is final, or has that status already. */
export async function moveRun({ db, tenantId }: Tx, id: string, move: RunMove) {
  const { status, error = null, result = {}, startedAt = null, programStartedAt = null, endedAt = null, output } = move;
  const [moved] = await MOVE(db, {
    tenantId,
    id,
    status,
    displayStatus: displayOf(status),
    error,
    result: json(result),
    startedAt,
    programStartedAt,
    endedAt,
    outputTail: output?.tail ?? null,
    outputObject: output?.object ?? null,
  });
  return moved;
}
