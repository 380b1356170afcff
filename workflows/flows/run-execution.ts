import { condition, defineSignal, proxyActivities, proxyLocalActivities, setHandler } from '@temporalio/workflow';
import type { ChildActivities } from '../../activities/flows/children.activities.ts';
import type { CommandActivities } from '../../activities/flows/commands.activities.ts';
import type { OperationActivities } from '../../activities/flows/operations.activities.ts';
import type { PipelineActivities } from '../../activities/flows/pipelines.activities.ts';
import type { ExecutorName } from '../../domain/flows/executor-rules.ts';
import type { RunKey } from '../../domain/flows/accept-run.ts';
import type { RunOutcome } from '../../domain/flows/run-moves.ts';
import { COMMAND, LOCAL_DATABASE_WORK, OUTSIDE_CALL, UNTIL_DONE } from '../activity-options.ts';
import { COMMANDS_QUEUE, REPORTED_SIGNAL } from './flow-run.contract.ts';
import { queueBeside } from './queues.ts';

const { startChildren, cancelChildren } = proxyActivities<ChildActivities>(UNTIL_DONE);
const { dispatchPipeline, askPipeline } = proxyActivities<PipelineActivities>(OUTSIDE_CALL);
const { runOperation } = proxyActivities<OperationActivities>(OUTSIDE_CALL);
const { reportedOutcome } = proxyLocalActivities<PipelineActivities>(LOCAL_DATABASE_WORK);
const commands = () => proxyActivities<CommandActivities>({ ...COMMAND, taskQueue: queueBeside(COMMANDS_QUEUE) });

/** To a parent: one of its children has ended. */
export const childSettled = defineSignal('childSettled');
const reported = defineSignal(REPORTED_SIGNAL);

/** A host is asked about a pipeline this long after the last word of it, then less and less often. */
const FIRST_QUESTION_MS = 30_000;
const LAST_QUESTION_MS = 600_000;
const ASK_CHILDREN_EVERY = '15 minutes';

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

  /** Dispatches the pipeline, then waits for what it reports; the host is asked, too, since a report may be lost. */
  async #followPipeline(timeoutSeconds: number): Promise<RunOutcome> {
    const refusal = await dispatchPipeline(this.#run);
    if (refusal) return refusal;
    const deadline = Date.now() + timeoutSeconds * 1_000;
    for (let pauseMs = FIRST_QUESTION_MS; ; pauseMs = Math.min(pauseMs * 2, LAST_QUESTION_MS)) {
      const leftMs = deadline - Date.now();
      if (leftMs <= 0) return { status: 'timed_out', error: 'The pipeline did not report its end in time' };
      const isTold = await condition(() => this.#hasReport, Math.min(pauseMs, leftMs));
      this.#hasReport = false;
      const outcome = (await reportedOutcome(this.#run)) ?? (isTold ? null : await askPipeline(this.#run));
      if (outcome) return outcome;
    }
  }

  /** Starts children stage by stage until all have ended; the last answer is the outcome of all. */
  async #followChildren(): Promise<RunOutcome> {
    for (;;) {
      const heard = this.#childWords;
      const outcome = await startChildren(this.#run);
      if (outcome) return outcome;
      await condition(() => this.#childWords > heard, ASK_CHILDREN_EVERY);
    }
  }

  async cancelChildren(): Promise<void> {
    await cancelChildren(this.#run);
  }
}
