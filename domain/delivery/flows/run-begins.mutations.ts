import { insertOverrideStep } from '../approvals/approval-steps.queries.ts';
import { lacksApproval } from '../approvals/approvals.mutations.ts';
import { ticketsOfRun } from '../environment-locks/lock-tickets.queries.ts';
import { lockDomain } from '../release-candidates/candidate-locks.queries.ts';
import { DomainError } from '../../kernel/shared/errors.ts';
import { isoOf } from '../../kernel/text/date-time-rules.ts';
import type { Tx } from '../../unit-of-work.ts';
import { emitEvent } from '../../events/webhooks/event-catalog.ts';
import { type Commands, executorHere, meansOf } from './programs/commands-file.ts';
import {
  type ExecutorName,
  isPromotion,
  obeysWindows,
  planRun,
  planUnderWay,
  type RunPlan,
  whyUnavailable,
} from './programs/executor-rules.ts';
import {
  auditMove,
  CANCELLED,
  closeRun,
  endRun,
  eventDataOf,
  LOST,
  type RunOutcome,
  type RunSummary,
} from './flow-runs.mutations.ts';
import { claimRun, type RunContext, runById } from './flow-runs.queries.ts';
import { moveRun } from './run-moves.queries.ts';
import { type FlowType, flowType } from './flow-types.ts';
import { gatedAs, type RunGates, whyRefused } from './gates/gate-rules.ts';
import { type Passage, passageOf } from './promoted-runs.ts';
import { announceDeployment, keepDeployedContent } from './run-deployments.mutations.ts';
import { noteWaiting } from './run-waits.mutations.ts';
import { gatesOfRun } from './gates/run-gates.queries.ts';
import { hasProgramBegun } from './programs/run-programs.queries.ts';
import { displayOf, isAtWork, isFinal, type OpenStatus } from './run-status-rules.ts';

/**
 * Claims a run for one workflow execution and plans it. One that nothing stands before is begun at once, unless a
 * pipeline executes it; one that cannot be executed is ended. Of those whose execution the engine lost, what waited
 * waits again, what others execute is followed, and one whose program may have been started ends as lost. Without a
 * plan there is nothing to do, and the outcome says how the run ended.
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
  const { run, isTakenOver } = claimed;
  if (isFinal(run.status)) return { run, outcome: { status: run.status } };
  const refuse = async (outcome: RunOutcome) => {
    await endRun(tx, run, outcome);
    return { run, outcome };
  };
  const isUnderWay = isTakenOver && isAtWork(run.status);
  if (isUnderWay && (await hasProgramBegun(tx, id))) return { run, outcome: await closeRun(tx, run, LOST) };
  if (run.cancelRequestedAt !== null) return refuse(CANCELLED);
  const current = await currentGates(tx, run, commands);
  if (!current) return refuse({ status: 'failed', error: whyUnavailable(run.taskType, run.payload.executor) });
  const { executor, gates, hasWindows } = current;
  if (isUnderWay) return { run, plan: planUnderWay(planRun(executor, gates, run.payload, { hasWindows })) };
  const refusal = whyRefused(gates);
  if (refusal !== undefined) return refuse({ status: 'failed', error: refusal });
  const passage = hasWindows ? await passageOf(tx, run, gates.environmentIds) : {};
  if (passage.refusal) return refuse(passage.refusal);
  const plan = planRun(executor, gates, run.payload, { hasWindows });
  if (run.override && hasWindows && !plan.gates.approval) await insertOverrideStep(tx, run.id);
  if (!plan.isUngated || executor === 'cicd') return { run, plan };
  const startsProgram = startsPrograms && executor === 'command';
  const hasBegun = await beginExecution(tx, run, { startsProgram });
  return { run, plan, isProgramClaimed: startsProgram && hasBegun };
}

export interface CurrentGates {
  executor: ExecutorName;
  gates: RunGates;
  /** It begins only within the windows of its environments; its children do, where they execute it. */
  hasWindows: boolean;
}

/** Whether a run begins only within the windows of its environments. */
export const hasWindowsOf = (type: FlowType, executor: ExecutorName, { environmentIds }: RunGates): boolean =>
  obeysWindows(type) && (isPromotion(type) || environmentIds.length > 0) && executor !== 'children';

/** How a run is executed, and the gates that it passes, as everything is now; undefined: it cannot be executed. */
export async function currentGates(tx: Tx, run: RunContext, commands: Commands): Promise<CurrentGates | undefined> {
  const { taskType, payload } = run;
  const type = flowType(taskType);
  const executor = type && executorHere(type, meansOf(payload, commands));
  if (!executor) return undefined;
  const gates = await gatesOfRun(tx, { type: gatedAs(type, executor), ...run });
  return { executor, gates, hasWindows: hasWindowsOf(type, executor, gates) };
}

/** What a run found at the windows of its environments, or at a hold of its release. */
export type WindowState =
  | { isOpen: true }
  | { isOpen: false; outcome: RunOutcome }
  | { isOpen: false; outcome?: undefined; nextWindowAt: string | null; waitMs: number | null; reason: string };

/**
 * Whether a run that obeys windows may go on now; one that may not waits in `waiting_window`, or in `waiting_hold` while
 * its release is held, and that is announced.
 * Retrying is safe. Throws `not_found`.
 */
export async function awaitWindow(tx: Tx, id: string, commands: Commands): Promise<WindowState> {
  const run = await runById(tx, id, { forUpdate: true });
  const current = await currentGates(tx, run, commands);
  const isUnderWay = isAtWork(run.status) || isFinal(run.status);
  if (isUnderWay || !current?.hasWindows) return { isOpen: true };
  const { refusal: outcome, waiting, isHeld = false } = await passageOf(tx, run, current.gates.environmentIds);
  if (outcome) return { isOpen: false, outcome };
  return waiting ? waitForWindow(tx, run, waiting, isHeld ? 'waiting_hold' : 'waiting_window') : { isOpen: true };
}

async function waitForWindow(
  tx: Tx,
  run: RunContext,
  { nextAt, reason }: NonNullable<Passage['waiting']>,
  status: 'waiting_window' | 'waiting_hold',
): Promise<WindowState> {
  const nextWindowAt = nextAt === null ? null : new Date(nextAt);
  await noteWaiting(tx, run, status, { nextWindowAt, reason });
  const waitMs = nextAt === null ? null : nextAt - tx.now.getTime();
  return { isOpen: false, nextWindowAt: nextWindowAt?.toISOString() ?? null, waitMs, reason };
}

/** Moves a run to the gate at which it waits now, which its work item shows. Retrying is safe. */
export async function waitAtGate(tx: Tx, id: string, status: OpenStatus): Promise<void> {
  if (!(await moveRun(tx, id, { status }))) return;
  const run = await runById(tx, id);
  tx.touch('flow_run', id, run.repositoryIdentifier);
  await tx.tell('runReached', run, { status, at: tx.now.toISOString() });
}

/**
 * Begins a run that waited at its gates, once; false when its window has closed or its release changed meanwhile. Throws
 * `invalid_transition` when it would not pass its gates any more: its environments or their policies changed.
 */
export async function beginGatedRun(tx: Tx, id: string, commands: Commands): Promise<boolean> {
  const run = await runById(tx, id, { forUpdate: true });
  if (isAtWork(run.status)) return true;
  if (!isFinal(run.status)) {
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

/** False: its window has closed, or its release cannot go. */
async function passesGates(tx: Tx, run: RunContext, current: CurrentGates): Promise<boolean> {
  const { gates, executor, hasWindows } = current;
  const refuse = (why: string) => {
    throw new DomainError('invalid_transition', `${why}; start the run again`);
  };
  const refusal = whyRefused(gates);
  if (refusal !== undefined) refuse(refusal);
  const held = new Set((await ticketsOfRun(tx, run.id)).map(({ environmentId }) => environmentId));
  if (!gates.lockIds.every((environmentId) => held.has(environmentId)))
    refuse('The environments that the run is about changed while it waited');
  const { approval } = planRun(executor, gates, run.payload, { hasWindows }).gates;
  if (approval && (await lacksApproval(tx, run)))
    refuse('The run needs an approval by a policy that was set while it waited');
  if (!hasWindows) return true;
  // The look at its window that follows ends a run that cannot go, with its code.
  const { refusal: obstacle, waiting } = await passageOf(tx, run, gates.environmentIds);
  return !obstacle && !waiting;
}

/** Moves a run to running and announces it; false when it is running already, or final. */
export async function beginExecution(tx: Tx, run: RunSummary, { startsProgram = false } = {}): Promise<boolean> {
  const programStartedAt = startsProgram ? tx.now : undefined;
  const moved = await moveRun(tx, run.id, { status: 'running', startedAt: tx.now, programStartedAt });
  if (!moved) return false;
  const startedAt = moved.startedAt && isoOf(moved.startedAt);
  emitEvent(tx, 'flow.started', { ...eventDataOf(run), status: displayOf('running'), startedAt });
  announceDeployment(tx, run, startedAt);
  if (moved.startedAt !== null) await tx.tell('runReached', run, { status: 'running', at: moved.startedAt });
  auditMove(tx, run, 'run_started', `Run of ${run.taskType} began`, { status: 'running' });
  return true;
}
