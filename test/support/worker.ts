import { pino } from 'pino';
import { workerConfig } from '../../activities/config.ts';
import { type RunningWorker, runWorker } from '../../activities/running-worker.ts';
import { Outages } from '../../domain/kernel/system/outages.ts';
import type { ProcessLog } from '../../domain/process-log.ts';
import type { TestApp } from './app.ts';
import { startProcess, type TestProcess } from './process.ts';
import './temporal-core.ts';
import { SHARED_THREAD } from './workflow-thread.ts';

export { eventually } from './eventually.ts';

export interface TestWorker {
  stop: () => Promise<void>;
}

/**
 * A worker on the app's database and task queues, within the process of the test, which has loaded its modules; resolves
 * when it works. Tests that kill, stop or replace workers start processes.
 */
export async function startWorker(
  app: TestApp,
  queues?: readonly string[],
  processLog?: ProcessLog,
): Promise<TestWorker> {
  const config = workerConfig(app.env, argumentsFor(queues));
  const log = processLog?.log ?? pino({ level: config.LOG_LEVEL });
  let worker: RunningWorker | undefined = await runWorker({
    config,
    log,
    outages: processLog?.outages ?? new Outages(log),
    thread: SHARED_THREAD,
    // Most queues of a test are never used, and each poll is work for the engine.
    firstPolls: 1,
  });
  // Who stops it gets to know.
  worker.ended.catch(() => undefined);
  await worker.startSweeping();
  return {
    async stop() {
      const stopped = worker?.stop();
      // The module of the test file stays in memory, and keeps what this refers to.
      worker = undefined;
      await stopped;
    },
  };
}

export type TestWorkerProcess = TestProcess;

/** Starts a worker as a process of its own. */
export const startWorkerProcess = (app: TestApp, queues?: readonly string[]): Promise<TestWorkerProcess> =>
  startProcess('activities', app.env, argumentsFor(queues));

const argumentsFor = (queues?: readonly string[]) => (queues ? ['--queues', queues.join(',')] : []);
