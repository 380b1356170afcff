import { setTimeout as sleep } from 'node:timers/promises';
import { cancelled, Context } from '@temporalio/activity';
import type { RunKey } from '../../../domain/delivery/flows/new-runs.mutations.ts';
import { runById } from '../../../domain/delivery/flows/flow-runs.queries.ts';
import { claimProgram, keepOutput } from '../../../domain/delivery/flows/programs/run-programs.queries.ts';
import { LOCK_LOST } from '../../../domain/delivery/flows/gates/lock-lost-rules.ts';
import { systemActor } from '../../../domain/kernel/shared/actor.ts';
import { holdsLocks } from '../../../domain/delivery/environment-locks/lock-tickets.queries.ts';
import {
  CANCELLED,
  PROGRAM_LOST,
  recordEndOfCommand,
  type RunOutcome,
} from '../../../domain/delivery/flows/flow-runs.mutations.ts';
import { mintRunToken } from '../../../domain/delivery/flows/run-tokens.mutations.ts';
import type { Deps } from '../../deps.ts';
import { withHeartbeat } from '../../heartbeat.ts';
import { showsOutput, unitOfRun } from './run-steps.activities.ts';

/** Two minutes. */
const RECORD_ATTEMPTS = 120;
const RECORD_PAUSE_MS = 1_000;

/**
 * Programs of the operator's list. A program that may have been started is never started again: when its worker is lost,
 * so is its outcome.
 */
export const createCommandActivities = (deps: Deps) => ({
  /**
   * Runs the command of a run's type to its end and keeps what it printed. The command ends when the run loses a lock.
   * @param locks how many the run holds.
   */
  async runCommand({ locks = 0, ...key }: RunKey & { locks?: number }): Promise<RunOutcome> {
    const { goneMs, checkMs } = deps.flows.commandRuns.leaseTimes;
    // The leases must last for so much longer that a program which is not renewed any more has ended by then.
    const held = { runId: key.runId, count: locks, forMs: goneMs + checkMs };
    const claimed = await unitOfRun(
      deps,
      key,
    )(async (tx) => {
      if (locks > 0 && !(await holdsLocks(tx, held))) return LOCK_LOST;
      if (!(await claimProgram(tx, key.runId))) return PROGRAM_LOST;
      const run = await runById(tx, key.runId);
      return { run, token: await mintRunToken(tx, run, deps.flows.commands) };
    });
    if (!('run' in claimed)) return claimed;
    const reads = deps.reads.as(systemActor(key, 'flow')).with({ timeoutMs: checkMs });
    const meanwhile = locks > 0 ? { isHeld: () => holdsLocks(reads, held) } : undefined;
    const show = showsOutput(deps, key, claimed.run);
    deps.flows.commandRuns.start(key.tenantId, claimed.run, { token: claimed.token, meanwhile, show });
    return followCommand(deps, key);
  },
});
export type CommandActivities = ReturnType<typeof createCommandActivities>;

/** What the process that started a command does for it, on the task queue of its own. */
export const createOwnCommandActivities = (deps: Deps) => ({
  /**
   * Follows a command that this process started to its end and keeps what it printed.
   * @param isCancelled the run was cancelled: the command is ended at once, if that has not been done.
   */
  followCommand: ({ isCancelled = false, ...key }: RunKey & { isCancelled?: boolean }): Promise<RunOutcome> =>
    followCommand(deps, key, isCancelled),
});
export type OwnCommandActivities = ReturnType<typeof createOwnCommandActivities>;

/** The database may be away when a command ends, and what is not recorded is lost. */
async function retried<T>(work: () => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await work();
    } catch (error) {
      if (attempt === RECORD_ATTEMPTS) throw error;
      await sleep(RECORD_PAUSE_MS);
    }
  }
}

function followCommand(deps: Deps, key: RunKey, isCancelledBefore = false): Promise<RunOutcome> {
  const command = deps.flows.commandRuns.find(key.runId);
  if (!command) return Promise.resolve(isCancelledBefore ? CANCELLED : PROGRAM_LOST);
  return withHeartbeat(async (signal) => {
    const abort = () => command.abort.abort();
    if (signal.aborted || isCancelledBefore) abort();
    signal.addEventListener('abort', abort);
    const { outcome, output, hasStarted, isAborted } = await command.ended;
    const isCancelled = isAborted && !Context.current().cancellationDetails?.workerShutdown;
    const unit = unitOfRun(deps, key);
    const ended = await retried(() =>
      unit(async (tx) => {
        if (output) await keepOutput(tx, key.runId, output);
        // The workflow ends a run that is cancelled.
        return isCancelled ? outcome : recordEndOfCommand(tx, key.runId, outcome, { hasStarted });
      }),
    );
    deps.flows.commandRuns.forget(key.runId);
    if (isCancelled && isCancelledBefore) return CANCELLED;
    if (isCancelled) await cancelled();
    return ended;
  });
}
