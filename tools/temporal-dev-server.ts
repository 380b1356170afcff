import { spawn } from 'node:child_process';
import { mkdirSync, readFileSync, statSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { Connection } from '@temporalio/client';
import { type BackgroundProcess, startInBackground } from './background-process.ts';
import { OperatorError } from './operator-error.ts';

const SCRIPT = fileURLToPath(new URL('../temporal-dev.sh', import.meta.url));
const READY_MS = 60_000;
const STOP_MS = 5_000;

export interface TemporalOptions {
  dataDir: string;
  port: number;
  uiPort: number;
  /** Further settings of the server, by name. */
  dynamicConfig?: Record<string, number>;
  /** Told of what the script says while it looks for the server or builds it. */
  onProgress?: (line: string) => void;
  /** Ends the search or the build. */
  signal?: AbortSignal;
}

export interface RunningTemporal {
  address: string;
  uiUrl: string;
  pid: number;
  ended: Promise<number | null>;
  stop: () => Promise<void>;
  kill: () => void;
}

/** Starts the Temporal dev server by `temporal-dev.sh`; resolves when its namespace answers. */
export async function startTemporal(options: TemporalOptions): Promise<RunningTemporal> {
  const { port, uiPort, dynamicConfig = {} } = options;
  const folder = resolve(options.dataDir);
  mkdirSync(folder, { recursive: true });
  await install(options);
  const logFile = join(folder, 'temporal.log');
  const settings = Object.entries(dynamicConfig).flatMap(([name, value]) => [
    '--dynamic-config-value',
    `${name}=${value}`,
  ]);
  const address = `127.0.0.1:${port}`;
  const begin = async (triesLeft: number): Promise<BackgroundProcess> => {
    const before = sizeOf(logFile);
    const background = startInBackground(SCRIPT, settings, {
      logFile,
      env: { ...process.env, DATA_DIR: folder, TEMPORAL_PORT: String(port), TEMPORAL_UI_PORT: String(uiPort) },
    });
    try {
      await untilNamespaceAnswers(address, () => !background.isRunning());
      return background;
    } catch (error) {
      await background.stop('SIGTERM', STOP_MS);
      if (triesLeft > 0 && lostAPort(readFileSync(logFile).subarray(before).toString(), [port, uiPort]))
        return begin(triesLeft - 1);
      throw new OperatorError(
        `The Temporal dev server did not start: ${(error as Error).message}; ${logFile} says why.`,
      );
    }
  };
  const background = await begin(2);
  return {
    address,
    uiUrl: `http://127.0.0.1:${uiPort}`,
    pid: background.pid,
    ended: background.ended,
    stop: () => background.stop('SIGTERM', STOP_MS),
    kill: () => background.kill(),
  };
}

const sizeOf = (file: string): number => statSync(file, { throwIfNoEntry: false })?.size ?? 0;

/** Beside those that it is given the server takes some that are free, and now and then somebody else is faster. */
function lostAPort(log: string, given: readonly number[]): boolean {
  const taken = /:(\d+): bind: address already in use/.exec(log)?.[1];
  return taken !== undefined && !given.includes(Number(taken));
}

/** Makes sure that the server is on this machine; the first time that may take minutes. */
async function install({ onProgress, signal }: TemporalOptions): Promise<void> {
  signal?.throwIfAborted();
  const script = spawn(SCRIPT, ['--install-only'], { detached: true, stdio: ['ignore', 'ignore', 'pipe'] });
  // The compiler is a child of the script: the whole group has to go.
  const abort = () => void (script.pid && process.kill(-script.pid, 'SIGTERM'));
  signal?.addEventListener('abort', abort);
  let last = '';
  createInterface(script.stderr).on('line', (line) => {
    last = line;
    onProgress?.(line);
  });
  try {
    const code = await new Promise<number | null>((settle, reject) => {
      script.once('close', settle).once('error', reject);
    });
    signal?.throwIfAborted();
    if (code !== 0) throw new OperatorError(last || `temporal-dev.sh ended with exit code ${code}.`);
  } finally {
    signal?.removeEventListener('abort', abort);
  }
}

async function untilNamespaceAnswers(address: string, isGone: () => boolean): Promise<void> {
  const connection = Connection.lazy({ address });
  const deadline = Date.now() + READY_MS;
  try {
    for (;;) {
      try {
        await connection.withDeadline(Date.now() + 1_000, () =>
          connection.workflowService.describeNamespace({ namespace: 'default' }),
        );
        return;
      } catch (error) {
        if (isGone()) throw new Error('it ended before it was ready', { cause: error });
        if (Date.now() > deadline) throw new Error(`it was not ready after ${READY_MS / 1000} s`, { cause: error });
        await sleep(25);
      }
    }
  } finally {
    await connection.close();
  }
}
