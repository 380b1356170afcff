import { cancelled } from '@temporalio/activity';
import type { RunKey } from '../../domain/flows/accept-run.ts';
import { fillArguments, UnfilledArgumentError } from '../../domain/flows/commands-file.ts';
import { keepOutput, runById } from '../../domain/flows/flow-runs.queries.ts';
import type { EndedProgram } from '../../domain/flows/program.port.ts';
import type { RunOutcome } from '../../domain/flows/run-moves.ts';
import { objectKey } from '../../domain/objects/object-key-rules.ts';
import { systemActor } from '../../domain/shared/actor.ts';
import { withHeartbeat } from '../heartbeat.ts';
import type { Deps } from '../deps.ts';
import { unitOfRun } from './run-steps.activities.ts';

/** Programs of the operator's list. */
export const createCommandActivities = (deps: Deps) => ({
  /**
   * Runs the program of a run's type to its end and keeps what it printed. A program that was started is never started
   * again: when its worker is lost, so is its outcome.
   */
  async runCommand(key: RunKey): Promise<RunOutcome> {
    const run = await runById(deps.reads.as(systemActor(key, 'flow')), key.runId);
    const command = deps.flows.commands.get(run.taskType);
    if (!command)
      return { status: 'failed', error: `The list of commands of this worker does not name ${run.taskType}` };
    let args: string[];
    try {
      args = fillArguments(command.args, run.payload);
    } catch (error) {
      if (error instanceof UnfilledArgumentError) return { status: 'failed', error: error.message };
      throw error;
    }
    return withHeartbeat(async (signal) => {
      const outputKey = objectKey(key.tenantId, 'flow-output', `${run.id}.log`);
      const program = { ...command, args, env: { ...command.env, QUAYSIDE_RUN_ID: run.id } };
      const ended = await deps.flows.runProgram(program, signal, (output) =>
        deps.objects.put(outputKey, output, 'text/plain'),
      );
      const output = { tail: ended.outputTail, object: ended.isKept ? outputKey : null };
      await unitOfRun(deps, key)((tx) => keepOutput(tx, run.id, output));
      if (ended.why === 'cancelled') await cancelled();
      return outcomeOf(ended, command.timeoutSeconds);
    });
  },
});
export type CommandActivities = ReturnType<typeof createCommandActivities>;

function outcomeOf({ why, exitCode, outputBytes }: EndedProgram, timeoutSeconds: number): RunOutcome {
  const result = { exitCode, outputBytes };
  switch (why) {
    case 'not_started':
      return { status: 'failed', error: 'The program of the command could not be started' };
    case 'timed_out':
      return { status: 'timed_out', error: `The command did not end within ${timeoutSeconds} s`, result };
    case 'cancelled':
      return { status: 'cancelled', result };
    case 'exited':
      if (exitCode === 0) return { status: 'succeeded', result };
      return {
        status: 'failed',
        error: exitCode === null ? 'The command was killed' : `The command ended with exit code ${exitCode}`,
        result,
      };
  }
}
