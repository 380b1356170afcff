import { spawn } from 'node:child_process';
import { mkdirSync, rmSync } from 'node:fs';
import { signalGroup } from '../programs/process-group.ts';

/**
 * A small process that owns the folder of one analysis. When the channel to its worker closes, however that went, it kills
 * the analyzer with all that this started, removes the folder and ends.
 */

export type HostOrder =
  | { open: { folder: string; subfolders: string[] } }
  | { run: { program: string; args: string[]; cwd: string; env: Record<string, string>; timeoutMs: number } };

export type HostReport = { isOpen: true } | { ended: EndedAnalyzer } | { startedGroup: number };

export interface EndedAnalyzer {
  why: 'exited' | 'timed_out' | 'not_started';
  exitCode: number | null;
  /** The end of what it printed. */
  tail: string;
}

const TAIL_LENGTH = 8_000;
const DRAIN_MS = 1_000;

let folder: string | undefined;
let group: number | undefined;

const report = (said: HostReport) => void process.send?.(said);

function run({ program, args, cwd, env, timeoutMs }: Extract<HostOrder, { run: unknown }>['run']): void {
  let why: EndedAnalyzer['why'] = 'exited';
  let tail = '';
  const child = spawn(program, args, { cwd, env, detached: true, stdio: ['ignore', 'pipe', 'pipe'] });
  group = child.pid;
  if (group !== undefined) report({ startedGroup: group });
  const kill = () => {
    if (child.pid !== undefined) signalGroup(child.pid, 'SIGKILL');
  };
  const limit = setTimeout(() => {
    why = 'timed_out';
    kill();
  }, timeoutMs);
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (text: string) => {
      tail = (tail + text).slice(-TAIL_LENGTH);
    });
  const settle = (ended: EndedAnalyzer) => {
    clearTimeout(limit);
    report({ ended });
  };
  child.once('error', ({ message }) => settle({ why: 'not_started', exitCode: null, tail: message }));
  child.once('exit', (exitCode) => {
    // What it left behind in its group ends with it. Without a namespace of its own, a descendant that left the group
    // lives on, and may hold the output open.
    kill();
    const drained = setTimeout(() => child.emit('close'), DRAIN_MS);
    child.once('close', () => {
      clearTimeout(drained);
      settle({ why, exitCode, tail });
    });
  });
}

process.on('message', (order: HostOrder) => {
  if ('open' in order) {
    folder = order.open.folder;
    try {
      for (const each of order.open.subfolders) mkdirSync(each, { recursive: true, mode: 0o700 });
      report({ isOpen: true });
    } catch (error) {
      process.stderr.write(`the folder of an analysis could not be made: ${(error as Error).message}\n`);
      process.disconnect();
    }
  } else run(order.run);
});
process.on('disconnect', () => {
  if (group !== undefined) signalGroup(group, 'SIGKILL');
  // A git of the worker may still write into it for a moment.
  if (folder !== undefined) rmSync(folder, { recursive: true, force: true, maxRetries: 20, retryDelay: 100 });
  process.exit();
});
