import { parseArgs } from 'node:util';
import { type Config, ConfigError, parseConfig } from '../domain/kernel/settings/config.ts';

export type WorkerConfig = Config & {
  /** The task queues to work on; undefined: all. */
  queues: readonly string[] | undefined;
};

/** The settings of a worker process: the environment, and `--queues a,b`. Throws `ConfigError`. */
export function workerConfig(env: NodeJS.ProcessEnv, args: readonly string[]): WorkerConfig {
  const config = parseConfig(env);
  try {
    const { values } = parseArgs({ args: [...args], options: { queues: { type: 'string' } } });
    return { ...config, queues: values.queues?.split(',').map((name) => name.trim()) };
  } catch (error) {
    throw new ConfigError(`${(error as Error).message} Usage: start:worker -- --queues webhooks-v1,system-v1`);
  }
}

/** The known queues that are asked for. Throws `ConfigError` for a name that is none. */
export function chosenQueues<Queue extends { taskQueue: string }>(
  known: readonly Queue[],
  names: readonly string[] | undefined,
): readonly Queue[] {
  const unknown = names?.find((name) => !known.some(({ taskQueue }) => taskQueue === name));
  if (unknown !== undefined) {
    throw new ConfigError(
      `There is no task queue ${unknown}; --queues takes some of ${known.map(({ taskQueue }) => taskQueue).join(', ')}.`,
    );
  }
  return names === undefined ? known : known.filter(({ taskQueue }) => names.includes(taskQueue));
}
