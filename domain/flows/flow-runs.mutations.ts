import { lacksApproval, makeApprovalOfRunStale } from '../approvals/approvals.mutations.ts';
import { ticketsOfRun } from '../environment-locks/lock-tickets.queries.ts';
import { lockDomain } from '../release-candidates/release-candidates.queries.ts';
import { DomainError } from '../shared/errors.ts';
import type { Tx } from '../unit-of-work.ts';
import { emitEvent } from '../webhooks/event-catalog.ts';
import { commandOf, type Commands } from './commands-file.ts';
import {
  claimRun,
  moveRun,
  noteCancel,
  noteWindow,
  reviseRun,
  runById,
  unclaimProgram,
  type RunContext,
  type RunOutput,
} from './flow-runs.queries.ts';
import { keepDeployedContent, recordDeployment } from './run-deployments.mutations.ts';
import { keepEndOfCommand } from './pipelines.queries.ts';
import { endRunToken } from './run-tokens.mutations.ts';
import { endOfCommand, hasWorkBegun } from './run-deployment-rules.ts';
import { workOfRun } from './run-deployments.queries.ts';
import { type ExecutorName, executorOf, isPromotion, planRun, type RunPlan, whyUnavailable } from './executor-rules.ts';
import { type FlowType, flowType } from './flow-types.ts';
import { gatedAs, type RunGates, whyRefused } from './gate-rules.ts';
import { type Passage, passageOf } from './promoted-runs.ts';
import { gatesOfRun } from './run-gates.queries.ts';
import { decideCancel, displayOf, eventOfEnd, type FinalStatus, isFinal } from './run-status-rules.ts';

/** How a run ended. */
export interface RunOutcome {
  status: FinalStatus;
  /** What went wrong, for people; nothing internal. */
  error?: string | undefined;
  /** Of what went wrong, for programs; becomes a member of the result. */
  code?: 'lock_lost' | 'outside_window' | undefined;
  /** Merged into the run's result. */
  result?: Record<string, unknown> | undefined;
}

/** What events and the audit trail name of a run, as it was before a move. */
type RunSummary = Pick<
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
  | 'status'
>;

const iso = (text: string | null): string | null => (text === null ? null : new Date(text).toISOString());

const CANCELLED: RunOutcome = { status: 'cancelled' };
const LOST: RunOutcome = { status: 'failed', error: 'The engine lost the workflow that carried the run out' };
/** Of a run whose program may have been started by a worker that is gone. */
export const PROGRAM_LOST: RunOutcome = {
  status: 'timed_out',
  error: 'The worker was lost, or took too long, in the step execute',
};

/**
 * Claims a run for one workflow execution and plans it. One that nothing stands before is begun at once, unless a
 * pipeline carries it out; one that cannot be carried out is ended. Without a plan there is nothing to do, and the
 * outcome says how the run ended.
 * @param startsPrograms the caller starts the program of a command at once where `isProgramClaimed` says that it may.
 */
export async function beginRun(
  tx: Tx,
  id: string,
  engineRunId: string,
  { commands, startsPrograms }: { commands: Commands; startsPrograms: boolean },
): Promise<{
  run?: RunContext;
  plan?: RunPlan;
  isProgramClaimed?: boolean;
  outcome?: Pick<RunOutcome, 'status' | 'error'>;
}> {
  const claimed = await claimRun(tx, id, engineRunId);
  if (!claimed) return {};
  const { run, isLost } = claimed;
  if (isFinal(run.status)) return { run, outcome: { status: run.status } };
  const { taskType, payload, cancelRequestedAt } = run;
  const type = flowType(taskType);
  const means = {
    hasPipeline: payload.pipeline !== undefined,
    hasCommand: commandOf(commands, taskType) !== undefined,
  };
  const executor = type && executorOf(type, means);
  const refuse = async (outcome: RunOutcome) => {
    await endRun(tx, run, outcome);
    return { run, outcome };
  };
  if (isLost) return { run, outcome: await closeRun(tx, run, LOST) };
  if (cancelRequestedAt !== null) return refuse(CANCELLED);
  if (!executor) return refuse({ status: 'failed', error: whyUnavailable(taskType) });
  const gates = await gatesOfRun(tx, { type: gatedAs(type, executor), ...run });
  const refusal = whyRefused(gates);
  if (refusal !== undefined) return refuse({ status: 'failed', error: refusal });
  const takesRelease = takesReleaseBy(type, executor);
  const passage = takesRelease ? await passageOf(tx, run, gates.environmentIds) : {};
  if (passage.refusal) return refuse(passage.refusal);
  const plan = planRun(executor, gates, payload, { takesRelease });
  if (!plan.isUngated || executor === 'cicd') return { run, plan };
  const startsProgram = startsPrograms && executor === 'command';
  const hasBegun = await beginExecution(tx, run, { startsProgram });
  return { run, plan, isProgramClaimed: startsProgram && hasBegun };
}

/** Whether a run takes a release to its environments itself; its children do, where they carry it out. */
const takesReleaseBy = (type: FlowType, executor: ExecutorName): boolean =>
  isPromotion(type) && executor !== 'children';

interface CurrentGates {
  executor: ExecutorName;
  gates: RunGates;
  takesRelease: boolean;
}

/** How a run is carried out, and the gates that it passes, as everything is now; undefined: it cannot be carried out. */
async function currentGates(tx: Tx, run: RunContext, commands: Commands): Promise<CurrentGates | undefined> {
  const { taskType, payload } = run;
  const type = flowType(taskType);
  const means = {
    hasPipeline: payload.pipeline !== undefined,
    hasCommand: commandOf(commands, taskType) !== undefined,
  };
  const executor = type && executorOf(type, means);
  if (!executor) return undefined;
  const gates = await gatesOfRun(tx, { type: gatedAs(type, executor), ...run });
  return { executor, gates, takesRelease: takesReleaseBy(type, executor) };
}

/** What a run that takes a release found at its window. */
export type WindowState =
  | { isOpen: true }
  | { isOpen: false; outcome: RunOutcome }
  | { isOpen: false; outcome?: undefined; nextWindowAt: string | null; waitMs: number | null; reason: string };

/**
 * Whether a run that takes a release may go on now; one that may not waits in `waiting_window`, and that is announced.
 * Retrying is safe. Throws `not_found`.
 */
export async function awaitWindow(tx: Tx, id: string, commands: Commands): Promise<WindowState> {
  const run = await runById(tx, id, { forUpdate: true });
  const current = await currentGates(tx, run, commands);
  const isUnderWay = run.status === 'running' || isFinal(run.status);
  if (isUnderWay || !current?.takesRelease) return { isOpen: true };
  const { refusal: outcome, waiting } = await passageOf(tx, run, current.gates.environmentIds);
  if (outcome) return { isOpen: false, outcome };
  return waiting ? waitForWindow(tx, run, waiting) : { isOpen: true };
}

async function waitForWindow(
  tx: Tx,
  run: RunContext,
  { nextAt, reason }: NonNullable<Passage['waiting']>,
): Promise<WindowState> {
  const nextWindowAt = nextAt === null ? null : new Date(nextAt);
  if (await moveRun(tx, run.id, { status: 'waiting_window' }))
    auditMove(tx, run, 'run_waiting', `Run of ${run.taskType} waits: ${reason}`, { status: 'waiting_window' });
  const next = nextWindowAt?.toISOString() ?? null;
  if (await noteWindow(tx, run.id, { nextWindowAt, waitsFor: reason }))
    emitEvent(tx, 'flow.waiting', { ...dataOf(run), status: displayOf('waiting_window'), nextWindowAt: next, reason });
  return { isOpen: false, nextWindowAt: next, waitMs: nextAt === null ? null : nextAt - tx.now.getTime(), reason };
}

/**
 * Begins a run that waited at its gates, once; false when its window has closed meanwhile. Throws `invalid_transition`
 * when it would not pass them any more: its environments, their policies or its release changed while it waited.
 */
export async function beginGatedRun(tx: Tx, id: string, commands: Commands): Promise<boolean> {
  const run = await runById(tx, id, { forUpdate: true });
  if (run.status !== 'running' && !isFinal(run.status)) {
    await holdCandidate(tx, run);
    const current = await currentGates(tx, run, commands);
    if (current && !(await passesGates(tx, run, current))) return false;
    await keepDeployedContent(tx, run, current?.gates.environmentIds ?? []);
  }
  await beginExecution(tx, run);
  return true;
}

/** Nobody changes the release candidate between the last look at it and the moment at which the work begins. */
async function holdCandidate(tx: Tx, { projectId, domain, releaseName }: RunContext): Promise<void> {
  if (projectId !== null && domain !== null && releaseName !== null) await lockDomain(tx, projectId, domain);
}

/** False: its window has closed. */
async function passesGates(tx: Tx, run: RunContext, current: CurrentGates): Promise<boolean> {
  const { gates, executor, takesRelease } = current;
  const refuse = (why: string) => {
    throw new DomainError('invalid_transition', `${why}; start the run again`);
  };
  const refusal = whyRefused(gates);
  if (refusal !== undefined) refuse(refusal);
  const held = new Set((await ticketsOfRun(tx, run.id)).map(({ environmentId }) => environmentId));
  if (!gates.lockIds.every((environmentId) => held.has(environmentId)))
    refuse('The environments that the run is about changed while it waited');
  const { approval } = planRun(executor, gates, run.payload, { takesRelease }).gates;
  if (approval && (await lacksApproval(tx, run)))
    refuse('The run needs an approval by a policy that was set while it waited');
  if (!takesRelease) return true;
  const { refusal: obstacle, waiting } = await passageOf(tx, run, gates.environmentIds);
  if (obstacle) throw new DomainError('invalid_transition', obstacle.error ?? '');
  return waiting === undefined;
}

/** Moves a run to running and announces it; false when it is running already, or final. */
export async function beginExecution(tx: Tx, run: RunSummary, { startsProgram = false } = {}): Promise<boolean> {
  const programStartedAt = startsProgram ? tx.now : undefined;
  const moved = await moveRun(tx, run.id, { status: 'running', startedAt: tx.now, programStartedAt });
  if (!moved) return false;
  emitEvent(tx, 'flow.started', { ...dataOf(run), status: displayOf('running'), startedAt: iso(moved.startedAt) });
  announceDeployment(tx, run, iso(moved.startedAt));
  auditMove(tx, run, 'run_started', `Run of ${run.taskType} began`, { status: 'running' });
  return true;
}

/** Its end is announced when it is recorded. */
function announceDeployment(
  tx: Tx,
  { id, taskType, repositoryIdentifier, environmentName, domain, releaseName, triggeredBy }: RunSummary,
  startedAt: string | null,
): void {
  if (!flowType(taskType)?.isDeployment) return;
  if (repositoryIdentifier === null || environmentName === null || domain === null || releaseName === null) return;
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
  await recordDeployment(tx, run, { status });
  const after = { status, ...(error !== undefined && { error }) };
  auditMove(tx, run, 'run_ended', `Run of ${run.taskType} ended: ${status}`, after);
  return true;
}

/**
 * Ends a run as its workflow says; when that lost whoever carried the run out, as they reported before. Answers how the
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
  auditMove(tx, run, 'run_revised', `Outcome of a run of ${run.taskType} derived anew: ${status}`, { status });
  return true;
}

/**
 * Requests the end of a run; one that an external worker carries out is ended at once. Answers the run whose workflow
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

const dataOf = ({ id, taskType, repositoryIdentifier, environmentName, parentId, triggeredBy }: RunSummary) => ({
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

const auditMove = (tx: Tx, run: RunSummary, action: string, summary: string, after?: object) =>
  auditRun(tx, run, action, summary, { before: { status: run.status }, ...(after && { after }) });
