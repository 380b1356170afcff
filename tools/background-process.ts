import { spawn, type SpawnOptions } from 'node:child_process';
import { closeSync, mkdirSync, openSync } from 'node:fs';
import { dirname } from 'node:path';

export interface BackgroundProcess {
  pid: number;
  isRunning: () => boolean;
  /** Resolves with the exit code when it has ended, however that came. */
  ended: Promise<number | null>;
  /** Signals it, waits for its end, and kills it when it does not end in time. */
  stop: (signal: NodeJS.Signals, timeoutMs: number) => Promise<void>;
  /** Signals it and does not wait; absent: SIGKILL. */
  kill: (signal?: NodeJS.Signals) => void;
}

export interface BackgroundOptions extends Omit<SpawnOptions, 'detached' | 'stdio'> {
  /** Where its output goes, directly: it outlives a killed starter without a broken pipe. */
  logFile: string;
}

/**
 * Starts a program in a process group of its own: the terminal's Ctrl-C does not reach it, so that whoever started it
 * decides about the order in which things stop.
 */
export function startInBackground(
  program: string,
  args: readonly string[],
  options: BackgroundOptions,
): BackgroundProcess {
  const { logFile, ...spawnOptions } = options;
  mkdirSync(dirname(logFile), { recursive: true });
  const log = openSync(logFile, 'a', 0o600);
  const child = spawn(program, args, { ...spawnOptions, detached: true, stdio: ['ignore', log, log] });
  closeSync(log);
  let isRunning = true;
  const ended = new Promise<number | null>((resolve) => {
    const end = (code: number | null) => {
      isRunning = false;
      resolve(code);
    };
    child.once('exit', end).once('error', () => end(null));
  });
  return {
    pid: child.pid ?? 0,
    isRunning: () => isRunning,
    ended,
    async stop(signal, timeoutMs) {
      if (!isRunning) return;
      child.kill(signal);
      const kill = setTimeout(() => child.kill('SIGKILL'), timeoutMs);
      await ended;
      clearTimeout(kill);
    },
    kill(signal = 'SIGKILL') {
      if (isRunning) child.kill(signal);
    },
  };
}
