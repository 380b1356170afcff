import { mkdirSync, readFileSync, statSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { Connection } from '@temporalio/client';
import { type BackgroundProcess, startInBackground } from './background-process.ts';
import { type InstallOptions, installServer } from './install-server.ts';
import { OperatorError } from './operator-error.ts';

const SCRIPT = fileURLToPath(new URL('../temporal-dev.sh', import.meta.url));
/** How long one question may take: longer each time, as a busy machine may need it. */
const [ANSWER_MS, ANSWER_MAX_MS] = [1_000, 20_000];
/** By default the first attempt to connect after one that was refused comes a second later. */
const RECONNECT = { 'grpc.initial_reconnect_backoff_ms': 100, 'grpc.max_reconnect_backoff_ms': 500 };
const STOP_MS = 5_000;

export interface TemporalOptions extends InstallOptions {
  dataDir: string;
  port: number;
  uiPort: number;
  /** Further settings of the server, by name. */
  dynamicConfig?: Record<string, number>;
}

export interface RunningTemporal {
  address: string;
  uiUrl: string;
  pid: number;
  ended: Promise<number | null>;
  stop: () => Promise<void>;
  kill: () => void;
}

/**
 * Starts the Temporal dev server by `temporal-dev.sh`; resolves when its namespace answers, however long that takes
 * while it runs and `signal` lets it.
 */
export async function startTemporal(options: TemporalOptions): Promise<RunningTemporal> {
  const { port, uiPort, dynamicConfig = {}, signal } = options;
  const folder = resolve(options.dataDir);
  mkdirSync(folder, { recursive: true });
  await installServer(SCRIPT, options);
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
      await untilNamespaceAnswers(address, () => !background.isRunning(), signal);
      return background;
    } catch (error) {
      await background.stop('SIGTERM', STOP_MS);
      signal?.throwIfAborted();
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

async function untilNamespaceAnswers(address: string, isGone: () => boolean, signal?: AbortSignal): Promise<void> {
  const connection = Connection.lazy({ address, channelArgs: RECONNECT });
  try {
    for (let answerMs = ANSWER_MS; ; answerMs = Math.min(answerMs * 1.5, ANSWER_MAX_MS)) {
      try {
        await connection.withAbortSignal(signal ?? new AbortController().signal, () =>
          connection.withDeadline(Date.now() + answerMs, () =>
            connection.workflowService.describeNamespace({ namespace: 'default' }),
          ),
        );
        return;
      } catch (error) {
        signal?.throwIfAborted();
        if (isGone()) throw new Error('it ended before it was ready', { cause: error });
        await sleep(25);
      }
    }
  } finally {
    await connection.close();
  }
}
