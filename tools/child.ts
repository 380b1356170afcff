import { type ChildProcess, fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { OperatorError } from './operator-error.ts';

const READY_MS = 60_000;

export interface Child {
  name: string;
  ended: Promise<number | null>;
  stop: () => Promise<void>;
}

/**
 * Starts a process of the service and waits until it is ready. It has a channel to this process: when this one is
 * gone, however it went, the channel closes and the child stops.
 */
export async function startChild(name: string, modulePath: string, env: NodeJS.ProcessEnv): Promise<Child> {
  const child = fork(fileURLToPath(new URL(`../${modulePath}`, import.meta.url)), [], {
    env,
    // A group of its own: Ctrl-C reaches it by this process, in order.
    detached: true,
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  });
  const ended = new Promise<number | null>((resolve) => {
    child.once('exit', resolve).once('error', () => resolve(null));
  });
  await ready(name, child, ended);
  return {
    name,
    ended,
    async stop() {
      if (child.exitCode !== null || child.signalCode !== null) return;
      child.kill('SIGTERM');
      await ended;
    },
  };
}

async function ready(name: string, child: ChildProcess, ended: Promise<number | null>): Promise<void> {
  const timeout = Promise.withResolvers<never>();
  const timer = setTimeout(() => timeout.reject(new OperatorError(`The ${name} was not ready after ${READY_MS / 1000} s.`)), READY_MS);
  const isReady = new Promise<void>((resolve) => {
    child.on('message', (message: { ready?: boolean }) => {
      if (message.ready) resolve();
    });
  });
  const failed = ended.then(() => {
    throw new OperatorError(`The ${name} did not start.`);
  });
  try {
    await Promise.race([isReady, failed, timeout.promise]);
  } finally {
    clearTimeout(timer);
    failed.catch(() => undefined);
    timeout.promise.catch(() => undefined);
  }
}
