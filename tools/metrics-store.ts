import { mkdirSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { startInBackground } from './background-process.ts';
import { type InstallOptions, installServer } from './install-server.ts';
import { OperatorError } from './operator-error.ts';
import type { Part } from './parts.ts';

const SCRIPT = fileURLToPath(new URL('../metrics-store.sh', import.meta.url));
const ANSWER_MS = 5_000;
const STOP_MS = 10_000;

export interface MetricsStoreOptions extends InstallOptions {
  dataDir: string;
  port: number;
  /** Retention, in the form of `METRICS_RETENTION`. */
  retention?: string;
}

export interface RunningMetricsStore extends Part {
  url: string;
}

/**
 * Starts the metrics store by `metrics-store.sh`, with its data under `dataDir`; resolves when it answers, however long
 * that takes while it runs and `signal` lets it.
 */
export async function startMetricsStore(options: MetricsStoreOptions): Promise<RunningMetricsStore> {
  const { port, retention, signal } = options;
  const folder = resolve(options.dataDir);
  mkdirSync(folder, { recursive: true });
  await installServer(SCRIPT, options);
  const logFile = join(folder, 'metrics-store.log');
  const background = startInBackground(SCRIPT, [], {
    logFile,
    env: {
      ...process.env,
      DATA_DIR: folder,
      METRICS_STORE_PORT: String(port),
      ...(retention !== undefined && { METRICS_RETENTION: retention }),
    },
  });
  const url = `http://127.0.0.1:${port}`;
  while (!(await answers(url))) {
    if (signal?.aborted) {
      await background.stop('SIGTERM', STOP_MS);
      signal.throwIfAborted();
    }
    if (!background.isRunning()) throw new OperatorError(`The metrics store did not start; ${logFile} says why.`);
    await sleep(25);
  }
  return {
    url,
    pid: background.pid,
    ended: background.ended,
    stop: () => background.stop('SIGTERM', STOP_MS),
    kill: () => background.kill(),
  };
}

async function answers(url: string): Promise<boolean> {
  try {
    return (await fetch(`${url}/health`, { signal: AbortSignal.timeout(ANSWER_MS) })).ok;
  } catch {
    return false;
  }
}
