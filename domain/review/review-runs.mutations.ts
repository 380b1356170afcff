import { RECORD_SESSION, RUN_BROWSER_CHECK } from '../delivery/flows/flow-categories.ts';
import { POOL_PREPARE } from '../delivery/flows/flow-types.ts';
import { displayOf, isFinal } from '../delivery/flows/run-status-rules.ts';
import type { ReachedRun, ReachedStatus } from '../delivery/flows/runs.hooks.ts';
import type { Tx } from '../unit-of-work.ts';
import { endSessionOfRun } from './browser-sessions/sessions.mutations.ts';
import { poolKeyOf, poolOfRun } from './review-pools/review-pools.queries.ts';

/** What the end of a run means for the browser session that it asked for. */
const OUTCOMES: Partial<Record<ReturnType<typeof displayOf>, 'succeeded' | 'cancelled'>> = {
  Completed: 'succeeded',
  Cancelled: 'cancelled',
};

/** Has a pool look at the org that a run prepared for it, and ends the browser session of a run, when the run has ended. */
export async function followEndOfRun(tx: Tx, run: ReachedRun, { status, isRevision }: ReachedStatus): Promise<void> {
  if (!isFinal(status) || isRevision) return;
  if (run.taskType === POOL_PREPARE) {
    const pool = await poolOfRun(tx, run.id);
    if (pool) tx.after('reviewPool', poolKeyOf(pool));
  }
  if (run.taskType === RECORD_SESSION || run.taskType === RUN_BROWSER_CHECK)
    await endSessionOfRun(tx, run.id, OUTCOMES[displayOf(status)] ?? 'failed');
}
