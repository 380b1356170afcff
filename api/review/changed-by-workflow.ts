import type { Logger } from 'pino';
import type { Tx, UnitOfWork } from '../../domain/unit-of-work.ts';
import { EngineUnavailableError } from '../../workflows/launch.ts';

/** How long a workflow may take to answer a change. */
export const ANSWER_MS = 5_000;

export interface WorkflowChange<Row> {
  find: (work: Tx) => Promise<Row>;
  /** One that has ended needs no workflow. */
  hasEnded: (row: Row) => boolean;
  byWorkflow: (row: Row) => Promise<void>;
  directly: (work: Tx) => Promise<Row>;
}

/**
 * Changes a row through its workflow. While the engine does not answer the row is changed directly, which the workflow
 * sees afterwards; doing both is safe.
 * @param log names the row.
 */
export async function changedByWorkflow<Row>(
  { tx, log }: { tx: UnitOfWork; log: Logger },
  { find, hasEnded, byWorkflow, directly }: WorkflowChange<Row>,
): Promise<Row> {
  const row = await tx(find);
  if (hasEnded(row)) return tx(directly);
  try {
    await byWorkflow(row);
  } catch (error) {
    if (!(error instanceof EngineUnavailableError)) throw error;
    log.warn({ err: error }, 'changed without its workflow');
    return tx(directly);
  }
  return tx(find);
}
