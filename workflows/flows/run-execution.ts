import {
  CancellationScope,
  defineSignal,
  isCancellation,
  patched,
  proxyActivities,
  proxyLocalActivities,
  setHandler,
} from '@temporalio/workflow';
import type { ChildActivities } from '../../activities/flows/children.activities.ts';
import type { CommandActivities } from '../../activities/flows/commands.activities.ts';
import type { OperationActivities } from '../../activities/flows/operations.activities.ts';
import type { PipelineActivities } from '../../activities/flows/pipelines.activities.ts';
import type { ExecutorName } from '../../domain/flows/executor-rules.ts';
import type { RunKey } from '../../domain/flows/accept-run.ts';
import type { RunOutcome } from '../../domain/flows/run-moves.ts';
import { BRIEF_OUTSIDE_CALL, COMMAND, LOCAL_DATABASE_WORK, OUTSIDE_CALL, UNTIL_DONE } from '../activity-options.ts';
import { COMMANDS_QUEUE, REPORTED_SIGNAL } from './flow-run.contract.ts';
import { INTERNAL_POLL, PollBackoff, EXTERNAL_POLL } from './poll-backoff.ts';
import { queueBeside } from './queues.ts';

const { startChildren, cancelChildren } = proxyActivities<ChildActivities>(UNTIL_DONE);
const { dispatchPipeline, askPipeline } = proxyActivities<PipelineActivities>(OUTSIDE_CALL);
const { cancelPipeline } = proxyActivities<PipelineActivities>(BRIEF_OUTSIDE_CALL);
const { runOperation } = proxyActivities<OperationActivities>(OUTSIDE_CALL);
const { reportedOutcome } = proxyLocalActivities<PipelineActivities>(LOCAL_DATABASE_WORK);
const commands = () => proxyActivities<CommandActivities>({ ...COMMAND, taskQueue: queueBeside(COMMANDS_QUEUE) });

/** To a parent: one of its children has ended. */
export const childSettled = defineSignal('childSettled');
const reported = defineSignal(REPORTED_SIGNAL);

/** Runs that began before this patch leave the pipeline of a cancelled run to its host. */
const CANCELS_PIPELINES = 'cancels-pipelines';
const TIMED_OUT: RunOutcome = { status: 'timed_out', error: 'The pipeline did not report its end in time' };

/** What carries one run out, by the name of its executor. */
export class RunExecution {
  readonly #run: RunKey;
  #childWords = 0;
  #hasReport = false;

  constructor(run: RunKey) {
    this.#run = run;
    setHandler(childSettled, () => void this.#childWords++);
    setHandler(reported, () => {
      this.#hasReport = true;
    });
  }

  execute(executor: ExecutorName, timeoutSeconds: number): Promise<RunOutcome> {
    switch (executor) {
      case 'command':
        return commands().runCommand(this.#run);
      case 'activity':
        return runOperation(this.#run);
      case 'cicd':
        return this.#followPipeline(timeoutSeconds);
      case 'children':
        return this.#followChildren();
    }
  }

  /** Carries a run out by a pipeline; one that nobody waits for any more is ended on its host, too. */
  async #followPipeline(timeoutSeconds: number): Promise<RunOutcome> {
    let givenUp: RunOutcome = TIMED_OUT;
    try {
      const ended = (await dispatchPipeline(this.#run)) ?? (await this.#pipelineEnd(timeoutSeconds));
      if (ended) return ended;
    } catch (error) {
      if (!isCancellation(error)) throw error;
      givenUp = { status: 'cancelled' };
    }
    if (!patched(CANCELS_PIPELINES)) return givenUp;
    const remark = await CancellationScope.nonCancellable(() => this.#cancelPipeline());
    return remark === null ? givenUp : { ...givenUp, error: [givenUp.error, remark].filter(Boolean).join('; ') };
  }

  async #cancelPipeline(): Promise<string | null> {
    try {
      return await cancelPipeline(this.#run);
    } catch {
      return 'The pipeline may still run: its host could not be told';
    }
  }

  /** Waits for what a pipeline reports; the host is asked, too, since a report may be lost. Undefined: it took too long. */
  async #pipelineEnd(timeoutSeconds: number): Promise<RunOutcome | undefined> {
    const deadline = Date.now() + timeoutSeconds * 1_000;
    const backoff = new PollBackoff(EXTERNAL_POLL);
    for (;;) {
      const leftMs = deadline - Date.now();
      if (leftMs <= 0) return undefined;
      const isTold = await backoff.wait(() => this.#hasReport, leftMs);
      this.#hasReport = false;
      const outcome = (await reportedOutcome(this.#run)) ?? (isTold ? null : await askPipeline(this.#run));
      if (outcome) return outcome;
    }
  }

  /** Starts children stage by stage until all have ended; the last answer is the outcome of all. */
  async #followChildren(): Promise<RunOutcome> {
    const backoff = new PollBackoff(INTERNAL_POLL);
    for (;;) {
      const heard = this.#childWords;
      const outcome = await startChildren(this.#run);
      if (outcome) return outcome;
      await backoff.wait(() => this.#childWords > heard);
    }
  }

  async cancelChildren(): Promise<void> {
    await cancelChildren(this.#run);
  }
}
