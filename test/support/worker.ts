import type { TestApp } from './app.ts';
import { startProcess, type TestProcess } from './process.ts';

export type TestWorker = TestProcess;

/** A real worker process on the app's database and task queues; resolves when it works. */
export const startWorker = (app: TestApp, queues?: readonly string[]): Promise<TestWorker> =>
  startProcess('activities', app.env, queues ? ['--queues', queues.join(',')] : []);

/** Asks again and again until the answer is there; fails with the last one after `timeoutMs`. */
export async function eventually<T>(
  ask: () => Promise<T>,
  isThere: (answer: T) => boolean,
  timeoutMs = 20_000,
): Promise<T> {
  const deadline = Date.now() + timeoutMs;
  for (;;) {
    const answer = await ask();
    if (isThere(answer)) return answer;
    if (Date.now() > deadline)
      throw new Error(`not there after ${timeoutMs} ms; the last answer was ${JSON.stringify(answer)?.slice(0, 500)}`);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}
