import { cancelled, Context } from '@temporalio/activity';
import type { RunKey } from '../../domain/flows/new-runs.mutations.ts';
import { claimProgram, keepOutput, runById } from '../../domain/flows/flow-runs.queries.ts';
import { PROGRAM_LOST, type RunOutcome } from '../../domain/flows/flow-runs.mutations.ts';
import type { Deps } from '../deps.ts';
import { withHeartbeat } from '../heartbeat.ts';
import { unitOfRun } from './run-steps.activities.ts';

/**
 * Programs of the operator's list. A program that may have been started is never started again: when its worker is lost,
 * so is its outcome.
 */
export const createCommandActivities = (deps: Deps) => ({
  /** Runs the command of a run's type to its end and keeps what it printed. */
  async runCommand(key: RunKey): Promise<RunOutcome> {
    const run = await unitOfRun(
      deps,
      key,
    )(async (tx) => ((await claimProgram(tx, key.runId)) ? runById(tx, key.runId) : undefined));
    if (!run) return PROGRAM_LOST;
    deps.flows.commandRuns.start(key.tenantId, run);
    return followCommand(deps, key);
  },
});
export type CommandActivities = ReturnType<typeof createCommandActivities>;

/** What the process that started a command does for it, on the task queue of its own. */
export const createOwnCommandActivities = (deps: Deps) => ({
  /** Follows a command that this process started to its end and keeps what it printed. */
  followCommand: (key: RunKey): Promise<RunOutcome> => followCommand(deps, key),
});
export type OwnCommandActivities = ReturnType<typeof createOwnCommandActivities>;

function followCommand(deps: Deps, key: RunKey): Promise<RunOutcome> {
  const command = deps.flows.commandRuns.find(key.runId);
  if (!command) return Promise.resolve(PROGRAM_LOST);
  return withHeartbeat(async (signal) => {
    const abort = () => command.abort.abort();
    if (signal.aborted) abort();
    signal.addEventListener('abort', abort);
    const { outcome, output, isAborted } = await command.ended;
    if (output) await unitOfRun(deps, key)((tx) => keepOutput(tx, key.runId, output));
    deps.flows.commandRuns.forget(key.runId);
    if (isAborted && !Context.current().cancellationDetails?.workerShutdown) await cancelled();
    return outcome;
  });
}
