import { makeApprovalOfRunStale } from '../approvals/settle-approval.ts';
import type { Tx } from '../unit-of-work.ts';
import { emitEvent } from '../webhooks/event-catalog.ts';
import { moveRun, reviseRun, type RunContext } from './flow-runs.queries.ts';
import { flowType } from './flow-types.ts';
import { displayOf, eventOfEnd, type FinalStatus } from './run-status-rules.ts';

/** How a run came out. */
export interface RunOutcome {
  status: FinalStatus;
  /** What went wrong, for people; nothing internal. */
  error?: string | undefined;
  /** Merged into the run's result. */
  result?: Record<string, unknown> | undefined;
}

/** What subscribers and the trail say of a run, as it stood before the move. */
type Told = Pick<
  RunContext,
  | 'id'
  | 'parentId'
  | 'taskType'
  | 'repositoryIdentifier'
  | 'environmentName'
  | 'domain'
  | 'releaseName'
  | 'triggeredBy'
  | 'status'
>;

const iso = (text: string | null): string | null => (text === null ? null : new Date(text).toISOString());

/** Notes that a run is being carried out, and tells of it; false when it was so already, or is over. */
export async function beginExecution(tx: Tx, run: Told): Promise<boolean> {
  const moved = await moveRun(tx, run.id, { status: 'running', startedAt: tx.now });
  if (!moved) return false;
  emitEvent(tx, 'flow.started', { ...dataOf(run), status: displayOf('running'), startedAt: iso(moved.startedAt) });
  tellOfDeployment(tx, run, iso(moved.startedAt));
  audit(tx, run, 'flow.run_started', `Run of ${run.taskType} began`, { status: 'running' });
  return true;
}

/** How a deployment ended is told by whoever reports it as a release event. */
function tellOfDeployment(
  tx: Tx,
  { id, taskType, repositoryIdentifier, environmentName, domain, releaseName, triggeredBy }: Told,
  startedAt: string | null,
): void {
  if (
    !flowType(taskType)?.isDeployment ||
    repositoryIdentifier === null ||
    environmentName === null ||
    domain === null ||
    releaseName === null
  )
    return;
  emitEvent(tx, 'deployment.started', {
    repositoryIdentifier,
    domain,
    releaseName,
    environmentName,
    status: 'Running',
    startedAt,
    executionId: id,
    deployedBy: triggeredBy,
  });
}

/** Ends a run and tells of it, and of the approval for which it waited; false when it was over already: the first end counts. */
export async function endRun(tx: Tx, run: Told, { status, error, result }: RunOutcome): Promise<boolean> {
  const moved = await moveRun(tx, run.id, { status, error, result, endedAt: tx.now });
  if (!moved) return false;
  const startedAt = iso(moved.startedAt);
  const endedAt = iso(moved.endedAt);
  const durationMs = startedAt && endedAt ? Date.parse(endedAt) - Date.parse(startedAt) : null;
  emitEvent(tx, eventOfEnd(status), {
    ...dataOf(run),
    status: displayOf(status),
    startedAt,
    endedAt,
    durationMs,
    error: error ?? null,
  });
  if (run.status === 'waiting_approval') await makeApprovalOfRunStale(tx, run.id);
  audit(tx, run, 'flow.run_ended', `Run of ${run.taskType} ended: ${status}`, {
    status,
    ...(error !== undefined && { error }),
  });
  return true;
}

/**
 * Gives a run that is over the outcome of its children's latest attempts, after one of them was repeated; false when it
 * has that already. Who cancelled it meant it: then it stays.
 */
export async function reviseEnd(tx: Tx, run: Told, { status, error }: RunOutcome): Promise<boolean> {
  if (displayOf(run.status) === 'Cancelled' || !(await reviseRun(tx, run.id, { status, error }))) return false;
  audit(tx, run, 'flow.run_revised', `Outcome of a run of ${run.taskType} derived anew: ${status}`, { status });
  return true;
}

const dataOf = ({ id, taskType, repositoryIdentifier, environmentName, parentId, triggeredBy }: Told) => ({
  id,
  taskType,
  repositoryIdentifier,
  environmentName,
  parentId,
  startedBy: triggeredBy,
});

const audit = (tx: Tx, { id, repositoryIdentifier, status }: Told, action: string, summary: string, after: object) =>
  tx.audit({
    source: 'flow',
    action,
    entityType: 'flow_run',
    entityId: id,
    repositoryIdentifier,
    summary,
    before: { status },
    after,
  });
