import { randomUUID } from 'node:crypto';
import {
  commandOf,
  type Commands,
  fillArguments,
  UnfilledArgumentError,
} from '../../../domain/delivery/flows/programs/commands-file.ts';
import type { RunContext } from '../../../domain/delivery/flows/flow-runs.queries.ts';
import type { RunOutput } from '../../../domain/delivery/flows/programs/run-programs.queries.ts';
import { LOCK_LOST, type ProgramLeaseTimes } from '../../../domain/delivery/flows/gates/lock-lost-rules.ts';
import type {
  EndedProgram,
  OutputSoFar,
  ProgramLease,
  RunProgram,
} from '../../../domain/delivery/flows/programs/program.port.ts';
import type { RunOutcome } from '../../../domain/delivery/flows/flow-runs.mutations.ts';
import { objectKey } from '../../../domain/kernel/objects/object-key-rules.ts';
import type { ObjectStore } from '../../../domain/kernel/objects/object-store.port.ts';
import { COMMANDS_QUEUE } from '../../../workflows/queues.contract.ts';

/** How a command ended. */
export interface EndedCommand {
  outcome: RunOutcome;
  hasStarted: boolean;
  /** Undefined when nothing was to be started. */
  output?: RunOutput;
  /** `abort` ended it. */
  isAborted: boolean;
}

/** What a run must go on holding while its command runs. */
export interface HeldMeanwhile {
  /** Whether it holds that, and will until a lease that begins now has ended. Rejects when that cannot be seen. */
  isHeld: () => Promise<boolean>;
}

/** With what a command is started beside its run. */
interface CommandStart {
  /** The token of its run. */
  token: string;
  meanwhile?: HeldMeanwhile | undefined;
  /** Shows what it has printed so far. */
  show: (output: OutputSoFar) => Promise<unknown>;
}

interface CommandRun {
  ended: Promise<EndedCommand>;
  abort: AbortController;
}

interface CommandMeans {
  commands: Commands;
  runProgram: RunProgram;
  objects: ObjectStore;
  /** The address of the service for commands. */
  apiUrl: string;
  leaseTimes: ProgramLeaseTimes;
}

/** So many commands of this process, however they were started, leave no room for another; each is a process. */
const STARTED_AT_ONCE = 16;
/** An outcome that nobody asks for is forgotten: the run went to another process, which has given it up. */
const FORGOTTEN_AFTER_MS = 3_600_000;

type CommandRunContext = Pick<RunContext, 'id' | 'taskType' | 'releaseName' | 'payload'>;

/** The commands that this process executes, by run. Whoever starts one has claimed its program in the run's row. */
export class CommandRuns {
  /** The task queue of this process alone, on which a command is followed that takes longer. */
  readonly taskQueue = `${COMMANDS_QUEUE}/${randomUUID()}`;
  readonly #means: CommandMeans;
  readonly #open = new Map<string, CommandRun>();

  constructor(means: CommandMeans) {
    this.#means = means;
  }

  /** Whether another command may be started beside the work of a workflow task. */
  get hasRoom(): boolean {
    return this.#open.size < STARTED_AT_ONCE;
  }

  start(tenantId: string, run: CommandRunContext, { token, meanwhile, show }: CommandStart): void {
    const abort = new AbortController();
    const watch = meanwhile && new LeaseWatch(meanwhile, this.leaseTimes);
    const ended = this.#execute(tenantId, run, { token, show, watch }, abort.signal).finally(() => watch?.stop());
    this.#open.set(run.id, { ended, abort });
    const open = this.#open;
    const forget = () => void setTimeout(() => open.delete(run.id), FORGOTTEN_AFTER_MS).unref();
    ended.then(forget, forget);
  }

  get leaseTimes(): ProgramLeaseTimes {
    return this.#means.leaseTimes;
  }

  /** Undefined when this process executes no such run. */
  find(runId: string): CommandRun | undefined {
    return this.#open.get(runId);
  }

  forget(runId: string): void {
    this.#open.delete(runId);
  }

  async #execute(
    tenantId: string,
    { id, taskType, releaseName, payload }: CommandRunContext,
    { token, show, watch }: Pick<CommandStart, 'token' | 'show'> & { watch: LeaseWatch | undefined },
    aborted: AbortSignal,
  ): Promise<EndedCommand> {
    const { commands, runProgram, objects, apiUrl } = this.#means;
    const command = commandOf(commands, taskType);
    if (!command) return notStarted(`The list of commands of this worker does not name ${taskType}`);
    let args: string[];
    try {
      // A rollback takes the command that deploys a release: it names its target likewise.
      args = fillArguments(command.args, { ...(releaseName !== null && { releaseName }), ...payload });
    } catch (error) {
      if (error instanceof UnfilledArgumentError) return notStarted(error.message);
      throw error;
    }
    const outputKey = objectKey(tenantId, 'flow-output', `${id}.log`);
    const env = { ...command.env, QUAYSIDE_RUN_ID: id, QUAYSIDE_TOKEN: token, QUAYSIDE_URL: apiUrl };
    const program = { ...command, args, env, secret: token };
    const signal = watch ? AbortSignal.any([aborted, watch.lost]) : aborted;
    const keep = (output: AsyncIterable<Uint8Array>) => objects.put(outputKey, output, 'text/plain');
    const ended = await runProgram(program, signal, keep, watch, show);
    const isLost = ended.why === 'lease_ended' || (ended.why === 'cancelled' && watch?.lost.aborted === true);
    const { outputBytes } = ended;
    return {
      outcome: isLost ? { ...LOCK_LOST, result: { outputBytes } } : outcomeOf(ended, command.timeoutSeconds),
      hasStarted: ended.why !== 'not_started',
      output: { tail: ended.outputTail, object: ended.isKept ? outputKey : null },
      isAborted: ended.why === 'cancelled' && !isLost,
    };
  }
}

/** Renews the lease of a program while its run holds its locks; `lost` ends it at once. */
class LeaseWatch implements ProgramLease {
  readonly ms: number;
  readonly #checkMs: number;
  readonly #meanwhile: HeldMeanwhile;
  readonly #lost = new AbortController();
  readonly #timer: NodeJS.Timeout;
  #isChecking = false;
  #renew = (): void => undefined;

  constructor(meanwhile: HeldMeanwhile, { leaseMs, checkMs }: ProgramLeaseTimes) {
    this.ms = leaseMs;
    this.#checkMs = checkMs;
    this.#meanwhile = meanwhile;
    this.#timer = setInterval(() => void this.#check(), checkMs);
  }

  get lost(): AbortSignal {
    return this.#lost.signal;
  }

  onRenewed(listener: () => void): void {
    this.#renew = listener;
  }

  stop(): void {
    clearInterval(this.#timer);
  }

  async #check(): Promise<void> {
    if (this.#isChecking) return;
    this.#isChecking = true;
    const askedAt = performance.now();
    try {
      if (!(await this.#meanwhile.isHeld())) this.#lost.abort();
      // An answer that took long says what was.
      else if (performance.now() - askedAt < this.#checkMs) this.#renew();
    } catch {
      // It cannot be seen: the lease runs on.
    } finally {
      this.#isChecking = false;
    }
  }
}

const notStarted = (error: string): EndedCommand => ({
  outcome: { status: 'failed', error },
  hasStarted: false,
  isAborted: false,
});

function outcomeOf({ why, exitCode, outputBytes }: EndedProgram, timeoutSeconds: number): RunOutcome {
  const result = { exitCode, outputBytes };
  switch (why) {
    case 'not_started':
      return { status: 'failed', error: 'The program of the command could not be started' };
    case 'timed_out':
      return { status: 'timed_out', error: `The command did not end within ${timeoutSeconds} s`, result };
    case 'cancelled':
    case 'lease_ended':
      return { status: 'failed', error: 'The worker was stopped while the command ran', result };
    case 'exited':
      if (exitCode === 0) return { status: 'succeeded', result };
      return {
        status: 'failed',
        error: exitCode === null ? 'The command was killed' : `The command ended with exit code ${exitCode}`,
        result,
      };
  }
}
