import { getCompileCacheDir } from 'node:module';
import { dirname } from 'node:path';
import { Worker } from 'node:worker_threads';

/**
 * Starts a thread that sees none of the process's variables; its modules are kept compiled where those of the process are.
 * @param memoryMb more of its own heap ends it with `ERR_WORKER_OUT_OF_MEMORY`.
 */
export function newThread(module: URL, memoryMb: number, workerData?: unknown): Worker {
  const compiled = getCompileCacheDir();
  return new Worker(module, {
    workerData,
    env: compiled === undefined ? {} : { NODE_COMPILE_CACHE: dirname(compiled) },
    execArgv: [],
    resourceLimits: { maxOldGenerationSizeMb: memoryMb },
  });
}

/** Whether a thread ended because it took more memory than it was given. */
export const isOutOfMemory = (error: unknown): boolean =>
  (error as NodeJS.ErrnoException).code === 'ERR_WORKER_OUT_OF_MEMORY';
