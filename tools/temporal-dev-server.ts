import { mkdirSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { setTimeout as sleep } from 'node:timers/promises';
import { Connection } from '@temporalio/client';
import { startInBackground } from './background-process.ts';
import { untilAccepting } from './ports.ts';

const SCRIPT = fileURLToPath(new URL('../temporal-dev.sh', import.meta.url));
/** The first start on a machine may have to build the server. */
const READY_MS = 20 * 60_000;
const STOP_MS = 5_000;

export interface TemporalOptions {
  dataDir: string;
  port: number;
  uiPort: number;
  /** Told of what the script says while it looks for the server or builds it. */
  onProgress?: (line: string) => void;
}

export interface RunningTemporal {
  address: string;
  uiUrl: string;
  pid: number;
  ended: Promise<number | null>;
  stop: () => Promise<void>;
}

/** Starts the Temporal dev server by `temporal-dev.sh`; resolves when its namespace answers. */
export async function startTemporal({ dataDir, port, uiPort, onProgress }: TemporalOptions): Promise<RunningTemporal> {
  const folder = resolve(dataDir);
  mkdirSync(folder, { recursive: true });
  const logFile = join(folder, 'temporal.log');
  const isProgress = (line: string) => /^(Building|Built| {2}\.\.\. building|The Temporal dev server)/.test(line);
  const background = startInBackground(SCRIPT, [], {
    logFile,
    env: { ...process.env, DATA_DIR: folder, TEMPORAL_PORT: String(port), TEMPORAL_UI_PORT: String(uiPort) },
    onLine: (line) => {
      if (isProgress(line)) onProgress?.(line);
    },
  });
  const stop = () => background.stop('SIGTERM', STOP_MS);
  try {
    await untilAccepting(port, READY_MS, () => !background.isRunning());
    await untilNamespaceAnswers(`127.0.0.1:${port}`);
  } catch (error) {
    await stop();
    throw new Error(`The Temporal dev server did not start: ${(error as Error).message}; ${logFile} says why`, { cause: error });
  }
  return { address: `127.0.0.1:${port}`, uiUrl: `http://127.0.0.1:${uiPort}`, pid: background.pid, ended: background.ended, stop };
}

async function untilNamespaceAnswers(address: string): Promise<void> {
  const connection = await Connection.connect({ address, connectTimeout: '10 seconds' });
  try {
    for (let attempt = 0; ; attempt++) {
      try {
        await connection.workflowService.describeNamespace({ namespace: 'default' });
        return;
      } catch (error) {
        if (attempt > 200) throw error;
        await sleep(25);
      }
    }
  } finally {
    await connection.close();
  }
}
