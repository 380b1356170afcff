import { type ChildProcess, spawn, type SpawnOptions } from 'node:child_process';
import { createWriteStream, mkdirSync } from 'node:fs';
import { dirname } from 'node:path';

export interface BackgroundProcess {
  pid: number;
  isRunning: () => boolean;
  /** Resolves with the exit code when it has ended, however that came. */
  ended: Promise<number | null>;
  /** Signals it, waits for its end, and kills it when it does not end in time. */
  stop: (signal: NodeJS.Signals, timeoutMs: number) => Promise<void>;
}

export interface BackgroundOptions extends SpawnOptions {
  /** Where its output goes. */
  logFile: string;
  /** Told of each line that it writes to its error output. */
  onLine?: (line: string) => void;
}

/**
 * Starts a program in a process group of its own: the terminal's Ctrl-C does not reach it, so that whoever started it
 * decides about the order in which things stop.
 */
export function startInBackground(program: string, args: readonly string[], options: BackgroundOptions): BackgroundProcess {
  const { logFile, onLine, ...spawnOptions } = options;
  mkdirSync(dirname(logFile), { recursive: true });
  const log = createWriteStream(logFile, { flags: 'a', mode: 0o600 });
  const child: ChildProcess = spawn(program, args, { ...spawnOptions, detached: true, stdio: ['ignore', 'pipe', 'pipe'] });
  child.stdout?.pipe(log, { end: false });
  child.stderr?.pipe(log, { end: false });
  if (onLine) child.stderr?.on('data', (chunk: Buffer) => chunk.toString().split('\n').filter(Boolean).forEach(onLine));
  let isRunning = true;
  const ended = new Promise<number | null>((resolve) => {
    const end = (code: number | null) => {
      isRunning = false;
      log.end();
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
  };
}
