import { resolve } from 'node:path';
import { createLockQueue } from '../../domain/delivery/environment-locks/lock-queue.ts';
import type { LockQueue } from '../../domain/delivery/environment-locks/lock-queue.port.ts';
import { programLeaseTimes } from '../../domain/delivery/flows/gates/lock-lost-rules.ts';
import { type Commands, loadCommands } from '../../domain/delivery/flows/programs/commands-file.ts';
import type { SourceConverter } from '../../domain/delivery/source/source-converter.port.ts';
import { internalUrlOf } from '../../domain/kernel/settings/config.ts';
import { lockQueueMessages } from '../../workflows/delivery/environment-locks/environment-lock.contract.ts';
import { createProgramRunner } from '../adapters/programs/program-runner.ts';
import { createSourceConverter } from '../adapters/source/source-converter.ts';
import type { Base, Made } from '../base.ts';
import { CommandRuns } from './flows/command-runs.ts';

export interface DeliveryParts {
  environmentLocks: LockQueue;
  /** Programs that the operator allows, by type of flow. */
  commands: Commands;
}

export const createDeliveryParts = ({ config, launch }: Pick<Base, 'config' | 'launch'>): DeliveryParts => ({
  environmentLocks: createLockQueue(lockQueueMessages(launch)),
  commands: loadCommands(config.COMMANDS_FILE),
});

export interface DeliveryWork {
  flows: {
    /** Programs that the operator allows, by type of flow. */
    commands: Commands;
    commandRuns: CommandRuns;
    /** Multiplies the pauses in which orgs are asked how far they are; 1 but for tests. */
    pace: number;
  };
  source: {
    /** Converts the source of repositories to what is deployed. */
    converter: SourceConverter;
  };
}

export function createDeliveryWork(base: Base & DeliveryParts): Made<DeliveryWork> {
  const { config, commands } = base;
  const leaseTimes = programLeaseTimes(config.SERVICE_PACE);
  const commandRuns = new CommandRuns({
    ...base,
    runProgram: createProgramRunner(leaseTimes.graceMs),
    leaseTimes,
    apiUrl: internalUrlOf(config),
  });
  const converter = createSourceConverter({ folder: resolve(config.DATA_DIR, 'source') });
  return { parts: { flows: { commands, commandRuns, pace: config.SERVICE_PACE }, source: { converter } } };
}
