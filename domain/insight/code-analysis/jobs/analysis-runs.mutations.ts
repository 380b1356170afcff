import { ANALYZE } from '../../../delivery/flows/flow-types.ts';
import { displayOf } from '../../../delivery/flows/run-status-rules.ts';
import type { ReachedRun, ReachedStatus } from '../../../delivery/flows/runs.hooks.ts';
import { emitEvent } from '../../../events/webhooks/event-catalog.ts';
import type { Tx } from '../../../unit-of-work.ts';

/** Announces that the run of an analysis failed. */
export async function announceFailedAnalysis(
  tx: Tx,
  { id: jobId, taskType, repositoryIdentifier, payload, isScheduled }: ReachedRun,
  { status, error = 'The analysis failed', result = {}, isRevision }: ReachedStatus,
): Promise<void> {
  if (taskType !== ANALYZE || displayOf(status) !== 'Failed' || isRevision) return;
  const { branch = null } = payload;
  const found = typeof result.commitId === 'string' ? result.commitId : null;
  const commitSha = payload.commitId ?? found;
  emitEvent(tx, 'code_analysis.failed', { jobId, repositoryIdentifier, branch, commitSha, isScheduled, error });
}
