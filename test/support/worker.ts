import { fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import type { TestApp } from './app.ts';

const MAIN = fileURLToPath(new URL('../../activities/main.ts', import.meta.url));

export interface TestWorker {
  /** Resolves with the exit code when the process has ended. */
  kill: (signal: NodeJS.Signals) => Promise<number | null>;
}

/** A real worker process on the app's database and task queues; resolves when it works. */
export async function startWorker(app: TestApp, queues?: readonly string[]): Promise<TestWorker> {
  const child = fork(MAIN, queues ? ['--queues', queues.join(',')] : [], {
    env: { ...process.env, ...app.env },
    execArgv: [],
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  });
  const ended = once(child, 'exit').then(([code]) => code as number | null);
  const ready = once(child, 'message');
  await Promise.race([
    ready,
    ended.then((code) => {
      throw new Error(`the worker ended with ${code} before it was ready`);
    }),
  ]);
  return {
    async kill(signal) {
      if (child.exitCode === null && child.signalCode === null) child.kill(signal);
      return ended;
    },
  };
}

/** Asks again and again until the answer is there; fails with the last one after `timeoutMs`. */
export async function eventually<T>(ask: () => Promise<T>, isThere: (answer: T) => boolean, timeoutMs = 20_000): Promise<T> {
  const deadline = Date.now() + timeoutMs;
  for (;;) {
    const answer = await ask();
    if (isThere(answer)) return answer;
    if (Date.now() > deadline) throw new Error(`not there after ${timeoutMs} ms; the last answer was ${JSON.stringify(answer)?.slice(0, 500)}`);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}
