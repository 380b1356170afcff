import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { freePort } from '../support/free-port.ts';
import { identityOf } from '../../tools/process-table.ts';

const COMMAND = join(import.meta.dirname, '../../tools/start.ts');

/** A path at which there is no Chromium. */
const WITHOUT_BROWSERS = '/nowhere/chromium';

/** A folder and ports of its own, for `npm start` to run on; no browsers are allocated. */
export interface Place {
  env: Record<string, string>;
  dataDir: string;
  url: string;
  /** Processes that an instance on this folder noted, and that are alive. */
  leftRunning: () => number[];
  remove: () => void;
}

export async function newPlace(): Promise<Place> {
  const dataDir = mkdtempSync(join(tmpdir(), 'quayside-start-'));
  const env = {
    DATA_DIR: dataDir,
    PORT: String(await freePort()),
    TEMPORAL_PORT: String(await freePort()),
    TEMPORAL_UI_PORT: String(await freePort()),
    METRICS_PORT: '0',
    WORKFLOW_BUNDLE_DIR: dirname(process.env.QS_TEST_BUNDLE ?? ''),
    CHROMIUM_PATH: WITHOUT_BROWSERS,
  };
  return {
    env,
    dataDir,
    url: `http://127.0.0.1:${env.PORT}`,
    leftRunning: () => notedIn(dataDir).filter((pid) => identityOf(pid) !== undefined),
    remove: () => rmSync(dataDir, { recursive: true, force: true }),
  };
}

function notedIn(dataDir: string): number[] {
  const { parts } = JSON.parse(readFileSync(join(dataDir, 'instance.json'), 'utf8')) as { parts: { pid: number }[] };
  return parts.map(({ pid }) => pid);
}

/** `npm start` as it runs, or ran. */
export interface Service {
  pid: number;
  stdout: () => string;
  stderr: () => string;
  /** Resolves when it says that it is ready; rejects when it ends before. */
  ready: () => Promise<void>;
  signal: (signal: NodeJS.Signals) => void;
  /** Closes the pipes that it writes to. */
  stopReading: () => void;
  ended: Promise<number | null>;
}

export function startService(env: Record<string, string>): Service {
  const { NODE_OPTIONS: _, NODE_ENV: _test, ...inherited } = process.env;
  const child: ChildProcess = spawn(process.execPath, [COMMAND], {
    env: { ...inherited, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const output = { stdout: '', stderr: '' };
  child.stdout?.on('data', (chunk: Buffer) => (output.stdout += chunk.toString()));
  child.stderr?.on('data', (chunk: Buffer) => (output.stderr += chunk.toString()));
  let hasEnded = false;
  const ended = new Promise<number | null>((resolve) => {
    child.once('exit', (code) => {
      hasEnded = true;
      resolve(code);
    });
  });
  return {
    pid: child.pid ?? 0,
    stdout: () => output.stdout,
    stderr: () => output.stderr,
    async ready() {
      while (!output.stdout.includes('is ready')) {
        if (hasEnded) throw new Error(`It ended before it was ready: ${output.stderr}`);
        await sleep(25);
      }
    },
    signal: (signal) => void child.kill(signal),
    stopReading() {
      child.stdout?.destroy();
      child.stderr?.destroy();
    },
    ended,
  };
}

/** The child of a process that runs a program; undefined while there is none. */
export function childOf(parent: number, program: string): number | undefined {
  const { stdout } = spawnSync('pgrep', ['-P', String(parent), '-f', `/${program}`], { encoding: 'utf8' });
  const pid = stdout.split('\n').find((line) => line !== '');
  return pid === undefined ? undefined : Number(pid);
}

const UNTIL_MS = 120_000;

/** Waits until something holds; only a test that hangs waits until it fails. */
export async function until(holds: () => boolean): Promise<void> {
  const deadline = Date.now() + UNTIL_MS;
  while (!holds()) {
    if (Date.now() > deadline) throw new Error(`It did not come true within ${UNTIL_MS} ms`);
    await sleep(25);
  }
}
