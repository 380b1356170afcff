import {
  CancellationScope,
  isCancellation,
  proxyLocalActivities,
  setCurrentDetails,
  setHandler,
  setWorkflowOptions,
  sleep,
} from '@temporalio/workflow';
import type { RunPlan, RunStepActivities } from '../../../activities/delivery/flows/run-steps.activities.ts';
import type { RunOutcome } from '../../../domain/delivery/flows/flow-runs.mutations.ts';
import type { RunKey } from '../../../domain/delivery/flows/new-runs.mutations.ts';
import { locksOf } from '../../../domain/delivery/flows/programs/executor-rules.ts';
import { programLeaseTimes } from '../../../domain/delivery/flows/gates/lock-lost-rules.ts';
import { LOCAL_DATABASE_WORK } from '../../activity-options.ts';
import { RunExecution } from './run-execution.ts';
import { ApprovalGate } from './approval-gate.ts';
import { RunLocks } from './run-locks.ts';
import { WindowGate } from './window-gate.ts';
import { childSettledSignal, currentStepQuery, type FlowRunInput } from './flow-run.contract.ts';
import { signalRun } from './signal-run.ts';
import { endAsRun, outcomeOfFailure } from './run-failure.ts';
import { endsOnItsBuildIfPinned } from '../../versioning.ts';

const { beginRun, awaitWindow, enterStep, endRun } = proxyLocalActivities<RunStepActivities>(LOCAL_DATABASE_WORK);

/** The outcome of work that was not begun: it waits for the next window. */
const WINDOW_CLOSED: RunOutcome = { status: 'failed' };

setWorkflowOptions(endsOnItsBuildIfPinned, flowRun);

/**
 * One run: approval gate, window, environment lock, execution, close. Its row shows its state to everyone else; whatever happens,
 * the lock is returned and the row is closed. The workflow ends as the run does.
 */
export async function flowRun({
  taskType,
  repositoryIdentifier: _,
  about: __,
  isBrief: ___,
  workflowPath: ____,
  ...run
}: FlowRunInput): Promise<void> {
  const approval = new ApprovalGate(run, enterStep);
  const window = new WindowGate(run, awaitWindow);
  const locks = new RunLocks(run, enterStep);
  const execution = new RunExecution(run, taskType);
  let step = 'begin';
  const at = (name: string, details: string) => {
    step = name;
    setCurrentDetails(details);
  };
  setHandler(currentStepQuery, () => step);

  const plan = await CancellationScope.nonCancellable(() => beginRun(run));
  if (plan.isOver) {
    if (plan.parent) await signalRun({ ...run, ...plan.parent }, childSettledSignal);
    if (plan.outcome) endAs(plan.outcome);
    return;
  }
  let outcome: RunOutcome;
  let isProgramLost = false;
  try {
    outcome = await executeRun(plan, { run, approval, window, locks, execution, at });
  } catch (error) {
    const failed = isCancellation(error) ? { status: 'cancelled' as const } : outcomeOfFailure(error, step);
    if (!failed) throw error;
    isProgramLost = plan.executor === 'command' && failed.status === 'timed_out';
    outcome = failed;
  }
  await CancellationScope.nonCancellable(async () => {
    at('close', `Closing: ${outcome.status}`);
    if (plan.executor === 'children' && outcome.status === 'cancelled') await execution.cancelChildren();
    const keepsLocks = isProgramLost && locks.areRequested;
    if (!keepsLocks) await locks.return();
    const { parent, outcome: ended } = await endRun({ ...run, outcome });
    outcome = ended ?? outcome;
    if (parent) await signalRun({ ...run, ...parent }, childSettledSignal);
    if (keepsLocks) {
      await sleep(plan.programGoneMs ?? programLeaseTimes(1).goneMs, { summary: 'program of the lost worker ends' });
      await locks.return();
    }
    setCurrentDetails(`Ended: ${outcome.status}`);
  });
  endAs(outcome);

  function endAs(ended: RunOutcome): void {
    endAsRun(ended, { isCancelRequested: CancellationScope.current().consideredCancelled });
  }
}

interface RunParts {
  run: RunKey;
  approval: ApprovalGate;
  window: WindowGate;
  locks: RunLocks;
  execution: RunExecution;
  /** Says what the run is at. */
  at: (step: string, details: string) => void;
}

/** Passes the gates of a run, and executes it. */
async function executeRun(
  planned: RunPlan,
  { run, approval, window, locks, execution, at }: RunParts,
): Promise<RunOutcome> {
  const { gates: needed, executor, isRunning } = planned;
  if (needed.approval) {
    if (executor === 'activity') {
      at('check', 'Checking what can be known before it is approved');
      const impossible = await execution.check();
      if (impossible) return impossible;
    }
    at('approval', 'Waiting for approval');
    const refusal = await approval.pass();
    if (refusal) return refusal;
  }
  const requests = locksOf(planned);
  // What was planned by a version without windows is checked when it begins, and waits then.
  for (let waits = needed.window ?? false; ; waits = true) {
    if (waits) {
      at('window', 'Waiting for a window of the environment');
      const refusal = await window.pass();
      if (refusal) return refusal;
    }
    if (requests.length > 0) at('lock', 'Waiting for the lock of the environment');
    let hasBegun = true;
    const ended = await locks.whileHeld(requests, {
      async begin() {
        at('execute', `Executing: ${executor}`);
        if (!isRunning) hasBegun = (await enterStep({ ...run, status: 'running' }))?.hasBegun ?? true;
      },
      work: async () => (hasBegun ? execution.execute(planned) : WINDOW_CLOSED),
    });
    if (hasBegun) return ended;
    // Others get the lock until the next window.
    await locks.return();
  }
}
