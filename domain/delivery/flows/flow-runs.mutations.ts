import { insertOverrideStep } from '../approvals/approval-steps.queries.ts';
import { makeApprovalOfRunStale } from '../approvals/approvals.mutations.ts';
import { isoOf } from '../../kernel/text/date-time-rules.ts';
import type { Tx } from '../../unit-of-work.ts';
import { emitEvent } from '../../events/webhooks/event-catalog.ts';
import { openChildren } from './children/child-runs.queries.ts';
import { noteCancel, reviseRun, type RunContext, runById } from './flow-runs.queries.ts';
import { moveRun } from './run-moves.queries.ts';
import { type RunOutput, unclaimProgram } from './programs/run-programs.queries.ts';
import { keepEndOfCommand } from './programs/pipelines.queries.ts';
import { endOfCommand, hasWorkBegun } from './run-deployment-rules.ts';
import { announceUnrecorded, recordDeployment } from './run-deployments.mutations.ts';
import { workOfRun } from './run-deployments.queries.ts';
import { decideCancel, displayOf, eventOfEnd, type FinalStatus, isFinal } from './run-status-rules.ts';
import { endRunToken } from './run-tokens.mutations.ts';

/** How a run ended. */
export interface RunOutcome {
  status: FinalStatus;
  /** What went wrong, for people; nothing internal. */
  error?: string | undefined;
  /** What went wrong, for programs to read; becomes a member of the result. */
  code?: 'lock_lost' | 'outside_window' | 'unknown_outcome' | undefined;
  /** Merged into the run's result. */
  result?: Record<string, unknown> | undefined;
}

/** What events and the audit trail name of a run, as it was before a move. */
export type RunSummary = Pick<
  RunContext,
  | 'id'
  | 'parentId'
  | 'projectId'
  | 'requestId'
  | 'taskType'
  | 'repositoryIdentifier'
  | 'environmentName'
  | 'domain'
  | 'releaseName'
  | 'triggeredBy'
  | 'isScheduled'
  | 'status'
  | 'override'
  | 'payload'
  | 'cicdRunUrl'
>;

export const CANCELLED: RunOutcome = { status: 'cancelled' };
/** The outcome of a run that was taken over after its program may have been started. */
export const LOST: RunOutcome = {
  status: 'failed',
  error:
    'The engine lost the workflow that executed the run, after its program had begun; see what it did before you start the run again',
};
/** The outcome of a run whose program may have been started by a worker that is gone. */
export const PROGRAM_LOST: RunOutcome = {
  status: 'timed_out',
  error: 'The worker was lost, or took too long, in the step execute',
};

/**
 * Ends a run, announces it, records what it deployed, and makes the approval stale that it waited for; false when it was
 * final already: the first end counts.
 */
export async function endRun(
  tx: Tx,
  run: RunSummary,
  { status, error, code, result: own }: RunOutcome,
  output?: RunOutput,
): Promise<boolean> {
  const result = code === undefined ? own : { ...own, code };
  const moved = await moveRun(tx, run.id, { status, error, result, output, endedAt: tx.now });
  if (!moved) return false;
  if (output) tx.touch('flow_output', run.id, run.repositoryIdentifier);
  const startedAt = moved.startedAt && isoOf(moved.startedAt);
  const endedAt = moved.endedAt && isoOf(moved.endedAt);
  const durationMs = startedAt && endedAt ? Date.parse(endedAt) - Date.parse(startedAt) : null;
  emitEvent(tx, eventOfEnd(status), {
    ...eventDataOf(run),
    status: displayOf(status),
    startedAt,
    endedAt,
    durationMs,
    error: error ?? null,
  });
  if (run.status === 'waiting_approval') await makeApprovalOfRunStale(tx, run.id);
  if (run.override) await insertOverrideStep(tx, run.id);
  if (!(await recordDeployment(tx, run, { status, code, error })) && startedAt !== null)
    await announceUnrecorded(tx, run, { status, startedAt, endedAt });
  // Others of the same parent may wait for what this one deploys.
  if (run.parentId !== null)
    for (const { environmentName: _, ...child } of await openChildren(tx, run.parentId)) tx.after('run', child);
  // After the locks of a deployment, as where a run begins: otherwise both could wait for each other.
  await tx.tell('runReached', run, { status, at: endedAt ?? tx.now.toISOString(), error, result });
  const after = { status, ...(error !== undefined && { error }) };
  auditMove(tx, run, 'run_ended', `Run of ${run.taskType} ended: ${status}`, after);
  return true;
}

/**
 * Ends a run as its workflow says; when that lost whoever executed the run, as they reported before. Answers how the
 * run ended.
 */
export async function closeRun(tx: Tx, run: RunSummary, outcome: RunOutcome): Promise<RunOutcome> {
  const isFailure = displayOf(outcome.status) === 'Failed' && outcome.code === undefined;
  const work = isFailure ? await workOfRun(tx, run.id) : undefined;
  const reported = work?.hasWorkflow && hasWorkBegun(work) ? work.reportedEnd : null;
  const ended = reported ?? outcome;
  await endRun(tx, run, ended);
  return ended;
}

/**
 * Records how the command of a run ended and what it deployed, so that it is known even if nobody hears of it. Answers
 * the outcome of the run, without what the command reported as its result.
 * @param hasStarted false: there was no such program.
 */
export async function recordEndOfCommand(
  tx: Tx,
  id: string,
  own: RunOutcome,
  { hasStarted }: { hasStarted: boolean },
): Promise<RunOutcome> {
  const run = await runById(tx, id, { forUpdate: true });
  const reported = await endRunToken(tx, id);
  const outcome = endOfCommand(own, reported);
  if (isFinal(run.status)) return outcome;
  if (hasStarted) {
    await keepEndOfCommand(tx, id, { ...outcome, result: { ...reported?.result, ...own.result } });
    await recordDeployment(tx, run, outcome);
  } else await unclaimProgram(tx, id);
  return outcome;
}

/**
 * Gives a final run the outcome of its children's latest attempts, after one of them was repeated; false when it has
 * that outcome already. A cancelled run stays cancelled.
 */
export async function reviseEnd(tx: Tx, run: RunSummary, { status, error }: RunOutcome): Promise<boolean> {
  if (displayOf(run.status) === 'Cancelled' || !(await reviseRun(tx, run.id, { status, error }))) return false;
  await tx.tell('runReached', run, { status, at: tx.now.toISOString(), error, isRevision: true });
  auditMove(tx, run, 'run_revised', `Outcome of a run of ${run.taskType} derived anew: ${status}`, { status });
  return true;
}

/**
 * Requests the end of a run; one that an external worker executes is ended at once. Answers the run whose workflow
 * is to be cancelled. Throws `not_found`, and `invalid_transition` for a run that ended otherwise.
 */
export async function requestCancel(tx: Tx, id: string): Promise<RunContext | undefined> {
  const run = await runById(tx, id, { forUpdate: true });
  if (!decideCancel(run.status)) return undefined;
  if (!run.hasWorkflow) {
    await endRun(tx, run, CANCELLED);
    return undefined;
  }
  if (run.cancelRequestedAt === null) {
    await noteCancel(tx, [id]);
    auditMove(tx, run, 'cancel_requested', `Cancellation of a run of ${run.taskType} requested`);
  }
  return run;
}

/** What events of a run have in common. */
export const eventDataOf = ({
  id,
  taskType,
  repositoryIdentifier,
  environmentName,
  parentId,
  triggeredBy,
}: RunSummary) => ({
  id,
  taskType,
  repositoryIdentifier,
  environmentName,
  parentId,
  startedBy: triggeredBy,
});

/** Writes to the audit trail what happened to a run. */
export const auditRun = (
  tx: Tx,
  { id, repositoryIdentifier }: Pick<RunSummary, 'id' | 'repositoryIdentifier'>,
  action: string,
  summary: string,
  change: { before?: object; after?: object },
) =>
  tx.audit({
    source: 'flow',
    action: `flow.${action}`,
    entityType: 'flow_run',
    entityId: id,
    repositoryIdentifier,
    summary,
    ...change,
  });

/** Audits that a run moved on from its present status. */
export const auditMove = (tx: Tx, run: RunSummary, action: string, summary: string, after?: object) =>
  auditRun(tx, run, action, summary, { before: { status: run.status }, ...(after && { after }) });
