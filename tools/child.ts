import { fork } from 'node:child_process';
import { OperatorError } from './operator-error.ts';
import { type Program, programFile } from './programs/programs.ts';

/**
 * Node's flags for the processes of the service. Left alone, V8 lets short-lived values take up to 96 MB, and old ones
 * grow to a multiple of what is in use, before it clears them away; with these a long export or stream stays small. A
 * worker exports a million rows at a time and clears away sooner; in the API that would cost a tenth of its requests.
 * `start:api`, `start:worker` and
 * `start:browser-host` give the same.
 */
const NODE_FLAGS: Readonly<Record<string, readonly string[]>> = {
  'api/main.ts': ['--expose-gc', '--max-semi-space-size=16', '--heap-growing-percent=100'],
  'activities/browser-host/main.ts': ['--expose-gc', '--max-semi-space-size=16'],
  'activities/main.ts': ['--expose-gc', '--max-semi-space-size=16', '--heap-growing-percent=50'],
};

/** None for a module that is no program of the service. */
export const nodeFlags = (modulePath: string): string[] => [...(NODE_FLAGS[modulePath] ?? [])];

/** Its own deadline is a second earlier; this one is for a process that does not even hear the signal. */
const STOP_MS = 15_000;

export interface Child {
  pid: number;
  ended: Promise<number | null>;
  stop: () => Promise<void>;
  kill: () => void;
}

/**
 * Starts a process of the service and waits until it is ready, as long as it lives and `signal` lets it. It has a channel
 * to this process: when this one is gone, however it went, the channel closes and the child stops.
 * @param bundles the folder of `findBundles`.
 */
export async function startChild(
  name: string,
  { program, bundles }: { program: Program; bundles: string | undefined },
  env: NodeJS.ProcessEnv,
  signal: AbortSignal,
): Promise<Child> {
  signal.throwIfAborted();
  const child = fork(programFile(program, bundles), [], {
    env,
    execArgv: nodeFlags(program),
    // A group of its own: Ctrl-C reaches it by this process, in order.
    detached: true,
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  });
  const ended = new Promise<number | null>((resolve) => {
    child.once('exit', resolve).once('error', () => resolve(null));
  });
  const kill = () => void child.kill('SIGKILL');
  const ready = Promise.withResolvers<void>();
  child.on('message', (message: { ready?: boolean }) => {
    if (message.ready) ready.resolve();
  });
  void ended.then(() => ready.reject(new OperatorError(`The ${name} did not start; it says why above.`)));
  const stop = async () => {
    if (child.exitCode !== null || child.signalCode !== null) return;
    child.kill('SIGTERM');
    const deadline = setTimeout(kill, STOP_MS);
    await ended;
    clearTimeout(deadline);
  };
  const abandon = () => ready.reject(signal.reason as Error);
  signal.addEventListener('abort', abandon);
  try {
    await ready.promise;
  } catch (error) {
    await stop();
    throw error;
  } finally {
    signal.removeEventListener('abort', abandon);
  }
  return { pid: child.pid ?? 0, ended, stop, kill };
}
