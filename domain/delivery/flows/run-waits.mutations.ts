import { emitEvent } from '../../events/webhooks/event-catalog.ts';
import type { Tx } from '../../unit-of-work.ts';
import { auditMove, eventDataOf } from './flow-runs.mutations.ts';
import { findRun, noteWait, type RunContext } from './flow-runs.queries.ts';
import { moveRun } from './run-moves.queries.ts';
import { displayOf, isAtWork } from './run-status-rules.ts';

/** Notes for what a run waits now, and announces it where that is new. Retrying is safe. */
export async function noteWaiting(
  tx: Tx,
  run: RunContext,
  status: 'waiting_window' | 'waiting_hold' | 'waiting_org_calls',
  { nextWindowAt, reason }: { nextWindowAt: Date | null; reason: string },
): Promise<void> {
  if (await moveRun(tx, run.id, { status })) {
    auditMove(tx, run, 'run_waiting', `Run of ${run.taskType} waits: ${reason}`, { status });
    await tx.tell('runReached', run, { status, at: tx.now.toISOString() });
  }
  if (await noteWait(tx, run.id, { status, nextWindowAt, waitsFor: reason }))
    emitEvent(tx, 'flow.waiting', {
      ...eventDataOf(run),
      status: displayOf(status),
      nextWindowAt: nextWindowAt?.toISOString() ?? null,
      reason,
    });
}

/** Shows that a run waits until its org takes calls of runs again. Retrying is safe; a run that has ended stays as it is. */
export async function waitForOrgCalls(tx: Tx, id: string, reason: string): Promise<void> {
  const run = await findRun(tx, id, { forUpdate: true });
  if (run && isAtWork(run.status)) await noteWaiting(tx, run, 'waiting_org_calls', { nextWindowAt: null, reason });
}

/** Shows that a run goes on which waited for calls of its org; does nothing for every other one. */
export async function goOnInOrg(tx: Tx, id: string): Promise<void> {
  const run = await findRun(tx, id, { forUpdate: true });
  if (run?.status !== 'waiting_org_calls' || !(await moveRun(tx, id, { status: 'running' }))) return;
  auditMove(tx, run, 'run_resumed', `Run of ${run.taskType} goes on`, { status: 'running' });
  await tx.tell('runReached', run, { status: 'running', at: tx.now.toISOString() });
}
