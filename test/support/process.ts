import { fork } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { programFile } from '../../tools/programs/programs.ts';

export interface TestProcess {
  pid: number;
  /** Resolves with the exit code when the process has ended. */
  kill: (signal: NodeJS.Signals) => Promise<number | null>;
  /** Sends a signal that does not end the process. */
  signal: (signal: 'SIGSTOP' | 'SIGCONT') => void;
}

/** Loading the modules fills the memory for new objects many times, where it begins small. */
const QUICK_START = ['--min-semi-space-size=16', '--single-threaded-gc'];

/** A real process of the service, of its bundle if there is one by now; resolves when it says that it is ready. */
export async function startProcess(
  part: 'api' | 'activities' | 'activities/browser-host',
  env: Record<string, string>,
  args: readonly string[] = [],
): Promise<TestProcess> {
  const bundles = process.env.QS_TEST_PROGRAMS;
  const main = programFile(`${part}/main.ts`, bundles && existsSync(bundles) ? bundles : undefined);
  const child = fork(main, args, {
    env: { ...process.env, ...env },
    execArgv: QUICK_START,
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  });
  const ended = once(child, 'exit').then(([code]) => code as number | null);
  await Promise.race([
    once(child, 'message'),
    ended.then((code) => {
      throw new Error(`${part}/main.ts ended with ${code} before it was ready`);
    }),
  ]);
  return {
    pid: child.pid ?? 0,
    async kill(signal) {
      if (child.exitCode === null && child.signalCode === null) child.kill(signal);
      return ended;
    },
    signal: (signal) => void child.kill(signal),
  };
}
