import { pino } from 'pino';
import { workerConfig } from '../../activities/config.ts';
import { runWorker } from '../../activities/running-worker.ts';
import type { TestApp } from './app.ts';
import { startProcess, type TestProcess } from './process.ts';
import './temporal-core.ts';

export interface TestWorker {
  stop: () => Promise<void>;
}

/**
 * A worker on the app's database and task queues, within the process of the test, which has loaded its modules; resolves
 * when it works. Tests that kill, stop or replace workers start processes.
 */
export async function startWorker(app: TestApp, queues?: readonly string[]): Promise<TestWorker> {
  const config = workerConfig(app.env, argumentsFor(queues));
  const worker = await runWorker({ config, log: pino({ level: config.LOG_LEVEL }) });
  // Who stops it gets to know.
  worker.ended.catch(() => undefined);
  await worker.startSweeping();
  return worker;
}

export type TestWorkerProcess = TestProcess;

/** The same as a process of its own. */
export const startWorkerProcess = (app: TestApp, queues?: readonly string[]): Promise<TestWorkerProcess> =>
  startProcess('activities', app.env, argumentsFor(queues));

const argumentsFor = (queues?: readonly string[]) => (queues ? ['--queues', queues.join(',')] : []);

/** Between two questions: most waits are short, and a question costs more than a while of waiting. */
const [FIRST_PAUSE_MS, PAUSE_MAX_MS] = [20, 150];

/** Asks again and again until the answer is there; fails with the last one after `timeoutMs`. */
export async function eventually<T>(
  ask: () => Promise<T>,
  isThere: (answer: T) => boolean,
  timeoutMs = 20_000,
): Promise<T> {
  const deadline = Date.now() + timeoutMs;
  for (let pauseMs = FIRST_PAUSE_MS; ; pauseMs = Math.min(pauseMs * 1.5, PAUSE_MAX_MS)) {
    const answer = await ask();
    if (isThere(answer)) return answer;
    if (Date.now() > deadline)
      throw new Error(`not there after ${timeoutMs} ms; the last answer was ${JSON.stringify(answer)?.slice(0, 500)}`);
    await new Promise((resolve) => setTimeout(resolve, pauseMs));
  }
}
