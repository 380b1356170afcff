import {
  ActivityFailure,
  CancellationScope,
  isCancellation,
  patched,
  proxyActivities,
  proxyLocalActivities,
  setCurrentDetails,
  setHandler,
  sleep,
} from '@temporalio/workflow';
import type { ChildActivities } from '../../../activities/delivery/flows/children.activities.ts';
import type {
  CommandActivities,
  OwnCommandActivities,
} from '../../../activities/delivery/flows/commands.activities.ts';
import type { OperationActivities, Pending } from '../../../activities/delivery/flows/operations.activities.ts';
import type { PipelineActivities } from '../../../activities/delivery/flows/pipelines.activities.ts';
import type { RunPlan } from '../../../activities/delivery/flows/run-steps.activities.ts';
import { locksOf } from '../../../domain/delivery/flows/programs/executor-rules.ts';
import type { RunKey } from '../../../domain/delivery/flows/new-runs.mutations.ts';
import { progressText } from '../../../domain/delivery/org-steps/org-step-rules.ts';
import type { RunOutcome } from '../../../domain/delivery/flows/flow-runs.mutations.ts';
import {
  BRIEF_OUTSIDE_CALL,
  COMMAND,
  FOLLOW_COMMAND,
  LOCAL_DATABASE_WORK,
  ORG_CHECK,
  ORG_CANCEL,
  ORG_UNDO,
  OUTSIDE_CALL,
  UNTIL_DONE,
} from '../../activity-options.ts';
import { childSettledSignal, pipelineReportedSignal } from './flow-run.contract.ts';
import { COMMANDS_QUEUE } from '../../queues.contract.ts';
import { INTERNAL_POLL, PIPELINE_POLL, PollBackoff } from './poll-backoff.ts';
import { operationOf } from './operations.ts';
import { queueBeside } from './queues.ts';
import { startAccepted } from './start-accepted.ts';

const { acceptChildren, cancelChildren } = proxyActivities<ChildActivities>(UNTIL_DONE);
const { dispatchPipeline, pollPipeline } = proxyActivities<PipelineActivities>(OUTSIDE_CALL);
const { cancelPipeline, showPipeline } = proxyActivities<PipelineActivities>(BRIEF_OUTSIDE_CALL);
const { reportedOutcome } = proxyLocalActivities<PipelineActivities>(LOCAL_DATABASE_WORK);
const commands = () => proxyActivities<CommandActivities>({ ...COMMAND, taskQueue: queueBeside(COMMANDS_QUEUE) });
const commandsOf = (taskQueue: string) =>
  proxyActivities<OwnCommandActivities>({ ...FOLLOW_COMMAND, taskQueue: queueBeside(taskQueue) });

/** Marks runs whose pipelines are asked for their output once more when they report their end. */
const LAST_OUTPUT = 'last-output-of-pipeline';
const TIMED_OUT: RunOutcome = { status: 'timed_out', error: 'The pipeline did not report its end in time' };

/** Executes one run by the executor of its plan. */
export class RunExecution {
  readonly #run: RunKey;
  readonly #taskType: string;
  #settledChildren = 0;
  #hasReport = false;

  constructor(run: RunKey, taskType: string) {
    this.#run = run;
    this.#taskType = taskType;
    setHandler(childSettledSignal, () => void this.#settledChildren++);
    setHandler(pipelineReportedSignal, () => {
      this.#hasReport = true;
    });
  }

  execute({ executor, gates, timeoutSeconds, followOn }: RunPlan): Promise<RunOutcome> {
    switch (executor) {
      case 'command':
        if (followOn !== undefined) return this.#followCommand(followOn);
        return commands().runCommand({ ...this.#run, locks: locksOf({ gates }).length });
      case 'activity':
        return this.#runOperation();
      case 'cicd':
        return this.#followPipeline(timeoutSeconds, locksOf({ gates }).length);
      case 'children':
        return this.#followChildren();
    }
  }

  /**
   * Follows a command that runs already. Where the run is cancelled before the activity has started, nobody is told: the
   * process that started the command is asked to end it.
   */
  async #followCommand(taskQueue: string): Promise<RunOutcome> {
    const { followCommand } = commandsOf(taskQueue);
    try {
      return await followCommand(this.#run);
    } catch (error) {
      if (!isCancellation(error)) throw error;
      return CancellationScope.nonCancellable(() => followCommand({ ...this.#run, isCancelled: true }));
    }
  }

  #runOperation(): Promise<RunOutcome> {
    const { form, queue, options } = operationOf(this.#taskType);
    const taskQueue = queueBeside(queue);
    const { runOperation, advanceOperation } = proxyActivities<OperationActivities>({ ...options, taskQueue });
    if (form === 'followed') return this.#followOperation(advanceOperation, taskQueue);
    return form === 'held' ? this.#runForATime(runOperation, taskQueue) : this.#untilEnded(runOperation);
  }

  /** Why the operation of a run cannot go; null: nothing is known against it, or it could not be found out. */
  async check(): Promise<RunOutcome | null> {
    const { queue, isChecked } = operationOf(this.#taskType);
    if (!isChecked) return null;
    const { checkOperation } = proxyActivities<OperationActivities>({ ...ORG_CHECK, taskQueue: queueBeside(queue) });
    try {
      return await checkOperation(this.#run);
    } catch (error) {
      if (isCancellation(error) || !(error instanceof ActivityFailure)) throw error;
      return null;
    }
  }

  /** Takes an operation on until it ends; one that is cancelled is stopped in its org, as far as that can be done. */
  async #followOperation(advance: OperationActivities['advanceOperation'], taskQueue: string): Promise<RunOutcome> {
    try {
      return await this.#untilEnded(advance);
    } catch (error) {
      if (!isCancellation(error)) throw error;
    }
    const remark = await CancellationScope.nonCancellable(() => this.#cancelOperation(taskQueue));
    return remark === null ? { status: 'cancelled' } : { status: 'cancelled', error: remark };
  }

  /** Takes an operation on, with the pauses that it asks for, until it has ended. */
  async #untilEnded<Outcome extends RunOutcome>(take: (run: RunKey) => Promise<Outcome | Pending>): Promise<Outcome> {
    for (;;) {
      const next = await take(this.#run);
      if (!('againInSeconds' in next)) return next;
      setCurrentDetails(progressText(next.text, next.progress ?? {}));
      await sleep(Math.max(1, next.againInSeconds * 1_000), { summary: next.text });
    }
  }

  async #cancelOperation(taskQueue: string): Promise<string | null> {
    setCurrentDetails('Stopping what the org does');
    const { cancelOperation } = proxyActivities<OperationActivities>({ ...ORG_CANCEL, taskQueue });
    try {
      return await cancelOperation(this.#run);
    } catch (error) {
      if (!(error instanceof ActivityFailure)) throw error;
      return 'What the org does may go on: it could not be reached';
    }
  }

  /** Executes what lasts for a time; it is undone then, and when the run fails or is cancelled. */
  async #runForATime(run: OperationActivities['runOperation'], taskQueue: string): Promise<RunOutcome> {
    const { undoOperation } = proxyActivities<OperationActivities>({ ...ORG_UNDO, taskQueue });
    const undo = () =>
      CancellationScope.nonCancellable(() => {
        setCurrentDetails('Undoing what was done for a time');
        return undoOperation({ ...this.#run, taskType: this.#taskType });
      });
    let begun: RunOutcome = { status: 'cancelled' };
    try {
      const { heldUntil, ...outcome } = await this.#untilEnded(run);
      begun = outcome;
      if (heldUntil !== undefined) {
        setCurrentDetails(`Lasts until ${heldUntil}`);
        await sleep(Math.max(1, Date.parse(heldUntil) - Date.now()), { summary: `lasts until ${heldUntil}` });
      }
    } catch (error) {
      if (!isCancellation(error)) {
        await undo();
        throw error;
      }
      begun = { ...begun, status: 'cancelled' };
    }
    return { ...begun, result: { ...begun.result, ...(await undo()) } };
  }

  /** Executes a run by a pipeline; a pipeline that was given up is cancelled on its host. */
  async #followPipeline(timeoutSeconds: number, locks: number): Promise<RunOutcome> {
    let abandoned: RunOutcome = TIMED_OUT;
    try {
      const ended = (await dispatchPipeline({ ...this.#run, locks })) ?? (await this.#awaitPipeline(timeoutSeconds));
      if (ended) return ended;
    } catch (error) {
      if (!isCancellation(error)) throw error;
      abandoned = { status: 'cancelled' };
    }
    const remark = await CancellationScope.nonCancellable(() => this.#cancelPipeline());
    return remark === null ? abandoned : { ...abandoned, error: [abandoned.error, remark].filter(Boolean).join('; ') };
  }

  async #cancelPipeline(): Promise<string | null> {
    try {
      return await cancelPipeline(this.#run);
    } catch (error) {
      if (!(error instanceof ActivityFailure)) throw error;
      return 'The pipeline may still run: its host could not be reached';
    }
  }

  /** Waits for the pipeline's report; also polls the host, since a report may be lost. Undefined: it took too long. */
  async #awaitPipeline(timeoutSeconds: number): Promise<RunOutcome | undefined> {
    const deadline = Date.now() + timeoutSeconds * 1_000;
    const backoff = new PollBackoff(PIPELINE_POLL, 'poll pipeline');
    for (;;) {
      const leftMs = deadline - Date.now();
      if (leftMs <= 0) return undefined;
      const hasReport = await backoff.wait(() => this.#hasReport, leftMs);
      this.#hasReport = false;
      const reported = await reportedOutcome(this.#run);
      if (reported && patched(LAST_OUTPUT)) await this.#showLastOutput();
      const outcome = reported ?? (hasReport ? null : await pollPipeline(this.#run));
      if (outcome) return outcome;
    }
  }

  /** Shows what a pipeline has printed by the time that it reports its end; the run ends without it, too. */
  async #showLastOutput(): Promise<void> {
    try {
      await showPipeline(this.#run);
    } catch (error) {
      if (isCancellation(error) || !(error instanceof ActivityFailure)) throw error;
    }
  }

  /** Starts children stage by stage until all have ended, and returns their common outcome. */
  async #followChildren(): Promise<RunOutcome> {
    const backoff = new PollBackoff(INTERNAL_POLL, 'poll children');
    for (;;) {
      const seen = this.#settledChildren;
      const { accepted, outcome } = await acceptChildren(this.#run);
      if (outcome) return outcome;
      await CancellationScope.nonCancellable(() => Promise.all(accepted.map(startAccepted)));
      await backoff.wait(() => this.#settledChildren > seen);
    }
  }

  async cancelChildren(): Promise<void> {
    await cancelChildren(this.#run);
  }
}
